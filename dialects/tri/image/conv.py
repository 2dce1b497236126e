"""Convolution and its transpose, over one to three spatial axes."""

import math

import numpy as np

from ...core.attributes import tensor_of
from ...core.errors import Invalid
from ...core.fields import Operand, Result
from ...core.numerics.precision import narrow, widen
from ...core.sizes.atoms import Size
from ...core.sizes.checks import need, need_divides, need_same, need_same_shape
from ...core.tensor import Array, Shape, Tensor, same_dtype
from ..dialect import TriOp
from .window import Window


class Convolution(TriOp, abstract=True):
    """Base of convolutions of `x` by kernels `w`, with channels in `group` parts."""

    x: Operand
    w: Operand
    strides: tuple[int, ...]
    pads: tuple[int, ...]
    dilations: tuple[int, ...]
    group: int = 1
    y: Result

    def window(self, kernel: Shape) -> Window:
        """Return the window that moves over the spatial axes, of the sizes of a kernel."""
        return Window(kernel, self.strides, self.pads, self.dilations)


class Conv(Convolution):
    """Contract every window of `x` with the kernels `w`, and add the bias `b`.

    `x` is [N, C, spatial…], `w` is [O, C / group, kernel…], `b` is [O], `y` is [N, O, windows…].
    Channels are split into `group` parts that do not see one another. Half types are summed in
    f32. Source: ONNX `Conv`.
    """

    b: Operand | None = None

    anchor = True

    @property
    def is_depthwise(self) -> bool:
        """Report whether each channel has its own kernel, so that no output sums over channels."""
        outputs, channels, *_ = tensor_of(self.w.type).shape
        return channels == 1 and outputs == self.group

    def infer(self, x: Tensor, w: Tensor, b: Tensor | None = None) -> Tensor:
        dtype = same_dtype(x, w, b)
        _check_ranks(x, w)
        outputs, channels = w.shape[:2]
        _check_groups(x.shape[1], channels * self.group, outputs, self.group)
        _check_bias(b, outputs)
        window = self.window(w.shape[2:])
        return Tensor((x.shape[0], outputs, *window.output_sizes(x.shape[2:])), dtype)

    def reference(self, x: Array, w: Array, b: Array | None = None) -> Array:
        window = self.window(w.shape[2:])
        sizes = window.output_sizes(x.shape[2:])
        taps, pixels = math.prod(window.kernel), math.prod(sizes)
        batch, channels = x.shape[:2]
        # One column for each window, in the order of the kernel's elements: a matrix product.
        columns = np.stack(list(window.slide(widen(x), 0)), axis=2)
        columns = columns.reshape(batch, self.group, channels // self.group * taps, pixels)
        kernels = widen(w).reshape(
            self.group, w.shape[0] // self.group, channels // self.group * taps
        )
        y = (kernels @ columns).reshape(batch, w.shape[0], *sizes)
        return narrow(_add_bias(y, b), x)


class ConvTranspose(Convolution):
    """Spread every element of `x` over a window of `y` by the kernels `w`: Conv's gradient.

    `x` is [N, C, spatial…], `w` is [C, O / group, kernel…], `b` is [O], `y` is [N, O, spatial…].
    `pads` are cut off, `output_padding` is added at the ends. Half types are summed in f32.
    Source: ONNX `ConvTranspose`.
    """

    b: Operand | None = None
    output_padding: tuple[int, ...]

    anchor = True

    def infer(self, x: Tensor, w: Tensor, b: Tensor | None = None) -> Tensor:
        dtype = same_dtype(x, w, b)
        _check_ranks(x, w)
        outputs = w.shape[1] * self.group
        _check_groups(x.shape[1], w.shape[0], outputs, self.group)
        _check_bias(b, outputs)
        window = self.window(w.shape[2:])
        sizes = _padded_outputs(window, x.shape[2:], self.output_padding)
        return Tensor((x.shape[0], outputs, *sizes), dtype)

    def reference(self, x: Array, w: Array, b: Array | None = None) -> Array:
        window = self.window(w.shape[2:])
        batch, channels, *inputs = x.shape
        taps, outputs = math.prod(window.kernel), w.shape[1] * self.group
        kernels = widen(w).reshape(self.group, channels // self.group, w.shape[1] * taps)
        pixels = widen(x).reshape(batch, self.group, channels // self.group, math.prod(inputs))
        columns = kernels.swapaxes(1, 2) @ pixels
        columns = columns.reshape(batch, outputs, taps, *inputs)
        sizes = _padded_outputs(window, tuple(inputs), self.output_padding)
        around = zip(sizes, window.begins, window.ends, strict=True)
        full = np.zeros((batch, outputs, *(b + s + e for s, b, e in around)), columns.dtype)
        for index, tap in enumerate(window.taps(tuple(inputs))):
            full[(..., *tap)] += columns[:, :, index]
        kept = zip(window.begins, sizes, strict=True)
        y = full[(..., *(slice(begin, begin + size) for begin, size in kept))]
        return narrow(_add_bias(y, b), x)


def _check_ranks(x: Tensor, w: Tensor) -> None:
    if not 3 <= x.rank <= 5:
        raise Invalid(f"input has rank {x.rank}, must have 3 to 5: batch, channels, spatial axes")
    if w.rank != x.rank:
        raise Invalid(f"weight has rank {w.rank}, input has {x.rank}, must be the same")


def _check_groups(channels: Size, expected: Size, outputs: Size, group: int) -> None:
    need(group, 1, f"group is {group}, must be at least 1")
    need_same(
        channels,
        expected,
        f"input has {channels} channels, weight with {group} groups takes {expected}",
    )
    for count in (channels, outputs):
        need_divides(
            count, group, f"{channels} to {outputs} channels do not split in {group} groups"
        )


def _check_bias(b: Tensor | None, outputs: Size) -> None:
    if b is not None:
        fault = f"bias is {b}, must have one axis of {outputs} elements"
        need_same_shape(b.shape, (outputs,), fault)


def _padded_outputs(window: Window, inputs: Shape, output_padding: Shape) -> Shape:
    """Count the outputs of a transposed convolution; Invalid when padding leaves none."""
    if len(output_padding) != window.rank:
        raise Invalid(f"output_padding has {len(output_padding)} entries, must have {window.rank}")
    for extra in output_padding:
        need(extra, 0, f"output_padding is {output_padding}, must be at least 0")
    pairs = zip(window.input_sizes(inputs), output_padding, strict=True)
    sizes = tuple(size + extra for size, extra in pairs)
    for size in sizes:
        need(size, 1, f"pads {window.pads} leave an output of sizes {sizes}")
    return sizes


def _add_bias(y: Array, b: Array | None) -> Array:
    return y if b is None else y + widen(b).reshape(-1, *(1,) * (y.ndim - 2))
