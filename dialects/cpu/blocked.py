"""Ops on blocked images, in which the channels of a pixel are stored vector by vector.

A blocked image is [N, C / lanes, spatial…, lanes]. Windows never leave the image: a convolution
with padding reads an image to which `tri.pad` has added a border of zeros.
"""

import math

import numpy as np

from ..core.errors import Invalid
from ..core.fields import Operand, Result
from ..core.sizes.atoms import Size
from ..core.sizes.checks import need, need_divides, need_same
from ..core.tensor import Array, Shape, Tensor, same_dtype
from ..tri.image.conv import Conv
from .conv import pack_kernel_columns, unpack_kernel_columns
from .dialect import CpuOp
from .packing import need_count, plain_columns


class Block(CpuOp):
    """Put `lanes` channels of each pixel side by side.

    `x` is [N, C, spatial…], `y` is [N, C / lanes, spatial…, lanes].
    """

    x: Operand
    lanes: int
    y: Result

    anchor = True
    allows_pad_epilogue = True

    def infer(self, x: Tensor) -> Tensor:
        return Tensor(blocked_shape(x.shape, self.lanes), x.dtype)

    def reference(self, x: Array) -> Array:
        batch, _, *spatial = x.shape
        return np.moveaxis(x.reshape(batch, -1, self.lanes, *spatial), 2, -1)


class Unblock(CpuOp):
    """Put all pixels of a channel side by side again: the inverse of `cpu.block`.

    `x` is [N, C / lanes, spatial…, lanes], `y` is [N, C, spatial…].
    """

    x: Operand
    y: Result

    def infer(self, x: Tensor) -> Tensor:
        return Tensor(plain_shape(x.shape), x.dtype)

    def reference(self, x: Array) -> Array:
        return np.moveaxis(x, -1, 2).reshape(plain_shape(x.shape))


class BlockedKernelConv(CpuOp, abstract=True):
    """Base of convolutions to a blocked image, with no padding."""

    x: Operand
    w: Operand
    b: Operand | None = None
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    y: Result

    anchor = True
    allows_pad_epilogue = True

    def infer_blocked(
        self, image: Tensor, kernels: Tensor, b: Tensor | None, lanes: int, group: int
    ) -> Tensor:
        """Return the type of the blocked result of a plain image and plain kernels."""
        y = self._plain(group).infer(image, kernels, b)
        return Tensor(blocked_shape(y.shape, lanes), same_dtype(image, kernels, b))

    def convolve_blocked(
        self, image: Array, kernels: Array, b: Array | None, lanes: int, group: int
    ) -> Array:
        """Return the blocked result of a plain image and plain kernels."""
        return Block(lanes=lanes).reference(self._plain(group).reference(image, kernels, b))

    def _plain(self, group: int) -> Conv:
        pads = (0,) * 2 * len(self.strides)
        return Conv(strides=self.strides, pads=pads, dilations=self.dilations, group=group)


