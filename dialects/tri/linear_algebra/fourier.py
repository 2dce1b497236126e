"""The discrete Fourier transform."""

import numpy as np

from ...core.errors import Invalid
from ...core.fields import Operand, Result
from ...core.numerics.precision import narrow, widen
from ...core.sizes.checks import need
from ...core.tensor import Array, Tensor, normalize_axis
from ..dialect import TriOp
from ..numeric import need_float


class Dft(TriOp):
    """Transform a signal along `axis`; the last axis has the real and the imaginary part.

    The signal is cut or filled with zeros to `length`; a last axis of 1 means real. `onesided`
    leaves out the elements that follow by symmetry: forward, the second half of the spectrum of a
    real signal; inverse, where `x` is such a half, the imaginary part. Source: ONNX `DFT`.
    """

    x: Operand
    axis: int
    length: int
    inverse: bool = False
    onesided: bool = False
    y: Result

    def infer(self, x: Tensor) -> Tensor:
        need_float(x)
        axis = normalize_axis(self.axis, x.rank)
        if axis == x.rank - 1:
            raise Invalid(f"axis {axis} is the last, must be one before the parts of the numbers")
        need(self.length, 1, f"length is {self.length}, must be at least 1")
        parts = ((2,) if self.inverse else (1,)) if self.onesided else (1, 2)
        listed = " or ".join(map(str, parts))
        fault = f"last axis has {x.shape[-1]} parts, must have {listed}"
        need(x.shape[-1], parts[0], fault)
        need(parts[-1], x.shape[-1], fault)
        size = self.length // 2 + 1 if self.onesided and not self.inverse else self.length
        kept = 1 if self.onesided and self.inverse else 2
        return Tensor((*x.shape[:axis], size, *x.shape[axis + 1 : -1], kept), x.dtype)

    def reference(self, x: Array) -> Array:
        wide, axis = widen(x), self.axis % x.ndim
        signal = wide[..., 0] + 1j * wide[..., 1] if x.shape[-1] == 2 else wide[..., 0]
        if self.onesided and self.inverse:
            return narrow(np.fft.irfft(signal, self.length, axis)[..., None], x)
        transform = np.fft.rfft if self.onesided else np.fft.ifft if self.inverse else np.fft.fft
        spectrum = transform(signal, self.length, axis)
        return narrow(np.stack([spectrum.real, spectrum.imag], axis=-1), x)
