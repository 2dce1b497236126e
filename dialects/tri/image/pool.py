"""Pooling: reduce every window of the spatial axes to one element, each channel by itself."""

import functools
from collections.abc import Iterable

import numpy as np

from ...core.errors import Invalid
from ...core.fields import Operand, Result
from ...core.numerics.precision import narrow, widen
from ...core.tensor import Array, Tensor, dtype_of, is_float
from ..dialect import TriOp
from ..numeric import need_float, need_wide
from .window import Window


class Pool(TriOp, abstract=True):
    """Base of pooling ops: `x` is [N, C, spatial…], `y` is [N, C, windows…].

    All tuples have one entry per spatial axis, `pads` first all begins and then all ends. A kernel
    that is larger than the padded input, by less than a stride, has one window, cut at the end.
    """

    x: Operand
    y: Result
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    pads: tuple[int, ...]
    dilations: tuple[int, ...]
    ceil_mode: bool = False

    anchor = True
    allows_pad_epilogue = True

    @property
    def window(self) -> Window:
        """Return the window that moves over the spatial axes."""
        return Window(
            self.kernel,
            self.strides,
            self.pads,
            self.dilations,
            self.ceil_mode,
            allows_partial=True,
        )

    def pooled(self, x: Tensor) -> Tensor:
        """Return the type of one element for each window, of the element type of `x`."""
        if x.rank < 3:
            raise Invalid(f"input has rank {x.rank}, must have 3 or more: batch, channels, pixels")
        return Tensor((*x.shape[:2], *self.window.output_sizes(x.shape[2:])), x.dtype)


class MaxPool(Pool):
    """Take the maximum of each window; padding never wins, NaN always does.

    Source: ONNX `MaxPool`, its first output.
    """

    quantized = "one scale"

    def infer(self, x: Tensor) -> Tensor:
        return self.pooled(need_wide(x))

    def reference(self, x: Array) -> Array:
        first, *others = self.window.slide(x, _lowest(x))
        y = first.copy()
        for seen in others:
            np.maximum(y, seen, out=y)
        return y


class MaxPoolIndices(Pool):
    """Take the maximum of each window, and return its index in `x`.

    `indices` is i64 and counts elements of the whole of `x`; within the spatial axes in row-major
    order when `storage_order` is 0, in column-major order when it is 1. The first of equal maxima
    counts. Source: ONNX `MaxPool` with both outputs.
    """

    indices: Result
    storage_order: int = 0

    def infer(self, x: Tensor) -> tuple[Tensor, Tensor]:
        if self.storage_order not in (0, 1):
            raise Invalid(f"storage_order is {self.storage_order}, must be 0 or 1")
        y = self.pooled(need_wide(x))
        return y, Tensor(y.shape, "i64")

    def reference(self, x: Array) -> tuple[Array, Array]:
        places = _places(x, self.storage_order)
        seen = zip(self.window.slide(x, _lowest(x)), self.window.slide(places, -1), strict=True)
        y, indices = (first.copy() for first in next(seen))
        for values, at in seen:
            # A window that starts in padding must not keep the padding's place: it is -1.
            better = (values > y) | (values != values) | ((indices < 0) & (at >= 0))
            np.copyto(y, values, where=better)
            np.copyto(indices, at, where=better)
        return y, indices


class AveragePool(Pool):
    """Take the mean of each window, over the elements of `x` in it or over all of them.

    With `count_include_pad`, padding counts as zeros; the part of a window beyond the padding never
    counts. Half types are summed in f32. Source: ONNX `AveragePool`.
    """

    count_include_pad: bool = False

    def infer(self, x: Tensor) -> Tensor:
        return self.pooled(need_float(x))

    def reference(self, x: Array) -> Array:
        ones = np.ones(x.shape[2:], widen(x).dtype)
        count = _total(self.window.slide(ones, int(self.count_include_pad), overhang=0))
        return narrow(_total(self.window.slide(widen(x), 0)) / count, x)


class LpPool(Pool):
    """Take the p-norm of each window; padding counts as zeros. Source: ONNX `LpPool`."""

    p: int = 2

    def infer(self, x: Tensor) -> Tensor:
        if self.p < 1:
            raise Invalid(f"p is {self.p}, must be at least 1")
        return self.pooled(need_float(x))

    def reference(self, x: Array) -> Array:
        total = _total(self.window.slide(np.abs(widen(x)) ** self.p, 0))
        return narrow(total ** (1 / self.p), x)


def _total(taps: Iterable[Array]) -> Array:
    """Sum the elements of each window, tap by tap."""
    return functools.reduce(np.add, taps)


def _lowest(x: Array) -> float:
    """Return the least value of the element type of `x`, with which a maximum is padded."""
    if is_float(dtype_of(x.dtype)):
        return -np.inf
    return 0 if x.dtype == np.bool_ else int(np.iinfo(x.dtype).min)


def _places(x: Array, storage_order: int) -> Array:
    """Number all elements of `x`; pixels in column-major order when `storage_order` is 1."""
    numbers: Array = np.arange(x.size)
    if not storage_order:
        return numbers.reshape(x.shape)
    transposed = numbers.reshape((*x.shape[:2], *x.shape[:1:-1]))
    return transposed.transpose((0, 1, *range(x.ndim - 1, 1, -1)))
