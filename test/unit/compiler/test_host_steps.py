"""Models of which the host computes a part, between programs of native code."""

import numpy as np
import onnx.parser
import trivium

MODEL = onnx.parser.parse_model(
    """<ir_version: 10, opset_import: ["" : 21]>
    g (float[8, 1, 1] x) => (float[8] y) <int64[3] shape = {8, 1, 1}> {
        first = Exp (x)
        area = Det (first)
        matrices = Reshape (area, shape)
        second = Exp (matrices)
        y = Det (second)
    }"""
)


def test_programs_on_both_sides_of_the_host_call_the_same_kernel() -> None:
    session = trivium.compile(MODEL)
    assert [step.kind for step in session.manifest.steps].count("host") == 2
    x = np.linspace(0, 0.1, 8, dtype=np.float32).reshape(8, 1, 1)
    want = np.exp(np.exp(x.astype(np.float64))).reshape(8)
    got = session(x)
    assert isinstance(got, np.ndarray)
    np.testing.assert_allclose(got, want, rtol=1e-4)