class BlockedConv(BlockedKernelConv):
    """Convolve to a blocked image, with vectors across outputs; no padding.

    `x` is a blocked image, or a plain one where there is one group. `w` is [panels, taps * channels
    of a group, outputs of a panel]: of each of `group` groups as many panels, made by
    `pack_group_columns`. `b` is [outputs]. Code works on `rows` pixels at a time; 0 leaves that
    open. `border`, begins of all axes, then ends, says how far from its edges the image is zero:
    code may pass over that.
    """

    outputs: int
    lanes: int
    group: int = 1
    rows: int = 0
    border: tuple[int, ...] = ()

    def infer(self, x: Tensor, w: Tensor, b: Tensor | None = None) -> Tensor:
        need_count("rows", self.rows)
        check_border(x, self.border, len(self.kernel))
        blocked = x.rank == len(self.kernel) + 3
        if self.group > 1 and not blocked:
            raise Invalid(f"has {self.group} groups, must have 1 for an image that is not blocked")
        image = Tensor(plain_shape(x.shape), x.dtype) if blocked else x
        plain = Tensor(_plain_kernels(w, self.outputs, self.group, self.kernel), w.dtype)
        if self.group > 1:
            _need_whole_blocks(plain.shape[1], self.outputs // self.group, x.shape[-1], self.lanes)
        return self.infer_blocked(image, plain, b, self.lanes, self.group)

    def reference(self, x: Array, w: Array, b: Array | None = None) -> Array:
        image = Unblock().reference(x) if x.ndim == len(self.kernel) + 3 else x
        kernels = unpack_group_columns(w, self.outputs, self.group, self.kernel)
        return self.convolve_blocked(image, kernels, b, self.lanes, self.group)


def check_border(x: Tensor, border: tuple[int, ...], rank: int) -> None:
    """Raise Invalid unless a border, begins of all axes, then ends, is none or within an image."""
    if border and len(border) != 2 * rank:
        raise Invalid(f"border has {len(border)} numbers, must have {2 * rank} or none")
    for size, begin, end in zip(x.shape[2:], border[:rank], border[rank:], strict=False):
        fault = f"border is {begin} and {end}, must be within a size of {size}"
        need(min(begin, end), 0, fault)
        need(size, begin + end, fault)


class LaneConv(BlockedKernelConv):
    """Convolve blocked images whose groups are parts of a block; no padding.

    `w` is [blocks, taps, channels of a group, lanes], made by `pack_lanes`: the kernels of the
    outputs of a block are interleaved. The op has as many outputs as inputs. `b` is [outputs].
    """

    def infer(self, x: Tensor, w: Tensor, b: Tensor | None = None) -> Tensor:
        image = Tensor(plain_shape(x.shape), x.dtype)
        shape = _plain_lanes(w, self.kernel)
        lanes, other = w.shape[-1], x.shape[-1]
        need_same(lanes, other, f"weight {w} has blocks of {lanes}, the image of {other}")
        group = shape[0] // shape[1]
        return self.infer_blocked(image, Tensor(shape, w.dtype), b, x.shape[-1], group)

    def reference(self, x: Array, w: Array, b: Array | None = None) -> Array:
        shape = _plain_lanes(Tensor.of(w), self.kernel)
        plain = np.moveaxis(w, -1, 1).swapaxes(2, 3).reshape(shape)
        group = shape[0] // shape[1]
        return self.convolve_blocked(Unblock().reference(x), plain, b, x.shape[-1], group)


def blocked_shape(shape: Shape, lanes: int) -> Shape:
    """Return the shape of an image in blocks of `lanes` channels; raise Invalid unless they fit."""
    if len(shape) < 2:
        raise Invalid(f"image has rank {len(shape)}, must have at least 2")
    need_divides(shape[1], lanes, f"cuts {shape[1]} channels into blocks of {lanes}")
    return (shape[0], shape[1] // lanes, *shape[2:], lanes)


def plain_shape(shape: Shape) -> Shape:
    """Return the shape of a blocked image before it was blocked."""
    if len(shape) < 3:
        raise Invalid(f"image has rank {len(shape)}, must have at least 3: it is blocked")
    batch, blocks, *spatial, lanes = shape
    return (batch, blocks * lanes, *spatial)


def pack_group_columns(w: Array, group: int, block: int) -> Array:
    """Bring the kernels of a `tri.conv` into the order of a `cpu.blocked_conv`."""
    parts = [pack_kernel_columns(part, block) for part in np.split(w, group)]
    return parts[0] if group == 1 else np.concatenate(parts)


def unpack_group_columns(w: Array, outputs: int, group: int, kernel: tuple[int, ...]) -> Array:
    """Undo `pack_group_columns`."""
    parts = [unpack_kernel_columns(p, outputs // group, kernel) for p in np.split(w, group)]
    return np.concatenate(parts)


def pack_lanes(w: Array, lanes: int) -> Array:
    """Bring the kernels of a `tri.conv` into the order of a `cpu.lane_conv`."""
    outputs, channels = w.shape[:2]
    parts = w.reshape(outputs // lanes, lanes, channels, -1)
    return np.ascontiguousarray(parts.transpose(0, 3, 2, 1))


def _plain_kernels(w: Tensor, outputs: int, group: int, kernel: tuple[int, ...]) -> Shape:
    """Return the shape of the kernels before they were packed in panels, group by group."""
    fault = f"weight {w} does not hold {outputs} kernels in {group} groups"
    if w.rank != 3:
        raise Invalid(fault)
    need_divides(w.shape[0], group, fault)
    need_divides(outputs, group, fault)
    part = Tensor((w.shape[0] // group, *w.shape[1:]), w.dtype)
    depth, columns = plain_columns(part, outputs // group)
    taps = math.prod(kernel)
    need_divides(depth, taps, f"weight {w} does not hold windows of {kernel}")
    return (columns * group, depth // taps, *kernel)


def _plain_lanes(w: Tensor, kernel: tuple[int, ...]) -> Shape:
    """Return the shape of the kernels before their lanes were packed."""
    fault = f"weight {w} does not hold blocks of kernels of {kernel}"
    if w.rank != 4:
        raise Invalid(fault)
    need_same(w.shape[1], math.prod(kernel), fault)
    blocks, _, channels, lanes = w.shape
    fault = f"weight {w} has groups of {channels} channels, must be parts of {lanes}"
    need_divides(lanes, channels, fault)
    return (blocks * lanes, channels, *kernel)


def _need_whole_blocks(channels: Size, outputs: Size, inputs: Size, lanes: Size) -> None:
    fault = (
        f"has groups of {channels} channels and {outputs} outputs, must be whole blocks of "
        f"{inputs} and {lanes}"
    )
    need_divides(channels, inputs, fault)
    need_divides(outputs, lanes, fault)
