"""Factors of matrices that are triangular: those of Cholesky, and of Gaussian elimination."""

import math

import numpy as np

from ...core.errors import Invalid
from ...core.fields import Operand, Result
from ...core.numerics.precision import narrow, widen
from ...core.sizes.atoms import Size
from ...core.sizes.checks import need
from ...core.sizes.dim import lowest
from ...core.tensor import Array, Tensor
from ..dialect import TriOp
from ..numeric import need_float, need_integer
from .square_matrices import need_square


class Cholesky(TriOp):
    """Factorise the symmetric matrices in the last two axes: `x = y @ y.T`, y lower triangular.

    Only the lower triangle of `x` is read; if `upper`, only the upper one, and `x = y.T @ y`.
    `info` is 0, or the order of the first leading minor that is not positive; `y` is NaN there.
    Source: LAPACK `potrf`, which leaves numbers where it fails.
    """

    x: Operand
    upper: bool = False
    y: Result
    info: Result

    def infer(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return need_square(x), Tensor(x.shape[:-2], "i32")

    def reference(self, x: Array) -> tuple[Array, Array]:
        rows = np.triu(widen(x) if self.upper else np.swapaxes(widen(x), -1, -2))
        info = np.zeros(x.shape[:-2], np.int32)
        for k in range(x.shape[-1]):
            pivot = rows[..., k, k]
            info = np.where((info == 0) & ~(pivot > 0), np.int32(k + 1), info)
            rows[..., k, k:] /= np.sqrt(np.where(pivot > 0, pivot, 1))[..., None]
            row = rows[..., k, k + 1 :]
            rows[..., k + 1 :, k + 1 :] -= np.triu(row[..., :, None] * row[..., None, :])
        rows = np.where((info == 0)[..., None, None], rows, np.nan)
        return narrow(rows if self.upper else np.swapaxes(rows, -1, -2), x), info


class Lu(TriOp):
    """Eliminate the matrices in the last two axes, M x N, with the greatest pivot of each column.

    `factors` has the upper triangular factor, and below the diagonal the lower one, whose diagonal
    is 1. Row k was swapped with row `pivots[k] - 1`, one after the other: `pivots_to_permutation`
    makes an order of them. `info` is 0, or the number of the first pivot that is 0, from 1.
    Source: LAPACK `getrf`.
    """

    x: Operand
    factors: Result
    pivots: Result
    info: Result

    def infer(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        batch, steps = need_matrices(x).shape[:-2], diagonal_size(x)
        return x, Tensor((*batch, steps), "i32"), Tensor(batch, "i32")

    def reference(self, x: Array) -> tuple[Array, Array, Array]:
        rows = widen(x).reshape(math.prod(x.shape[:-2]), *x.shape[-2:]).copy()
        steps = min(x.shape[-2:])
        pivots = np.zeros((len(rows), steps), np.int32)
        info: Array = np.zeros(len(rows), np.int32)
        each = np.arange(len(rows))
        for k in range(steps):
            place = k + np.argmax(np.abs(rows[:, k:, k]), axis=1)
            pivots[:, k] = place + 1
            rows[each, place], rows[:, k] = rows[:, k].copy(), rows[each, place].copy()
            pivot = rows[:, k, k]
            info = np.where((info == 0) & (pivot == 0), np.int32(k + 1), info)
            rows[:, k + 1 :, k] /= np.where(pivot == 0, 1, pivot)[:, None]
            rows[:, k + 1 :, k + 1 :] -= rows[:, k + 1 :, k, None] * rows[:, None, k, k + 1 :]
        batch = x.shape[:-2]
        return (
            narrow(rows.reshape(x.shape), x),
            pivots.reshape(*batch, steps),
            info.reshape(batch),
        )


class PivotsToPermutation(TriOp):
    """Return the order of `size` rows after swaps, one after the other, of each row k.

    The row that is swapped with row k is `pivots[k] - 1`, as of `lu`: element i of `y` is the row
    that is the i-th then. A pivot that no row has counts as the nearest one.
    Source: LAPACK `laswp`; XLA has it as `LuPivotsToPermutation`.
    """

    pivots: Operand
    size: int
    y: Result

    def infer(self, pivots: Tensor) -> Tensor:
        fault = f"pivots are {pivots}, must be at most {self.size} in the last axis"
        if need_integer(pivots).rank < 1:
            raise Invalid(fault)
        need(self.size - pivots.shape[-1], 0, fault)
        return Tensor((*pivots.shape[:-1], self.size), "i64")

    def reference(self, pivots: Array) -> Array:
        flat = pivots.reshape(math.prod(pivots.shape[:-1]), pivots.shape[-1])
        order = np.tile(np.arange(self.size, dtype=np.int64), (len(flat), 1))
        each = np.arange(len(flat))
        for k in range(pivots.shape[-1]):
            place = np.clip(flat[:, k].astype(np.int64) - 1, 0, self.size - 1)
            order[each, place], order[:, k] = order[:, k].copy(), order[each, place].copy()
        return order.reshape(*pivots.shape[:-1], self.size)


def need_matrices(x: Tensor) -> Tensor:
    """Return a type of matrices of floats; raise Invalid for any other."""
    if need_float(x).rank < 2:
        raise Invalid(f"input is {x}, must have matrices in its last two axes")
    return x


def diagonal_size(x: Tensor) -> Size:
    """Return how many elements the diagonal of a matrix has."""
    return lowest(*x.shape[-2:])
