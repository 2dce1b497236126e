"""Lowerings of products with words of weights."""

import math

from ...dialects import cpu
from ...dialects.cpu.words import PRODUCTS, WORD
from .buffer import Buffer, Lanes
from .contraction import Contraction, Left, packed_rows
from .dot import choose_dot
from .index import Index
from .kernel import KernelBuilder
from .lower_conv import emit_convolution
from .lower_panel_conv import emit_panel_convolution
from .number import Number
from .panels import StoredPanel
from .registry import template
from .sink import Sink
from .tiles import block_tile, fit_tile
from .windows import Axis, seen_sizes, window_axes
from .words import word_images, word_rows


@template(cpu.DotMatMul)
def lower_dot_mat_mul(
    op: cpu.DotMatMul, kernel: KernelBuilder, a: Buffer, w: Buffer, b: Buffer, y: Sink
) -> None:
    """Repeat words of a row in all lanes; a lane is a column."""
    depth = a.shape[-1]
    rows = a.tensor.size // depth
    tile = fit_tile(kernel.machine, WORD, rows, w.shape[2])
    sink = y.over((rows, op.columns))

    def finish(i: Index, j: Index, number: Number, lanes: Lanes) -> None:
        sink.store(number + b.load([j], lanes), [i, j], lanes)

    Contraction(
        rows,
        op.columns,
        (w.shape[1],),
        PRODUCTS[a.dtype].sums,
        word_rows(kernel, a.reshape((rows, depth))),
        StoredPanel(w, (w.shape[1],), tile),
        finish,
        multiply=choose_dot(kernel.machine, a.dtype),
    ).emit(tile)


@template(cpu.DotConv)
def lower_dot_conv(
    op: cpu.DotConv, kernel: KernelBuilder, x: Buffer, w: Buffer, b: Buffer, y: Sink
) -> None:
    """Repeat words of a kernel in all lanes; a lane is a window."""
    group, size = w.shape
    rows = op.outputs // group
    tile = block_tile(kernel.machine, WORD, op.block, math.prod(y.shape[2:]))
    dot = choose_dot(kernel.machine, x.dtype)
    depth = size // rows

    def left(number: Index) -> Left:
        return packed_rows(w.part([number]), depth)

    images, axes = _images(op, kernel, x, y, group)
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
        PRODUCTS[x.dtype].sums,
        lambda factor, panel, total: dot(panel, factor, total),
    )


@template(cpu.DotPanelConv)
def lower_dot_panel_conv(
    op: cpu.DotPanelConv, kernel: KernelBuilder, x: Buffer, w: Buffer, b: Buffer, y: Sink
) -> None:
    """Repeat words of a window in all lanes; a lane is an output."""
    images, axes = _images(op, kernel, x, y, 1)
    sums, dot = PRODUCTS[x.dtype].sums, choose_dot(kernel.machine, x.dtype)
    emit_panel_convolution(kernel, images, w, op.kernel, b, y, axes, sums, dot)


def _images(
    op: cpu.DotConv | cpu.DotPanelConv, kernel: KernelBuilder, x: Buffer, y: Sink, group: int
) -> tuple[Buffer, list[Axis]]:
    """Join channels to words, padding included; return also how windows see the result."""
    outputs, begins = y.shape[2:], op.pads[: len(op.strides)]
    around = window_axes(x.shape[2:], outputs, op.kernel, op.strides, begins, op.dilations)
    sizes = seen_sizes(outputs, op.kernel, around)
    images = word_images(kernel, x, group, sizes, around, op.padding)
    inside = (0,) * len(begins)
    return images, window_axes(sizes, outputs, op.kernel, op.strides, inside, op.dilations)
