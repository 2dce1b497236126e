"""Convolution with packed kernels."""

import math

import numpy as np

from ..core.errors import Invalid
from ..core.fields import Operand, Result
from ..core.sizes.checks import need_divides
from ..core.tensor import Array, Shape, Tensor
from ..tri.image.conv import Conv
from .dialect import CpuOp
from .packing import (
    join_parts,
    need_count,
    pack_last_axis,
    plain_columns,
    split_rows,
    unpack_columns,
    unpack_rows,
)


class PackedKernelConv(CpuOp, abstract=True):
    """Base of convolutions of plain images with packed kernels.

    `kernel` is the shape of a window, `outputs` counts the outputs of all groups.
    """

    x: Operand
    w: Operand
    outputs: int
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    pads: tuple[int, ...]
    dilations: tuple[int, ...]
    y: Result

    anchor = True

    def plain(self, group: int = 1) -> Conv:
        """Return the convolution by the kernels before they were packed."""
        return Conv(strides=self.strides, pads=self.pads, dilations=self.dilations, group=group)


class PackedConv(PackedKernelConv):
    """Convolve as `tri.conv` does, with kernels in the order in which code reads them.

    `w` is [group, outputs / group * channels / group * taps], each group packed by `pack_rows`
    with `block`: a row is one output. Code works on `vectors` vectors of pixels at a time; 0 leaves
    that open.
    """

    b: Operand | None = None
    block: int
    vectors: int = 0

    def infer(self, x: Tensor, w: Tensor, b: Tensor | None = None) -> Tensor:
        need_count("vectors", self.vectors)
        plain = Tensor(_plain_shape(w, self.outputs, self.block, self.kernel), w.dtype)
        return self.plain(w.shape[0]).infer(x, plain, b)

    def reference(self, x: Array, w: Array, b: Array | None = None) -> Array:
        shape = _plain_shape(Tensor.of(w), self.outputs, self.block, self.kernel)
        plain = unpack_rows(w, self.outputs // w.shape[0], self.block).reshape(shape)
        return self.plain(w.shape[0]).reference(x, plain, b)


class PanelConv(PackedKernelConv):
    """Convolve as `tri.conv` does, in one group, with vectors across outputs.

    `w` is [panels, taps * channels, outputs of a panel], made by `pack_kernel_columns`: a column is
    one output; others are filling. Code works on `rows` pixels at a time; 0 leaves that open.
    """

    b: Operand | None = None
    rows: int = 0

    def infer(self, x: Tensor, w: Tensor, b: Tensor | None = None) -> Tensor:
        need_count("rows", self.rows)
        plain = Tensor(_panel_shape(w, self.outputs, self.kernel), w.dtype)
        return self.plain().infer(x, plain, b)

    def reference(self, x: Array, w: Array, b: Array | None = None) -> Array:
        plain = unpack_kernel_columns(w, self.outputs, self.kernel)
        return self.plain().reference(x, plain, b)


def pack_kernels(w: Array, group: int, block: int) -> Array:
    """Bring the kernels of a `tri.conv` into the order of a `cpu.packed_conv`."""
    return join_parts(split_kernels(w, group, block))


def split_kernels(w: Array, group: int, block: int) -> list[Array]:
    """Return the parts that `pack_kernels` joins: [group, blocks, depth, outputs of a block]."""
    return split_rows(w.reshape(group, w.shape[0] // group, -1), block)


def _plain_shape(w: Tensor, outputs: int, block: int, kernel: tuple[int, ...]) -> Shape:
    """Return the shape of the kernels before they were packed."""
    if w.rank != 2:
        raise Invalid(f"weight has rank {w.rank}, must have 2: groups, packed kernels")
    if block < 1:
        raise Invalid(f"block is {block}, must be at least 1")
    group, size = w.shape
    taps = outputs * math.prod(kernel)
    fault = f"weight {w} does not hold {outputs} kernels of {kernel} in {group} groups"
    need_divides(outputs, group, fault)
    need_divides(group * size, taps, fault)
    return (outputs, group * size // taps, *kernel)


def pack_kernel_columns(w: Array, block: int) -> Array:
    """Bring the kernels of a `tri.conv` of one group into the order of a `cpu.panel_conv`."""
    outputs, channels, *kernel = w.shape
    taps = w.reshape(outputs, channels, math.prod(kernel)).transpose(2, 1, 0)
    packed = pack_last_axis(taps, block)
    return packed.reshape(len(packed), math.prod(kernel) * channels, block)


def unpack_kernel_columns(packed: Array, outputs: int, kernel: tuple[int, ...]) -> Array:
    """Undo `pack_kernel_columns`; Invalid where nothing can have been packed to that."""
    _, channels, *_ = _panel_shape(Tensor.of(packed), outputs, kernel)
    turned = unpack_columns(packed, outputs).T.reshape(outputs, *kernel, channels)
    return np.moveaxis(turned, -1, 1)


def _panel_shape(w: Tensor, outputs: int, kernel: tuple[int, ...]) -> Shape:
    """Return the shape of the kernels before they were packed in panels."""
    depth, columns = plain_columns(w, outputs)
    taps = math.prod(kernel)
    need_divides(depth, taps, f"weight {w} does not hold windows of {kernel}")
    return (columns, depth // taps, *kernel)
