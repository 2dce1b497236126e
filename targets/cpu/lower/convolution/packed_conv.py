"""Lowering of convolution with packed kernels."""

import math

from .....dialects import cpu
from ....element_types import NUMBERS, PACKED, ElementTypes
from ....kernels.arithmetic import compute_dtype
from ...kernels.buffer import Buffer
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.index import IndexExpr
from ...kernels.products.contraction import Left, packed_rows
from ...kernels.windows import window_axes
from ...registry import template
from ...schedule.tiles import block_tile
from .conv import emit_convolution


@template(cpu.PackedConv, types=ElementTypes(NUMBERS, layouts={"w": PACKED}))
def lower_packed_conv(
    op: cpu.PackedConv, kernel: KernelBuilder, x: Buffer, w: Buffer, b: Buffer | None, y: Epilogue
) -> None:
    group, size = w.shape
    rows = op.outputs // group
    begins = op.pads[: len(op.strides)]
    axes = window_axes(x.shape[2:], y.shape[2:], op.kernel, op.strides, begins, op.dilations)
    columns, dtype = math.prod(y.shape[2:]), compute_dtype(x.dtype)
    tile = block_tile(kernel.machine, dtype, op.block, columns, op.vectors)
    depth = size // rows

    def left(number: IndexExpr) -> Left:
        return packed_rows(w.part([number]), depth)

    emit_convolution(
        kernel, x, (group, rows, depth), left, op.kernel, b, y, axes, tile, block=op.block
    )
