"""Pooling: reduce every window of the spatial axes to one element, each channel by itself."""

import functools
from collections.abc import Iterable

import numpy as np

from ..core.errors import Invalid
from ..core.fields import Operand, Result
from ..core.precision import narrow, widen
from ..core.tensor import Array, Tensor, dtype_of, is_float
from .dialect import TriOp
from .numeric import need_float
from .window import Window


class Pool(TriOp, abstract=True):
    """Base of pooling ops: `x` is [N, C, spatial…], `y` is [N, C, windows…].

    All tuples have one entry per spatial axis, `pads` first all begins and then all ends.
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


class MaxPool(Pool):
    """Take the maximum of each window; padding never wins, NaN always does.

    Source: ONNX `MaxPool`, its first output.
    """

    quantized = "one scale"

    @staticmethod
    def infer(
        x: Tensor,
        *,
        kernel: tuple[int, ...],
        strides: tuple[int, ...],
        pads: tuple[int, ...],
        dilations: tuple[int, ...],
        ceil_mode: bool = False,
    ) -> Tensor:
        return _infer(x, Window(kernel, strides, pads, dilations, ceil_mode))

    @staticmethod
    def reference(
        x: Array,
        *,
        kernel: tuple[int, ...],
        strides: tuple[int, ...],
        pads: tuple[int, ...],
        dilations: tuple[int, ...],
        ceil_mode: bool = False,
    ) -> Array:
        window = Window(kernel, strides, pads, dilations, ceil_mode)
        first, *others = window.slide(x, _lowest(x))
        y = first.copy()
        for seen in others:
            np.maximum(y, seen, out=y)
        return y


class MaxPoolIndices(Pool):
    """Take the maximum of each window, and say where in `x` it is.

    `indices` is i64 and counts elements of the whole of `x`; within the spatial axes in row-major
    order when `storage_order` is 0, in column-major order when it is 1. The first of equal maxima
    counts. Source: ONNX `MaxPool` with both outputs.
    """

    indices: Result
    storage_order: int = 0

    @staticmethod
    def infer(
        x: Tensor,
        *,
        kernel: tuple[int, ...],
        strides: tuple[int, ...],
        pads: tuple[int, ...],
        dilations: tuple[int, ...],
        ceil_mode: bool = False,
        storage_order: int = 0,
    ) -> tuple[Tensor, Tensor]:
        if storage_order not in (0, 1):
            raise Invalid(f"storage_order is {storage_order}, must be 0 or 1")
        y = _infer(x, Window(kernel, strides, pads, dilations, ceil_mode))
        return y, Tensor(y.shape, "i64")

    @staticmethod
    def reference(
        x: Array,
        *,
        kernel: tuple[int, ...],
        strides: tuple[int, ...],
        pads: tuple[int, ...],
        dilations: tuple[int, ...],
        ceil_mode: bool = False,
        storage_order: int = 0,
    ) -> tuple[Array, Array]:
        window = Window(kernel, strides, pads, dilations, ceil_mode)
        places = _places(x, storage_order)
        seen = zip(window.slide(x, _lowest(x)), window.slide(places, -1), strict=True)
        y, indices = (first.copy() for first in next(seen))
        for values, at in seen:
            # A window that starts in padding must not keep the padding's place: it is -1.
            better = (values > y) | (values != values) | ((indices < 0) & (at >= 0))
            np.copyto(y, values, where=better)
            np.copyto(indices, at, where=better)
        return y, indices


class AveragePool(Pool):
    """Take the mean of each window, over the elements of `x` in it or over all of them.

    With `count_include_pad`, padding counts as zeros; what hangs over the end of the padding in
    `ceil_mode` never counts. Half types are summed in f32. Source: ONNX `AveragePool`.
    """

    count_include_pad: bool = False

    @staticmethod
    def infer(
        x: Tensor,
        *,
        kernel: tuple[int, ...],
        strides: tuple[int, ...],
        pads: tuple[int, ...],
        dilations: tuple[int, ...],
        ceil_mode: bool = False,
        count_include_pad: bool = False,
    ) -> Tensor:
        return _infer(need_float(x), Window(kernel, strides, pads, dilations, ceil_mode))

    @staticmethod
    def reference(
        x: Array,
        *,
        kernel: tuple[int, ...],
        strides: tuple[int, ...],
        pads: tuple[int, ...],
        dilations: tuple[int, ...],
        ceil_mode: bool = False,
        count_include_pad: bool = False,
    ) -> Array:
        window = Window(kernel, strides, pads, dilations, ceil_mode)
        ones = np.ones(x.shape[2:], widen(x).dtype)
        count = _total(window.slide(ones, int(count_include_pad), overhang=0))
        return narrow(_total(window.slide(widen(x), 0)) / count, x)


class LpPool(Pool):
    """Take the p-norm of each window; padding counts as zeros. Source: ONNX `LpPool`."""

    p: int = 2

    @staticmethod
    def infer(
        x: Tensor,
        *,
        kernel: tuple[int, ...],
        strides: tuple[int, ...],
        pads: tuple[int, ...],
        dilations: tuple[int, ...],
        ceil_mode: bool = False,
        p: int = 2,
    ) -> Tensor:
        if p < 1:
            raise Invalid(f"p is {p}, must be at least 1")
        return _infer(need_float(x), Window(kernel, strides, pads, dilations, ceil_mode))

    @staticmethod
    def reference(
        x: Array,
        *,
        kernel: tuple[int, ...],
        strides: tuple[int, ...],
        pads: tuple[int, ...],
        dilations: tuple[int, ...],
        ceil_mode: bool = False,
        p: int = 2,
    ) -> Array:
        window = Window(kernel, strides, pads, dilations, ceil_mode)
        total = _total(window.slide(np.abs(widen(x)) ** p, 0))
        return narrow(total ** (1 / p), x)


def _infer(x: Tensor, window: Window) -> Tensor:
    if x.rank < 3:
        raise Invalid(f"input has rank {x.rank}, must have 3 or more: batch, channels, pixels")
    return Tensor((*x.shape[:2], *window.output_sizes(x.shape[2:])), x.dtype)


def _total(taps: Iterable[Array]) -> Array:
    """Sum what each window sees, tap by tap."""
    return functools.reduce(np.add, taps)


def _lowest(x: Array) -> float:
    """Return the value that no element of `x` is below: what padding holds for a maximum."""
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
