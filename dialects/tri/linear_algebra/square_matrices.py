"""Determinants and inverses of square matrices."""

import numpy as np

from ...core.errors import Invalid
from ...core.fields import Operand, Result
from ...core.numerics.precision import narrow, widen
from ...core.sizes.checks import need_same
from ...core.tensor import Array, Tensor
from ..dialect import TriOp
from ..numeric import need_float


class Det(TriOp):
    """Compute the determinants of the square matrices in the last two axes. Source: ONNX `Det`."""

    x: Operand
    y: Result

    def infer(self, x: Tensor) -> Tensor:
        return Tensor(need_square(x).shape[:-2], x.dtype)

    def reference(self, x: Array) -> Array:
        return narrow(np.asarray(np.linalg.det(widen(x))), x)


class Inverse(TriOp):
    """Invert the square matrices in the last two axes; those without an inverse become NaN.

    Source: ONNX Runtime `Inverse`, which says nothing of matrices without one.
    """

    x: Operand
    y: Result

    def infer(self, x: Tensor) -> Tensor:
        return need_square(x)

    def reference(self, x: Array) -> Array:
        wide = widen(x)
        singular = (np.linalg.slogdet(wide).sign == 0)[..., None, None]
        regular = np.where(singular, np.eye(x.shape[-1], dtype=wide.dtype), wide)
        return narrow(np.where(singular, np.nan, np.linalg.inv(regular)), x)


def need_square(x: Tensor) -> Tensor:
    """Return a type of square matrices of floats; raise Invalid for any other."""
    need_float(x)
    fault = f"input is {x}, must have square matrices in its last two axes"
    if x.rank < 2:
        raise Invalid(fault)
    need_same(x.shape[-1], x.shape[-2], fault)
    return x
