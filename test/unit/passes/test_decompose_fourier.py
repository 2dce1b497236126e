"""Transforms taken apart, against numpy's of f64; and compiled, for any number of signals."""

import numpy as np
import pytest
import trivium
from trivium.dialects import tri
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module
from trivium.dialects.core.tensor import Array, Shape
from trivium.passes.decompose import Decompose

LENGTHS = (1, 5, 240, 400, 600, 769, 1024, 1538, 48000)
"""Of one product, of several, and with prime factors from 769 on that only a chirp helps."""

SHAPES: dict[str, tuple[bool, bool, int]] = {
    "forward": (False, False, 2),
    "real": (False, True, 1),
    "back": (True, False, 1),
    "back_to_real": (True, True, 2),
}
"""Of each kind: whether it is the inverse, whether it is onesided, and how many parts are given."""


def _decomposed(x: Array, length: int, inverse: bool, onesided: bool) -> Array:
    given = "x".join(map(str, x.shape))
    op = tri.Dft(axis=1, length=length, inverse=inverse, onesided=onesided)
    shape: Shape = op.reference(x).shape
    flags = f"inverse = {str(inverse).lower()}, onesided = {str(onesided).lower()}"
    made = "x".join(map(str, shape))
    text = f"""
    func.func @main(%x: tensor<{given}xf32>) -> tensor<{made}xf32> {{
      %y = "tri.dft"(%x) {{axis = 1, length = {length}, {flags}}}
          : (tensor<{given}xf32>) -> tensor<{made}xf32>
      return %y : tensor<{made}xf32>
    }}"""
    with new_context():
        module = Module.parse(text)
        Decompose(("dft",)).run(module)
        module.verify()
        assert "tri.dft" not in str(module.ir)
        (y,) = run(module, [x])
    return y


@pytest.mark.parametrize("more", [-2, 0, 3])
@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("length", LENGTHS)
def test_a_transform_taken_apart_is_what_numpy_computes(length: int, kind: str, more: int) -> None:
    inverse, onesided, parts = SHAPES[kind]
    given = max(1, (length // 2 + 1 if inverse and onesided else length) + more)
    x = np.random.default_rng(length).standard_normal((2, given, 3, parts), np.float32)
    signal = x.astype(np.float64) @ np.array([1, 1j])[:parts]
    if inverse and onesided:
        want = np.fft.irfft(signal, length, axis=1)[..., None]
    else:
        transform = np.fft.ifft if inverse else np.fft.fft
        spectrum = transform(signal, length, axis=1)
        spectrum = spectrum[:, : length // 2 + 1] if onesided else spectrum
        want = np.stack([spectrum.real, spectrum.imag], -1)
    got = _decomposed(x, length, inverse, onesided)
    assert got.shape == want.shape
    assert np.abs(got - want).max() <= 3e-6 * np.abs(want).max()


SPECTRA = """<ir_version: 10, opset_import: ["" : 20]>
    spectra (float[N, 360, 1] x) => (float[N, 181, 2] y) { y = DFT <onesided = 1> (x) }"""


@pytest.mark.parametrize("count", [1, 5])
def test_any_number_of_signals_is_transformed_by_kernels(count: int) -> None:
    onnx_parser = pytest.importorskip("onnx.parser")
    session = trivium.compile(onnx_parser.parse_model(SPECTRA))
    x = np.random.default_rng(0).standard_normal((count, 360, 1), np.float32)
    got = session.run({"x": x})["y"] @ np.array([1, 1j])
    np.testing.assert_allclose(got, np.fft.rfft(x[..., 0].astype(np.float64)), atol=1e-4)
