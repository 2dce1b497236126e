"""Transposed convolution of blocked images."""

import math
from itertools import product

import numpy as np

from ..core.errors import Invalid
from ..core.fields import Operand, Result
from ..core.sizes.checks import need, need_divides, need_same, need_same_shape
from ..core.tensor import Array, Shape, Tensor, same_dtype
from ..tri.image.conv import Conv
from .blocked import Block, Unblock, blocked_shape, pack_group_columns, unpack_group_columns
from .dialect import CpuOp
from .packing import need_count


class BlockedConvTranspose(CpuOp):
    """Spread every pixel of a blocked image over a window of a blocked image.

    Results that are a stride apart see the same taps of the kernels: each such set, a phase, is a
    convolution of stride 1 with kernels of `kernel` taps. Result j of an axis is of phase
    j % stride; its window begins at j // stride in `x`, one later where (j % stride) + crop reaches
    the stride. So `crop` results before the first one are left out, and `x` has the padding.

    `w` is [panels, taps * channels, outputs of a panel]: of each phase as many panels, made by
    `pack_phases`. `b` is [outputs]. `sizes` are those of the result, whole multiples of `strides`.
    Code works on `rows` pixels of a phase at a time; 0 leaves that open.
    """

    x: Operand
    w: Operand
    b: Operand | None = None
    outputs: int
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    crops: tuple[int, ...]
    sizes: tuple[int, ...]
    rows: int = 0
    y: Result

    anchor = True
    allows_pad_epilogue = True

    def infer(self, x: Tensor, w: Tensor, b: Tensor | None = None) -> Tensor:
        need_count("rows", self.rows)
        batch, blocks, *image, lanes = x.shape
        if (
            not len(image)
            == len(self.kernel)
            == len(self.strides)
            == len(self.crops)
            == len(self.sizes)
        ):
            raise Invalid(
                f"image {x} does not have the axes of kernel {self.kernel} and its strides"
            )
        for seen, taps, stride, crop, size in zip(
            image, self.kernel, self.strides, self.crops, self.sizes, strict=True
        ):
            if stride < 1 or not 0 <= crop < stride:
                raise Invalid(f"crops {crop} results of stride {stride}, must be fewer than that")
            fault = f"makes {size} results, must be a multiple of the stride {stride}"
            need_divides(size, stride, fault)
            wanted = size // stride + (crop > 0) + taps - 1
            fault = f"image has {seen} pixels on an axis, must have at least {wanted}"
            need(seen, wanted, fault)
        phases = math.prod(self.strides)
        depth = math.prod(self.kernel) * blocks * lanes
        fault = f"weight {w} does not hold {self.outputs} kernels for each of {phases} phases"
        if w.rank != 3:
            raise Invalid(fault)
        need_same(w.shape[1], depth, fault)
        need(w.shape[0] * w.shape[2], phases * self.outputs, fault)
        if b is not None:
            fault = f"bias is {b}, must have one axis of {self.outputs} elements"
            need_same_shape(b.shape, (self.outputs,), fault)
        plain = (batch, self.outputs, *self.sizes)
        return Tensor(blocked_shape(plain, lanes), same_dtype(x, w, b))

    def reference(self, x: Array, w: Array, b: Array | None = None) -> Array:
        image, ones = Unblock().reference(x), (1,) * len(self.kernel)
        phases = list(product(*map(range, self.strides)))
        kernels = unpack_group_columns(w, self.outputs * len(phases), len(phases), self.kernel)
        y = np.zeros((image.shape[0], self.outputs, *self.sizes), x.dtype)
        for phase, part in zip(phases, np.split(kernels, len(phases)), strict=True):
            axes = list(zip(phase, self.crops, self.strides, self.sizes, self.kernel, strict=True))
            starts = [(p + crop) // stride for p, crop, stride, _, _ in axes]
            counts = [size // stride + taps - 1 for _, _, stride, size, taps in axes]
            seen = tuple(slice(s, s + n) for s, n in zip(starts, counts, strict=True))
            made = tuple(slice(p, None, stride) for p, _, stride, _, _ in axes)
            y[(..., *made)] = Conv(
                strides=ones, pads=(0,) * 2 * len(self.kernel), dilations=ones
            ).reference(image[(..., *seen)], part, b)
        return Block(lanes=x.shape[-1]).reference(y)


def phase_taps(kernel: Shape, strides: Shape) -> Shape:
    """Return the number of taps that contribute to one result of a transposed conv, per axis."""
    return tuple(-(-size // stride) for size, stride in zip(kernel, strides, strict=True))


def phase_kernels(w: Array, strides: Shape, crops: Shape) -> Array:
    """Turn kernels [C, O, kernel…] of a `tri.conv_transpose` to [phases…, O, C, taps…].

    Phase 0 is that of the result after `crops` others. Kernels are filled up with zeros where they
    are no whole multiple of the strides.
    """
    rank = len(strides)
    taps = phase_taps(w.shape[2:], strides)
    missing = [
        (0, count * stride - size)
        for count, stride, size in zip(taps, strides, w.shape[2:], strict=True)
    ]
    filled = np.pad(w, [(0, 0), (0, 0), *missing])
    axes = [size for pair in zip(taps, strides, strict=True) for size in pair]
    split = filled.reshape((*w.shape[:2], *axes))
    of_taps, of_phases = (tuple(range(2 + first, 2 + 2 * rank, 2)) for first in (0, 1))
    phases = split.transpose((*of_phases, 1, 0, *of_taps))
    phases = np.roll(phases, [-crop for crop in crops], tuple(range(rank)))
    return np.flip(phases, tuple(range(rank + 2, 2 * rank + 2)))


def pack_phases(w: Array, strides: Shape, crops: Shape, block: int) -> Array:
    """Bring kernels [C, O, kernel…] into the order of a `cpu.blocked_conv_transpose`."""
    phases = phase_kernels(w, strides, crops)
    rank = len(strides)
    flat = phases.reshape((-1, *phases.shape[rank + 1 :]))
    return pack_group_columns(flat, math.prod(strides), block)
