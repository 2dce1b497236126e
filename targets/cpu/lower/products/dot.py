"""Lowerings of dot products on weights packed as VNNI words."""

import math

from .....dialects import cpu
from .....dialects.core.tensor import DTYPES
from .....dialects.cpu.vnni import VNNI, products_of
from ...kernels.buffer import Buffer, Lanes
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.index import IndexExpr
from ...kernels.products.contraction import Contraction, Left, packed_rows
from ...kernels.products.dot import choose_dot
from ...kernels.products.panels import StoredPanel
from ...kernels.products.vnni import vnni_rows
from ...kernels.value import Value
from ...registry import DOTS, template
from ...schedule.tiles import block_tile, fit_tile, rows_near
from ..convolution.conv import emit_convolution
from ..convolution.panel_conv import emit_panel_convolution
from ..convolution.word_images import word_images


@template(cpu.DotMatMul, types=DOTS)
def lower_dot_mat_mul(
    op: cpu.DotMatMul, kernel: KernelBuilder, a: Buffer, w: Buffer, b: Buffer, y: Epilogue
) -> None:
    """Broadcast words of a row to all lanes; a lane is a column."""
    depth, products = a.shape[-1], products_of(a.tensor, op.signed)
    rows = a.tensor.size // depth
    tile = fit_tile(kernel.machine, VNNI, rows, w.shape[2])
    epilogue = y.reshape((rows, op.columns))

    def finish(i: IndexExpr, j: IndexExpr, value: Value, lanes: Lanes) -> None:
        epilogue.store(value + b.load([j], lanes), [i, j], lanes)

    Contraction(
        rows,
        op.columns,
        (w.shape[1],),
        products.sums,
        vnni_rows(kernel, a.reshape((rows, depth)), products),
        StoredPanel(w, (w.shape[1],), tile),
        finish,
        touch=epilogue.touch,
        near=rows_near(rows, depth * DTYPES[a.dtype].itemsize),
        once=tile.rows,
        multiply=choose_dot(kernel.machine, a.dtype, op.signed),
    ).emit(tile)


@template(cpu.DotConv, types=DOTS)
def lower_dot_conv(
    op: cpu.DotConv, kernel: KernelBuilder, x: Buffer, w: Buffer, b: Buffer, y: Epilogue
) -> None:
    """Broadcast words of a kernel to all lanes; a lane is a window."""
    group, size = w.shape
    rows = op.outputs // group
    tile = block_tile(kernel.machine, VNNI, op.block, math.prod(y.shape[2:]))
    dot = choose_dot(kernel.machine, x.dtype, op.signed)
    depth = size // rows

    def left(number: IndexExpr) -> Left:
        return packed_rows(w.part([number]), depth)

    images, axes = word_images(op, kernel, x, y.shape[2:], group)
    emit_convolution(
        kernel,
        images,
        (group, rows, depth),
        left,
        op.kernel,
        b,
        y,
        axes,
        tile,
        op.block,
        products_of(x.tensor).sums,
        lambda factor, panel, total: dot(panel, factor, total),
    )


@template(cpu.DotPanelConv, types=DOTS)
def lower_dot_panel_conv(
    op: cpu.DotPanelConv, kernel: KernelBuilder, x: Buffer, w: Buffer, b: Buffer, y: Epilogue
) -> None:
    """Broadcast words of a window to all lanes; a lane is an output."""
    images, axes = word_images(op, kernel, x, y.shape[2:], 1)
    sums, dot = products_of(x.tensor).sums, choose_dot(kernel.machine, x.dtype, op.signed)
    emit_panel_convolution(kernel, images, w, op.kernel, b, y, axes, sums, dot)
