"""Models of which the host computes a part, between programs of native code."""

import numpy as np
import onnx.parser
import trivium

MODEL = onnx.parser.parse_model(
    """<ir_version: 10, opset_import: ["" : 21]>
    g (float[8] x) => (float[8] y) {
        first = Exp (x)
        text = Cast <to = 8> (first)
        numbers = Cast <to = 1> (text)
        y = Exp (numbers)
    }"""
)


def test_programs_on_both_sides_of_the_host_call_the_same_kernel() -> None:
    session = trivium.compile(MODEL)
    before, *_, after = session.manifest.steps
    assert (before.kind, after.kind) == ("cpu", "cpu")
    x = np.linspace(0, 0.1, 8, dtype=np.float32)
    want = np.exp(np.exp(x.astype(np.float64)))
    got = session(x)
    assert isinstance(got, np.ndarray)
    np.testing.assert_allclose(got, want, rtol=1e-4)
