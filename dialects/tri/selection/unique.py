"""The slices of a tensor that differ from one another."""

import math
from collections.abc import Sequence

import numpy as np

from ...core.data_dependent import DataDependentOp
from ...core.errors import Invalid
from ...core.fields import Operand, Result
from ...core.numerics.precision import widen
from ...core.sizes.atoms import Size
from ...core.tensor import Array, Tensor, normalize_axis
from ..dialect import TriOp


class Unique(DataDependentOp, TriOp):
    """Find the slices of `x` along an axis that differ from one another.

    `y` has each of them once, in ascending order, or, unless `sorted`, in the order in which they
    occur first. `first` has the index at which each occurs first, `inverse` the index in `y` of
    each slice of `x`, `counts` how often each occurs. Source: ONNX `Unique`.
    """

    x: Operand
    count: int
    axis: int = 0
    sorted: bool = True
    y: Result
    first: Result
    inverse: Result
    counts: Result

    found_sizes = ("count",)

    def infer(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        if x.rank == 0:
            raise Invalid("input is a scalar, must have an axis")
        axis = normalize_axis(self.axis, x.rank)
        each = Tensor((self.count,), "i64")
        y = Tensor((*x.shape[:axis], self.count, *x.shape[axis + 1 :]), x.dtype)
        return y, each, Tensor((x.shape[axis],), "i64"), each

    def reference(self, x: Array) -> tuple[Array, Array, Array, Array]:
        axis = self.axis % x.ndim
        moved = np.moveaxis(widen(x), axis, 0)
        rows = moved.reshape(len(moved), math.prod(moved.shape[1:]))
        order = _ascending(rows)
        starts = _starts(rows[order])
        group = np.cumsum(starts) - 1  # of each row, in ascending order
        count = int(group[-1]) + 1 if len(group) else 0
        first = order[starts]
        inverse = np.empty(len(rows), np.int64)
        inverse[order] = group
        if not self.sorted:
            occurrence = np.argsort(first)
            first = first[occurrence]
            inverse = np.argsort(occurrence)[inverse]
        counts = np.bincount(inverse, minlength=count)
        return np.take(x, first, axis), first, inverse, counts.astype(np.int64)

    def most(self, x: Tensor) -> tuple[Size]:
        return (x.shape[self.axis],)

    def find(self, operands: Sequence[Array], results: Sequence[Array]) -> tuple[int]:
        return (len(results[1]),)


def _ascending(rows: Array) -> Array:
    """Return the order of rows, compared element by element; equal ones in that of their indices.

    NaNs come last, and are equal.
    """
    if not rows.shape[1]:
        return np.arange(len(rows), dtype=np.int64)
    return np.lexsort(rows.T[::-1]).astype(np.int64)


def _starts(rows: Array) -> Array:
    """Return whether each row differs from the one before."""
    before, after = rows[:-1], rows[1:]
    same = (before == after) | ((before != before) & (after != after))
    return np.concatenate([np.ones(min(1, len(rows)), bool), ~same.all(1)])
