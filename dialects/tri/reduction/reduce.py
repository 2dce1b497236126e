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
from ..numeric import need_number, truncated_divide

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

    @staticmethod
    def infer(x: Tensor, *, axes: Axes, keepdims: bool) -> Tensor:
        return Tensor(reduced_shape(x, axes, keepdims), need_number(x).dtype)


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


def floating(reduction: Callable[..., Array]) -> Callable[..., Array]:
    """Make a reduction compute in f64, whatever the element type, and convert its result back."""

    def reference(x: Array, *, axes: Axes, keepdims: bool) -> Array:
        y = reduction(x.astype(np.float64), axis=axes, keepdims=keepdims)
        return np.asarray(y).astype(x.dtype)

    return reference


class ReduceSum(Reduction):
    """Compute the sum; zero of nothing."""

    @staticmethod
    def reference(x: Array, *, axes: Axes, keepdims: bool) -> Array:
        wide = exact(x)
        return np.sum(wide, axis=axes, keepdims=keepdims, dtype=wide.dtype).astype(x.dtype)


class ReduceProd(Reduction):
    """Compute the product; one of nothing."""

    @staticmethod
    def reference(x: Array, *, axes: Axes, keepdims: bool) -> Array:
        wide = exact(x)
        return np.prod(wide, axis=axes, keepdims=keepdims, dtype=wide.dtype).astype(x.dtype)


class ReduceMean(Reduction):
    """Compute the mean; integers round toward zero. NaN of nothing, the integer zero of nothing."""

    @staticmethod
    def reference(x: Array, *, axes: Axes, keepdims: bool) -> Array:
        count = math.prod(x.shape[axis] for axis in axes)
        if is_float(dtype_of(x.dtype)):
            total = np.sum(x, axis=axes, keepdims=keepdims, dtype=np.float64)
            return np.asarray(total / np.float64(count)).astype(x.dtype)
        wide = np.uint64 if DTYPES[dtype_of(x.dtype)].kind == "uint" else np.int64
        total = np.sum(x, axis=axes, keepdims=keepdims, dtype=wide)
        return truncated_divide(np.asarray(total), np.array(count, wide)).astype(x.dtype)


class ReduceMax(Reduction):
    """Compute the greatest element, NaN if any is NaN; of bools, whether any holds.

    Of nothing: -inf, the least integer, or false.
    """

    @staticmethod
    def infer(x: Tensor, *, axes: Axes, keepdims: bool) -> Tensor:
        return Tensor(reduced_shape(x, axes, keepdims), x.dtype)

    @staticmethod
    def reference(x: Array, *, axes: Axes, keepdims: bool) -> Array:
        least = _bounds(x.dtype)[0]
        return np.max(exact(x), axis=axes, keepdims=keepdims, initial=least).astype(x.dtype)


class ReduceMin(Reduction):
    """Compute the least element, NaN if any is NaN; of bools, whether all hold.

    Of nothing: inf, the greatest integer, or true.
    """

    @staticmethod
    def infer(x: Tensor, *, axes: Axes, keepdims: bool) -> Tensor:
        return Tensor(reduced_shape(x, axes, keepdims), x.dtype)

    @staticmethod
    def reference(x: Array, *, axes: Axes, keepdims: bool) -> Array:
        greatest = _bounds(x.dtype)[1]
        return np.min(exact(x), axis=axes, keepdims=keepdims, initial=greatest).astype(x.dtype)


def _bounds(dtype: "np.dtype[Any]") -> tuple[Any, Any]:
    kind = DTYPES[dtype_of(dtype)].kind
    if kind == "float":
        return -np.inf, np.inf
    if kind == "bool":
        return False, True
    return np.iinfo(dtype).min, np.iinfo(dtype).max


class ReduceL1(Reduction):
    """Compute the sum of absolute values."""

    @staticmethod
    def reference(x: Array, *, axes: Axes, keepdims: bool) -> Array:
        wide = np.abs(exact(x))
        return np.sum(wide, axis=axes, keepdims=keepdims, dtype=wide.dtype).astype(x.dtype)


class ReduceSumSquare(Reduction):
    """Compute the sum of squares."""

    @staticmethod
    def reference(x: Array, *, axes: Axes, keepdims: bool) -> Array:
        wide = np.square(exact(x))
        return np.sum(wide, axis=axes, keepdims=keepdims, dtype=wide.dtype).astype(x.dtype)


class ReduceL2(Reduction):
    """Compute the square root of the sum of squares; integers lose the fraction."""

    @staticmethod
    @floating
    def reference(x: Array, **reduced: Any) -> Array:
        return np.sqrt(np.sum(np.square(x), **reduced))


class ReduceLogSum(Reduction):
    """Compute the logarithm of the sum; integers lose the fraction."""

    @staticmethod
    @floating
    def reference(x: Array, **reduced: Any) -> Array:
        return np.log(np.sum(x, **reduced))


class ReduceLogSumExp(Reduction):
    """Compute the logarithm of the sum of exponentials, without overflow."""

    @staticmethod
    @floating
    def reference(x: Array, *, axis: Axes, keepdims: bool) -> Array:
        top = np.max(x, axis=axis, keepdims=True, initial=-np.inf)
        top = np.where(np.isfinite(top), top, 0)
        total = np.sum(np.exp(x - top), axis=axis, keepdims=keepdims)
        return np.log(total) + np.reshape(top, np.shape(total))
