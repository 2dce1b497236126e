"""Ops that reduce axes of a tensor to one element.

Floats are reduced in f64 and rounded once; integers wrap around in their own type.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.errors import Invalid
from ...core.fields import Operand, Result
from ...core.tensor import DTYPES, Array, Shape, Tensor, dtype_of, is_float, normalize_axes
from ..dialect import TriOp
from ..numeric import need_number, need_wide, truncated_divide

Axes = tuple[int, ...]


class Reduction(TriOp, abstract=True):
    """Base of ops that reduce the given axes of numbers; no axes reduce each element by itself.

    Axes are in [0, rank), sorted. Reduced axes stay, with size 1, when `keepdims`.
    """

    x: Operand
    axes: tuple[int, ...]
    keepdims: bool = True
    y: Result

    anchor = True

    def infer(self, x: Tensor) -> Tensor:
        return Tensor(reduced_shape(x, self.axes, self.keepdims), need_number(x).dtype)

    def apply(self, reduction: Callable[..., Any], x: Array, **options: Any) -> Array:
        """Reduce the axes of the op by a function of numpy."""
        return np.asarray(reduction(x, axis=self.axes, keepdims=self.keepdims, **options))


def reduced_shape(x: Tensor, axes: Axes, keepdims: bool) -> Shape:
    """Return the shape after reducing axes, which must be in order and not negative."""
    normal = normalize_axes(axes, x.rank)
    if normal != axes:
        raise Invalid(f"axes are {list(axes)}, must be sorted and not negative: {list(normal)}")
    kept = [(1,) if axis in axes else (dim,) for axis, dim in enumerate(x.shape)]
    if not keepdims:
        kept = [dim for axis, dim in enumerate(kept) if axis not in axes]
    return tuple(size for dim in kept for size in dim)


def exact(x: Array) -> Array:
    """Convert floats to f64, so that a reduction rounds once; leave integers alone."""
    return x.astype(np.float64) if is_float(dtype_of(x.dtype)) else x


class ReduceSum(Reduction):
    """Compute the sum; zero of nothing."""

    def reference(self, x: Array) -> Array:
        wide = exact(x)
        return self.apply(np.sum, wide, dtype=wide.dtype).astype(x.dtype)


class ReduceProd(Reduction):
    """Compute the product; one of nothing."""

    def reference(self, x: Array) -> Array:
        wide = exact(x)
        return self.apply(np.prod, wide, dtype=wide.dtype).astype(x.dtype)


class ReduceMean(Reduction):
    """Compute the mean; integers round toward zero. NaN of nothing, the integer zero of nothing."""

    def reference(self, x: Array) -> Array:
        count = math.prod(x.shape[axis] for axis in self.axes)
        if is_float(dtype_of(x.dtype)):
            total = self.apply(np.sum, x, dtype=np.float64)
            return np.asarray(total / np.float64(count)).astype(x.dtype)
        wide = np.uint64 if DTYPES[dtype_of(x.dtype)].kind == "uint" else np.int64
        total = self.apply(np.sum, x, dtype=wide)
        return truncated_divide(total, np.array(count, wide)).astype(x.dtype)


class ReduceMax(Reduction):
    """Compute the greatest element, NaN if any is NaN; of bools, whether any is true.

    Of nothing: -inf, the least integer, or false.
    """

    def infer(self, x: Tensor) -> Tensor:
        return Tensor(reduced_shape(x, self.axes, self.keepdims), need_wide(x).dtype)

    def reference(self, x: Array) -> Array:
        least = _bounds(x.dtype)[0]
        return self.apply(np.max, exact(x), initial=least).astype(x.dtype)


class ReduceMin(Reduction):
    """Compute the least element, NaN if any is NaN; of bools, whether all are true.

    Of nothing: inf, the greatest integer, or true.
    """

    def infer(self, x: Tensor) -> Tensor:
        return Tensor(reduced_shape(x, self.axes, self.keepdims), need_wide(x).dtype)

    def reference(self, x: Array) -> Array:
        greatest = _bounds(x.dtype)[1]
        return self.apply(np.min, exact(x), initial=greatest).astype(x.dtype)


def _bounds(dtype: "np.dtype[Any]") -> tuple[Any, Any]:
    kind = DTYPES[dtype_of(dtype)].kind
    if kind == "float":
        return -np.inf, np.inf
    if kind == "bool":
        return False, True
    return np.iinfo(dtype).min, np.iinfo(dtype).max


class ReduceL1(Reduction):
    """Compute the sum of absolute values."""

    def reference(self, x: Array) -> Array:
        wide = np.abs(exact(x))
        return self.apply(np.sum, wide, dtype=wide.dtype).astype(x.dtype)


class ReduceSumSquare(Reduction):
    """Compute the sum of squares."""

    def reference(self, x: Array) -> Array:
        wide = np.square(exact(x))
        return self.apply(np.sum, wide, dtype=wide.dtype).astype(x.dtype)


class ReduceL2(Reduction):
    """Compute the square root of the sum of squares; integers lose the fraction."""

    def reference(self, x: Array) -> Array:
        wide = np.square(x.astype(np.float64))
        return np.asarray(np.sqrt(self.apply(np.sum, wide))).astype(x.dtype)


class ReduceLogSum(Reduction):
    """Compute the logarithm of the sum; integers lose the fraction."""

    def reference(self, x: Array) -> Array:
        return np.asarray(np.log(self.apply(np.sum, x.astype(np.float64)))).astype(x.dtype)


class ReduceLogSumExp(Reduction):
    """Compute the logarithm of the sum of exponentials, without overflow."""

    def reference(self, x: Array) -> Array:
        wide = x.astype(np.float64)
        top = np.max(wide, axis=self.axes, keepdims=True, initial=-np.inf)
        top = np.where(np.isfinite(top), top, 0)
        total = self.apply(np.sum, np.exp(wide - top))
        return np.asarray(np.log(total) + np.reshape(top, total.shape)).astype(x.dtype)
