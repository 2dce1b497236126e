"""Models of which the host computes a part, between programs of native code."""

import numpy as np
import onnx.parser
import trivium

MODEL = onnx.parser.parse_model(
    """<ir_version: 10, opset_import: ["" : 21]>
    g (float[1, 8, 1] x) => (float[1, 8, 2] y) {
        first = Exp (x)
        spectrum = DFT (first)
        parts = Slice (spectrum, starts, ends, axes)
        second = Exp (parts)
        y = DFT (second)
    }"""
)
for _name, _value in {"starts": 0, "ends": 1, "axes": 2}.items():
    MODEL.graph.initializer.append(onnx.numpy_helper.from_array(np.array([_value]), _name))


def test_programs_on_both_sides_of_the_host_call_the_same_kernel() -> None:
    session = trivium.compile(MODEL)
    assert [step.kind for step in session.manifest.steps].count("host") == 2
    x = np.linspace(0, 0.1, 8, dtype=np.float32).reshape(1, 8, 1)
    inner = np.exp(np.fft.fft(np.exp(x[0, :, 0].astype(np.float64))).real)
    want = np.fft.fft(inner)
    got = session(x)
    assert isinstance(got, np.ndarray)
    np.testing.assert_allclose(got[0, :, 0] + 1j * got[0, :, 1], want, rtol=1e-4)
