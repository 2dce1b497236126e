"""Run transposed convolutions as plain ones."""

import numpy as np

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.module import Module
from ...dialects.core.op import Op
from ...dialects.core.tensor import Array, Shape
from ...passes.core import Pass
from ...passes.rewriting import NoMatch, Pattern, Rewriter, rewrite
from .packed_constants import constant_before, packed_constant

WASTE = 2
"""Kernels are filled up to a multiple of the stride: by at most so much that products double."""


class SplitConvTranspose(Pass):
    """Run 2-D transposed convolutions with constant kernels as plain ones.

    Outputs that are a stride apart see the same taps of the kernel: each such set is a convolution
    of stride 1, and all sets are one, whose channels `tri.depth_to_space` then spreads out.

        tri.conv_transpose %x, %w {strides = 2, 2}   =>   tri.slice (tri.depth_to_space (tri.conv
                                                              %x, %w_split) {blocksize = 2})
        tri.conv_transpose %x, %w {strides = 1, 1}   =>   tri.conv %x, %w_turned
    """

    def run(self, module: Module) -> None:
        rewrite(module, _Split())


class _Split(Pattern):
    root = tri.ConvTranspose

    def rewrite(self, op: tri.ConvTranspose, rewriter: Rewriter) -> None:
        stride, taps = _stride_and_taps(op)
        rewriter.need_constant(op.w)
        bias = None if op.b is None else rewriter.constant(op.b)
        sizes = tensor_of(op.y.type).shape[2:]
        inputs = tensor_of(op.x.type).shape[2:]
        # Sets of outputs before the first one that is kept, and up to the last one.
        first = [begin // stride for begin in op.pads[:2]]
        last = [
            -(-(begin + size) // stride) for begin, size in zip(op.pads[:2], sizes, strict=True)
        ]
        before = [count - 1 - start for count, start in zip(taps, first, strict=True)]
        after = [stop - size for stop, size in zip(last, inputs, strict=True)]
        if min(*before, *after) < 0:
            raise NoMatch("cuts off whole inputs")
        w = packed_constant(op, op.w, lambda w: _split_kernels(w, op.group, stride, taps), rewriter)
        b = None if bias is None else constant_before(op, bias.repeat(stride**2), "bias", rewriter)
        with rewriter.before(op):
            spread = tri.Conv.build(
                op.x,
                w,
                b,
                strides=(1, 1),
                pads=(*before, *after),
                dilations=(1, 1),
                group=op.group,
            )
            made: Op = spread
            if stride > 1:
                made = tri.DepthToSpace.build(spread.y, blocksize=stride, mode="CRD")
            starts = [begin % stride for begin in op.pads[:2]]
            rewriter.replace(op, _cropped(made, starts, tensor_of(op.y.type).shape))


def _stride_and_taps(op: tri.ConvTranspose) -> tuple[int, list[int]]:
    """Return the stride, and how many taps one output sees; NoMatch where this does not pay."""
    kernel = tensor_of(op.w.type).shape[2:]
    if len(kernel) != 2 or len(set(op.strides)) != 1 or set(op.dilations) != {1}:
        raise NoMatch("is not 2-D, or has unequal strides or dilations")
    stride = op.strides[0]
    taps = [-(-size // stride) for size in kernel]
    products = (taps[0] * taps[1] * stride**2) / (kernel[0] * kernel[1])
    if products > WASTE:
        raise NoMatch(f"needs {products:.1f} times the products")
    if not tensor_of(op.x.type).size:
        raise NoMatch("is empty")
    return stride, taps


def _split_kernels(w: Array, group: int, stride: int, taps: list[int]) -> Array:
    """Turn [C, O / group, kernel…] to the kernels [O * stride², C / group, taps…] of all sets."""
    channels, outputs = w.shape[0] // group, w.shape[1]
    filled = [count * stride for count in taps]
    missing = [(0, full - size) for full, size in zip(filled, w.shape[2:], strict=True)]
    padded = np.pad(w, [(0, 0), (0, 0), *missing])
    shape = (group, channels, outputs, taps[0], stride, taps[1], stride)
    sets = padded.reshape(shape).transpose(0, 2, 4, 6, 1, 3, 5)[..., ::-1, ::-1]
    return np.ascontiguousarray(sets).reshape(-1, channels, *taps)


def _cropped(made: Op, starts: list[int], shape: Shape) -> Op:
    """Take the outputs that are kept, where those are not all."""
    whole = made.results[0]
    if tensor_of(whole.type).shape == shape:
        return made
    return tri.Slice.build(whole, starts=(0, 0, *starts), sizes=shape, steps=(1,) * 4)
