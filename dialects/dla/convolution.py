"""Integer convolutions and pools on tensors."""

import numpy as np

from ..core.errors import Invalid
from ..core.fields import Operand, Result
from ..core.numerics.fixed_point import multiply_shift
from ..core.numerics.integers import Window, dense_sums, depthwise_sums, require_i32
from ..core.tensor import Array, Shape, Tensor
from .arithmetic import Convolution, Pooling
from .dialect import TensorOp, need_image, need_pair, stacked


class Conv(TensorOp, Convolution):
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
    strides: tuple[int, ...] = (1, 1)
    dilations: tuple[int, ...] = (1, 1)
    pads: tuple[int, ...] = (0, 0, 0, 0)
    multiplier: tuple[int, ...]
    shift: tuple[int, ...]
    y: Result

    packet = "conv"

    def infer(self, x: Tensor, w: Tensor, bias: Tensor) -> Tensor:
        batch, rows, columns, channels = need_image("x", x)
        self.check_mode()
        if w.dtype != "i8" or w.rank != (4 if self.mode == "dense" else 3) or not w.size:
            raise Invalid(f"weights of a {self.mode} conv are {w}")
        if w.shape[2] != channels:
            raise Invalid(f"weights are of {w.shape[2]} channels, x has {channels}")
        filters = w.shape[-1]
        if bias != Tensor((filters,), "i32"):
            raise Invalid(f"bias is {bias}, must be {Tensor((filters,), 'i32')}")
        if len(self.multiplier) != len(self.shift) or len(self.shift) not in (1, filters):
            counts = f"{len(self.multiplier)} multipliers and {len(self.shift)} shifts"
            raise Invalid(f"has {counts}, must have 1 or {filters} of each")
        self.check_scales(self.multiplier, self.shift)
        out = window_sizes((rows, columns), w.shape[:2], self.strides, self.dilations, self.pads)
        return Tensor((batch, *out, filters), "i8")

    def reference(self, x: Array, w: Array, bias: Array) -> Array:
        window = window_of(x.shape[1:3], w.shape[:2], self.strides, self.dilations, self.pads)
        kernel = w.reshape(window.taps, *w.shape[2:])
        # x - zero has 9 bits: the zero point is folded into the bias instead, as in the packet.
        axes = (0, 1) if self.mode == "dense" else (0,)
        folded = bias - self.source_zero * kernel.astype(np.int64).sum(axis=axes)
        sums_of = dense_sums if self.mode == "dense" else depthwise_sums
        images: list[Array] = []
        for image in x:
            sums = sums_of(image, kernel, window, self.source_zero) + folded
            require_i32(sums)
            scaled = multiply_shift(
                sums, np.array(self.multiplier), np.array(self.shift), self.rounding
            )
            images.append(self.clamp(scaled))
        return stacked(images)


class Pool(TensorOp, Pooling):
    """Take the greatest value or the average of each window; only values in the image count.

    y = clamp(round(p * multiplier / 2^shift) + destination_zero), where p is the greatest value, or
    the sum of values, without their zero point. With `divisor` "none" the multiplier contains one
    over the count; with "inside", the sum is divided by the number of values in the image as well,
    by one exact division rounded half away from zero.
    """

    x: Operand
    kernel: tuple[int, ...]
    strides: tuple[int, ...] = (1, 1)
    dilations: tuple[int, ...] = (1, 1)
    pads: tuple[int, ...] = (0, 0, 0, 0)
    y: Result

    packet = "pool"

    def infer(self, x: Tensor) -> Tensor:
        batch, rows, columns, channels = need_image("x", x)
        window = window_of((rows, columns), self.kernel, self.strides, self.dilations, self.pads)
        self.check_pool(window, (rows, columns))
        return Tensor((batch, *window.out, channels), "i8")

    def reference(self, x: Array) -> Array:
        window = window_of(x.shape[1:3], self.kernel, self.strides, self.dilations, self.pads)
        return stacked([self.pool(image, window) for image in x])


def window_of(sizes: Shape, kernel: Shape, strides: Shape, dilations: Shape, pads: Shape) -> Window:
    """Return the kernel window over images of rows and columns; Invalid if it does not fit."""
    out = window_sizes(sizes, kernel, strides, dilations, pads)
    pairs = ((pair[0], pair[1]) for pair in (out, kernel, strides, dilations, pads))
    return Window(*pairs)


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
