"""Lowering of convolution with packed kernels."""

import math

from ...dialects import cpu
from .buffer import Buffer
from .contraction import Left, packed_rows
from .index import Index
from .kernel import KernelBuilder
from .lower_conv import emit_convolution
from .number import compute_dtype
from .registry import template
from .sink import Sink
from .tiles import block_tile
from .windows import window_axes


@template(cpu.PackedConv)
def lower_packed_conv(
    op: cpu.PackedConv, kernel: KernelBuilder, x: Buffer, w: Buffer, b: Buffer | None, y: Sink
) -> None:
    group, size = w.shape
    rows = op.outputs // group
    begins = op.pads[: len(op.strides)]
    axes = window_axes(x.shape[2:], y.shape[2:], op.kernel, op.strides, begins, op.dilations)
    columns, dtype = math.prod(y.shape[2:]), compute_dtype(x.dtype)
    tile = block_tile(kernel.machine, dtype, op.block, columns, op.vectors)
    depth = size // rows

    def left(number: Index) -> Left:
        return packed_rows(w.part([number]), depth)

    emit_convolution(
        kernel, x, (group, rows, depth), left, op.kernel, b, y, axes, tile, block=op.block
    )
