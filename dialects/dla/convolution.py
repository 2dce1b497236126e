"""Integer convolutions and pools on tensors."""

import numpy as np

from ..core.errors import Invalid
from ..core.fields import Operand, Result
from ..core.fixed_point import multiply_shift
from ..core.integers import Factor, Window, dense_sums, depthwise_sums, finish, pooled, require_i32
from ..core.tensor import Array, Shape, Tensor
from .dialect import (
    HIGH,
    LOW,
    TensorOp,
    each_image,
    need_bounds,
    need_image,
    need_pair,
    need_scaling,
    stacked,
)

CONV_MODES = ("dense", "depthwise")
POOL_MODES = ("max", "average")
DIVISORS = ("none", "inside")

MOST_TAPS = 1 << 22
"""The most bytes whose sum, times a multiplier of 31 bits, can be divided in 64 bits."""
MOST_DIVISOR = 1 << 61


class Conv(TensorOp):
    """Convolve images with weights; a product of matrices is a 1x1 kernel.

    y = clamp(round((bias + sum((x - source_zero) * w)) * multiplier / 2^shift) + destination_zero)

    Weights are i8: [rows, columns, channels, filters] if `mode` is "dense", [rows, columns,
    channels] if it is "depthwise". Biases are i32, one per filter; there is one multiplier and one
    shift for all filters, or one for each. `pads` are top, left, bottom, right; values outside of
    the image count as zero.
    """

    x: Operand
    w: Operand
    bias: Operand
    mode: str = "dense"
    strides: tuple[int, ...] = (1, 1)
    dilations: tuple[int, ...] = (1, 1)
    pads: tuple[int, ...] = (0, 0, 0, 0)
    source_zero: int = 0
    multiplier: tuple[int, ...]
    shift: tuple[int, ...]
    rounding: str = "half_away"
    destination_zero: int = 0
    low: int = LOW
    high: int = HIGH
    y: Result

    packet = "conv"

    @staticmethod
    def infer(
        x: Tensor,
        w: Tensor,
        bias: Tensor,
        *,
        mode: str,
        strides: Shape,
        dilations: Shape,
        pads: Shape,
        source_zero: int,
        multiplier: tuple[int, ...],
        shift: tuple[int, ...],
        rounding: str,
        destination_zero: int,
        low: int,
        high: int,
    ) -> Tensor:
        batch, rows, columns, channels = need_image("x", x)
        if mode not in CONV_MODES:
            raise Invalid(f"mode is '{mode}', must be one of {', '.join(CONV_MODES)}")
        if w.dtype != "i8" or w.rank != (4 if mode == "dense" else 3) or not w.size:
            raise Invalid(f"weights of a {mode} conv are {w}")
        if w.shape[2] != channels:
            raise Invalid(f"weights are of {w.shape[2]} channels, x has {channels}")
        filters = w.shape[-1]
        if bias != Tensor((filters,), "i32"):
            raise Invalid(f"bias is {bias}, must be {Tensor((filters,), 'i32')}")
        if len(multiplier) != len(shift) or len(shift) not in (1, filters):
            counts = f"{len(multiplier)} multipliers and {len(shift)} shifts"
            raise Invalid(f"has {counts}, must have 1 or {filters} of each")
        need_scaling(multiplier, shift, rounding, source_zero, destination_zero)
        need_bounds(low, high)
        out = window_sizes((rows, columns), w.shape[:2], strides, dilations, pads)
        return Tensor((batch, *out, filters), "i8")

    @staticmethod
    def reference(
        x: Array,
        w: Array,
        bias: Array,
        *,
        mode: str,
        strides: Shape,
        dilations: Shape,
        pads: Shape,
        source_zero: int,
        multiplier: tuple[int, ...],
        shift: tuple[int, ...],
        rounding: str,
        destination_zero: int,
        low: int,
        high: int,
    ) -> Array:
        window = window_of(x.shape[1:3], w.shape[:2], strides, dilations, pads)
        kernel = w.reshape(window.taps, *w.shape[2:])
        # x - zero has 9 bits: the zero point is folded into the bias instead, as in the packet.
        axes = (0, 1) if mode == "dense" else (0,)
        folded = bias - source_zero * kernel.astype(np.int64).sum(axis=axes)
        sums_of = dense_sums if mode == "dense" else depthwise_sums
        images: list[Array] = []
        for image in x:
            sums = sums_of(image, kernel, window, source_zero) + folded
            require_i32(sums)
            scaled = multiply_shift(sums, np.array(multiplier), np.array(shift), rounding)
            images.append(finish(scaled, destination_zero, low, high))
        return stacked(images)


