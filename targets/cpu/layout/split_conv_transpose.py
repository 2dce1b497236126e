"""Run transposed convolutions as plain ones."""

import math
from itertools import chain

import numpy as np

from ....dialects import cpu, tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.machine import NATIVE, find_machine
from ....dialects.core.module import Module
from ....dialects.core.op import Op
from ....dialects.core.tensor import DTYPES, Array, Shape
from ....passes.core import Pass
from ....passes.rewriting import NoMatch, Rewriter, rewrite
from ..schedule.machine_pattern import MachinePattern
from .conv_phases import BlockedPhases, need_dense_phases
from .packed_constants import packed_constant


class SplitConvTranspose(Pass):
    """Run transposed convolutions with constant kernels as plain ones, in one or two dimensions.

    Outputs that are a stride apart use the same taps of the kernel. Each set of them is a
    convolution of stride 1; all sets are one convolution, followed by depth-to-space. Ops that a
    `machine` computes on blocked images are left to `choose-layouts`.

        tri.conv_transpose %x, %w {strides = 2, 2}   =>   tri.slice (tri.depth_to_space (tri.conv
                                                              %x, %w_split) {blocksize = 2})
        tri.conv_transpose %x, %w {strides = 1, 1}   =>   tri.conv %x, %w_turned
    """

    machine: str = NATIVE

    def run(self, module: Module) -> None:
        rewrite(module, _Split(find_machine(self.machine)))


class _Split(MachinePattern):
    root = tri.ConvTranspose

    def rewrite(self, op: tri.ConvTranspose, rewriter: Rewriter) -> None:
        need_dense_phases(op)
        rewriter.need_weight(op.w)
        if self._runs_on_blocks(op):
            raise NoMatch("is computed on blocked images")
        strides, rank = op.strides, len(op.strides)
        if op.b is not None:
            rewriter.need_weight(op.b)
        taps = cpu.phase_taps(tensor_of(op.w.type).shape[2:], strides)
        sizes, inputs = (tensor_of(v.type).shape[2:] for v in (op.y, op.x))
        # Sets of outputs before the first one that is kept, and up to the last one.
        axes = list(zip(op.pads[:rank], strides, strict=True))
        first = [begin // stride for begin, stride in axes]
        last = [
            -(-(begin + size) // stride) for (begin, stride), size in zip(axes, sizes, strict=True)
        ]
        before = [count - 1 - start for count, start in zip(taps, first, strict=True)]
        after = [stop - size for stop, size in zip(last, inputs, strict=True)]
        if min(*before, *after) < 0:
            raise NoMatch("cuts off whole inputs")
        w = packed_constant(op, op.w, lambda w: _split_kernels(w, op.group, strides), rewriter)
        b = None
        if op.b is not None:
            b = packed_constant(op, op.b, lambda b: _split_bias(b, op.group, strides), rewriter)
        with rewriter.before(op):
            spread = tri.Conv.build(
                op.x,
                w,
                b,
                strides=(1,) * rank,
                pads=(*before, *after),
                dilations=(1,) * rank,
                group=op.group,
            )
            made = _interleaved(spread, strides, op.group)
            starts = [begin % stride for begin, stride in axes]
            rewriter.replace(op, _cropped(made, starts, tensor_of(op.y.type).shape))

    def _runs_on_blocks(self, op: tri.ConvTranspose) -> bool:
        try:
            BlockedPhases.of(op, self.machine.lanes(DTYPES["f32"].bits))
        except NoMatch:
            return False
        return True


def _split_kernels(w: Array, group: int, strides: Shape) -> Array:
    """Turn [C, O / group, kernel…] to the kernels [O * strides, C / group, taps…] of all sets."""
    rank, none = len(strides), (0,) * len(strides)
    parts = [cpu.phase_kernels(part, strides, none) for part in np.split(w, group)]
    if _follow(group, strides):
        return np.ascontiguousarray(parts[0].reshape(-1, *parts[0].shape[rank + 1 :]))
    sets = [np.moveaxis(part, rank, 0) for part in parts]
    shape = sets[0].shape
    joined = np.concatenate(sets).reshape(-1, *shape[rank + 1 :])
    return np.ascontiguousarray(joined)


def _split_bias(b: Array, group: int, strides: Shape) -> Array:
    sets = math.prod(strides)
    return np.tile(b, sets) if _follow(group, strides) else b.repeat(sets)


def _follow(group: int, strides: Shape) -> bool:
    """Return whether sets follow one another, so that a block of channels is of one set.

    Otherwise the sets of an output do, as those of a group must.
    """
    return group == 1 and _is_square(strides)


def _is_square(strides: Shape) -> bool:
    return len(strides) == 2 and len(set(strides)) == 1


def _interleaved(spread: tri.Conv, strides: Shape, group: int) -> Op:
    """Move the results of all sets, which are channels, to their positions in the image."""
    if math.prod(strides) == 1:
        return spread
    rank = len(strides)
    if _is_square(strides):
        mode = "DCR" if _follow(group, strides) else "CRD"
        return tri.DepthToSpace.build(spread.y, blocksize=strides[0], mode=mode)
    batch, channels, *sizes = tensor_of(spread.y.type).shape
    outputs = channels // math.prod(strides)
    split = tri.Reshape.build(spread.y, shape=(batch, outputs, *strides, *sizes))
    pairs = chain(*zip(range(2 + rank, 2 + 2 * rank), range(2, 2 + rank), strict=True))
    moved = tri.Transpose.build(split.y, permutation=(0, 1, *pairs))
    image = [size * stride for size, stride in zip(sizes, strides, strict=True)]
    return tri.Reshape.build(moved.y, shape=(batch, outputs, *image))


def _cropped(made: Op, starts: list[int], shape: Shape) -> Op:
    """Slice the outputs that are kept, unless all of them are."""
    whole = made.results[0]
    if tensor_of(whole.type).shape == shape:
        return made
    return tri.Slice.build(whole, starts=(0, 0, *starts), sizes=shape, steps=(1,) * len(shape))
