"""Equations whose matrix is a triangle."""

import numpy as np

from ...core.errors import Invalid
from ...core.fields import Operand, Result
from ...core.numerics.precision import narrow, widen
from ...core.sizes.checks import need_same_shape
from ...core.tensor import Array, Tensor
from ..dialect import TriOp
from .square_matrices import need_square


class SolveTriangular(TriOp):
    """Solve `x @ y = b` by substitution, with the lower triangle of `x` or, if `upper`, the upper.

    `x` is N x N in its last two axes, `b` N x K; the other axes are the same. Only one triangle of
    `x` is read, without the diagonal if `unit_diagonal`, whose elements count as 1. An element of 0
    divides by 0. Source: BLAS `trsm`.
    """

    x: Operand
    b: Operand
    upper: bool = False
    unit_diagonal: bool = False
    y: Result

    def infer(self, x: Tensor, b: Tensor) -> Tensor:
        if b.dtype != need_square(x).dtype:
            raise Invalid(f"b is {b}, must have the element type of {x}")
        need_same_shape(b.shape[:-1], x.shape[:-1], f"b is {b}, must have rows for those of {x}")
        return b

    def reference(self, x: Array, b: Array) -> Array:
        rows, y = widen(x), widen(b).copy()
        size = x.shape[-1]
        for i in reversed(range(size)) if self.upper else range(size):
            known = slice(i + 1, size) if self.upper else slice(0, i)
            y[..., i, :] -= np.einsum("...j,...jk->...k", rows[..., i, known], y[..., known, :])
            if not self.unit_diagonal:
                with np.errstate(divide="ignore", invalid="ignore"):
                    y[..., i, :] /= rows[..., i, i, None]
        return narrow(y, b)