class Pool(TensorOp):
    """Take the greatest value or the average of each window; only values in the image count.

    y = clamp(round(p * multiplier / 2^shift) + destination_zero), where p is the greatest value, or
    the sum of values, without their zero point. With `divisor` "none" the multiplier contains one
    over the count; with "inside", the sum is divided by the number of values in the image as well,
    by one exact division rounded half away from zero.
    """

    x: Operand
    mode: str
    kernel: tuple[int, ...]
    strides: tuple[int, ...] = (1, 1)
    dilations: tuple[int, ...] = (1, 1)
    pads: tuple[int, ...] = (0, 0, 0, 0)
    divisor: str = "none"
    source_zero: int = 0
    multiplier: int = 1
    shift: int = 0
    rounding: str = "half_away"
    destination_zero: int = 0
    low: int = LOW
    high: int = HIGH
    y: Result

    packet = "pool"

    @staticmethod
    def infer(
        x: Tensor,
        *,
        mode: str,
        kernel: Shape,
        strides: Shape,
        dilations: Shape,
        pads: Shape,
        divisor: str,
        source_zero: int,
        multiplier: int,
        shift: int,
        rounding: str,
        destination_zero: int,
        low: int,
        high: int,
    ) -> Tensor:
        batch, rows, columns, channels = need_image("x", x)
        need_scaling((multiplier,), (shift,), rounding, source_zero, destination_zero)
        need_bounds(low, high)
        window = window_of((rows, columns), kernel, strides, dilations, pads)
        need_pool(window, (rows, columns), mode, divisor, multiplier, shift)
        return Tensor((batch, *window.out, channels), "i8")

    @staticmethod
    def reference(
        x: Array,
        *,
        mode: str,
        kernel: Shape,
        strides: Shape,
        dilations: Shape,
        pads: Shape,
        divisor: str,
        source_zero: int,
        multiplier: int,
        shift: int,
        rounding: str,
        destination_zero: int,
        low: int,
        high: int,
    ) -> Array:
        window = window_of(x.shape[1:3], kernel, strides, dilations, pads)
        factor = Factor(multiplier, shift, rounding)
        images = [
            pooled(image, window, mode, divisor, source_zero, factor) for (image,) in each_image(x)
        ]
        return stacked([finish(image, destination_zero, low, high) for image in images])


def window_of(sizes: Shape, kernel: Shape, strides: Shape, dilations: Shape, pads: Shape) -> Window:
    """Return the kernel window over images of rows and columns; Invalid if it does not fit."""
    out = window_sizes(sizes, kernel, strides, dilations, pads)
    pairs = ((pair[0], pair[1]) for pair in (out, kernel, strides, dilations, pads))
    return Window(*pairs)


def need_pool(
    window: Window, sizes: Shape, mode: str, divisor: str, multiplier: int, shift: int
) -> None:
    """Raise Invalid unless pools of images of some size can be computed exactly."""
    if mode not in POOL_MODES:
        raise Invalid(f"mode is '{mode}', must be one of {', '.join(POOL_MODES)}")
    if divisor not in DIVISORS:
        raise Invalid(f"divisor is '{divisor}', must be one of {', '.join(DIVISORS)}")
    if window.misses(sizes):
        raise Invalid("pools a window that has nothing of the image")
    if window.taps > MOST_TAPS:
        raise Invalid(f"pools windows of {window.taps} values, must be at most {MOST_TAPS}")
    exact = window.taps << shift <= MOST_DIVISOR
    if mode == "average" and divisor == "inside" and not exact:
        raise Invalid(f"divides by {window.taps} << {shift}, which must be at most 2^61")


def window_sizes(
    sizes: Shape, kernel: Shape, strides: Shape, dilations: Shape, pads: Shape
) -> tuple[int, int]:
    """Return the rows and columns of the result; raise Invalid if there are none."""
    for what, pair in (("kernel", kernel), ("strides", strides), ("dilations", dilations)):
        need_pair(what, pair, 1)
    if len(pads) != 4 or min(pads) < 0:
        raise Invalid(f"pads are {tuple(pads)}, must be 4 numbers, none negative")
    counts: list[int] = []
    for axis, name in enumerate(("rows", "columns")):
        padded = pads[axis] + sizes[axis] + pads[axis + 2]
        extent = (kernel[axis] - 1) * dilations[axis] + 1
        if extent > padded:
            raise Invalid(f"kernel spans {extent} {name}, the padded image has {padded}")
        counts.append((padded - extent) // strides[axis] + 1)
    return counts[0], counts[1]
