"""Transposed convolution of blocked images."""

import math
from itertools import product

import numpy as np

from ..core.errors import Invalid
from ..core.fields import Operand, Result
from ..core.tensor import Array, Shape, Tensor, same_dtype
from ..tri.conv import Conv
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

    @staticmethod
    def infer(
        x: Tensor,
        w: Tensor,
        b: Tensor | None = None,
        *,
        outputs: int,
        kernel: tuple[int, ...],
        strides: tuple[int, ...],
        crops: tuple[int, ...],
        sizes: tuple[int, ...],
        rows: int = 0,
    ) -> Tensor:
        need_count("rows", rows)
        batch, blocks, *image, lanes = x.shape
        if not len(image) == len(kernel) == len(strides) == len(crops) == len(sizes):
            raise Invalid(f"image {x} does not have the axes of kernel {kernel} and its strides")
        for seen, taps, stride, crop, size in zip(
            image, kernel, strides, crops, sizes, strict=True
        ):
            if stride < 1 or not 0 <= crop < stride:
                raise Invalid(f"crops {crop} results of stride {stride}, must be fewer than that")
            if size % stride:
                raise Invalid(f"makes {size} results, must be a multiple of the stride {stride}")
            wanted = size // stride + (crop > 0) + taps - 1
            if seen < wanted:
                raise Invalid(f"image has {seen} pixels on an axis, must have at least {wanted}")
        phases = math.prod(strides)
        depth = math.prod(kernel) * blocks * lanes
        if w.rank != 3 or w.shape[1] != depth or w.shape[0] * w.shape[2] < phases * outputs:
            raise Invalid(f"weight {w} does not hold {outputs} kernels for each of {phases} phases")
        if b is not None and b.shape != (outputs,):
            raise Invalid(f"bias is {b}, must have one axis of {outputs} elements")
        plain = (batch, outputs, *sizes)
        return Tensor(blocked_shape(plain, lanes), same_dtype(x, w, b))

    @staticmethod
    def reference(
        x: Array,
        w: Array,
        b: Array | None = None,
        *,
        outputs: int,
        kernel: tuple[int, ...],
        strides: tuple[int, ...],
        crops: tuple[int, ...],
        sizes: tuple[int, ...],
        rows: int = 0,
    ) -> Array:
        image, ones = Unblock.reference(x), (1,) * len(kernel)
        phases = list(product(*map(range, strides)))
        kernels = unpack_group_columns(w, outputs * len(phases), len(phases), kernel)
        y = np.zeros((image.shape[0], outputs, *sizes), x.dtype)
        for phase, part in zip(phases, np.split(kernels, len(phases)), strict=True):
            axes = list(zip(phase, crops, strides, sizes, kernel, strict=True))
            starts = [(p + crop) // stride for p, crop, stride, _, _ in axes]
            counts = [size // stride + taps - 1 for _, _, stride, size, taps in axes]
            seen = tuple(slice(s, s + n) for s, n in zip(starts, counts, strict=True))
            made = tuple(slice(p, None, stride) for p, _, stride, _, _ in axes)
            y[(..., *made)] = Conv.reference(
                image[(..., *seen)],
                part,
                b,
                strides=ones,
                pads=(0,) * 2 * len(kernel),
                dilations=ones,
            )
        return Block.reference(y, lanes=x.shape[-1])


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
