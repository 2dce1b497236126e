"""Transposed convolutions as convolutions of stride 1: one for each phase of the results.

Results that are a stride apart see the same taps of the kernel, and make up a phase.
"""

import math
from dataclasses import dataclass

from ....dialects import cpu, tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.sizes.dim import highest
from ....dialects.core.tensor import Shape
from ....passes.rewriting import NoMatch

WASTE = 2
"""Kernels are filled up to a multiple of the stride: by at most so much that products double."""


@dataclass(frozen=True)
class BlockedPhases:
    """Describe the phases of a transposed convolution of blocked images, axis by axis.

    A result sees `taps`; each phase has `counts` results. `before` and `after` are the padding of
    the input, and `crops` the phases that are left out before the first result.
    """

    taps: Shape
    counts: Shape
    crops: Shape
    before: Shape
    after: Shape

    @staticmethod
    def of(op: tri.ConvTranspose, lanes: int) -> "BlockedPhases":
        """Return the phases of an op; NoMatch where blocked images do not have them."""
        need_dense_phases(op)
        x, y = tensor_of(op.x.type), tensor_of(op.y.type)
        if op.group != 1 or x.dtype != "f32" or x.shape[1] % lanes or y.shape[1] % lanes:
            raise NoMatch("has groups, or images that are not of f32 in whole blocks")
        if math.prod(op.strides) == 1:
            raise NoMatch("has one phase, and is a convolution")
        axes = zip(
            x.shape[2:],
            y.shape[2:],
            tensor_of(op.w.type).shape[2:],
            op.strides,
            op.pads,
            strict=False,
        )
        return BlockedPhases(*zip(*(_along(*axis) for axis in axes), strict=True))


def _along(size: Size, made: Size, kernel: int, stride: int, begin: int) -> tuple[Size, ...]:
    """Return taps, results of a phase, crop, and padding before and after, of one axis."""
    if made % stride != 0:
        raise NoMatch(f"makes {made} results, no whole multiple of the stride {stride}")
    (taps,), count, crop = cpu.phase_taps((kernel,), (stride,)), made // stride, begin % stride
    before = taps - 1 - begin // stride
    after = count + (crop > 0) + taps - 1 - before - size
    if before < 0:
        raise NoMatch("cuts off whole inputs")
    return taps, count, crop, before, highest(0, after)


def need_dense_phases(op: tri.ConvTranspose) -> None:
    """Raise NoMatch unless most products with filled-up kernels are of the convolution."""
    kernel = tensor_of(op.w.type).shape[2:]
    if set(op.dilations) != {1}:
        raise NoMatch("has dilations")
    taps = cpu.phase_taps(kernel, op.strides)
    products = math.prod(taps) * math.prod(op.strides) / math.prod(kernel)
    if products > WASTE:
        raise NoMatch(f"needs {products:.1f} times the products")
    if tensor_of(op.x.type).size == 0:
        raise NoMatch("is empty")
