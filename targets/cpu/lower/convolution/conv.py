"""Lowerings of convolution: implicit matrix products, and the choice of a depthwise template."""

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from .....dialects import tri
from .....dialects.core.sizes.substitution import likely
from .....dialects.core.tensor import Shape
from ....element_types import NUMBERS, ElementTypes
from ....kernels.arithmetic import compute_dtype
from ....memory.strides import row_major
from ...kernels.buffer import Buffer, Lanes
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.index import IndexExpr, greatest, nest, place_dtype, unravel
from ...kernels.products.contraction import Contraction, Left, Multiply, emit_each, multiply_add
from ...kernels.products.panels import DirectPanel, Fill, PackedPanel, Panel, copy_columns
from ...kernels.value import Value, arith
from ...kernels.windows import (
    LINE,
    Axis,
    WindowReader,
    divide_unsigned,
    positions,
    splat_index,
    unsigned,
    window_axes,
)
from ...registry import template
from ...schedule.tiles import Tile, choose_tile
from . import depthwise, window_rows
from .depthwise import Depthwise
from .sliding import slide_windows
from .window_rows import DirectWindows, RowWindows


@template(tri.Conv, types=ElementTypes(NUMBERS))
def lower_conv(
    op: tri.Conv, kernel: KernelBuilder, x: Buffer, w: Buffer, b: Buffer | None, y: Epilogue
) -> None:
    axes = window_axes(
        x.shape[2:], y.shape[2:], w.shape[2:], op.strides, op.pads[: len(op.strides)], op.dilations
    )
    if op.is_depthwise:
        if depthwise.suits(axes):
            while len(axes) < 3:
                x, w, y = _one_line(x), _one_line(w), y.reshape(_with_line(y.shape))
                axes = [LINE, *axes]
            Depthwise(kernel, x, w, b, y, axes, compute_dtype(x.dtype)).emit()
        else:
            slide_windows(kernel, x, w, b, y, axes)
    else:
        shape = (op.group, w.shape[0] // op.group, math.prod(w.shape[1:]))
        kernels = w.reshape(shape)
        columns = math.prod(y.shape[2:])
        tile = choose_tile(kernel.machine, compute_dtype(x.dtype), shape[1], columns)

        def left(group: IndexExpr) -> Left:
            return lambda rows, r, k: kernels.load([group, rows.first + r, *k])

        emit_convolution(kernel, x, shape, left, w.shape[2:], b, y, axes, tile)


def emit_convolution(
    kernel: KernelBuilder,
    x: Buffer,
    kernels: tuple[int, int, int],
    left: Callable[[IndexExpr], Left],
    taps: Shape,
    b: Buffer | None,
    y: Epilogue,
    axes: Sequence[Axis],
    tile: Tile,
    block: int | None = None,
    sums: str | None = None,
    multiply: Multiply = multiply_add,
) -> None:
    """Contract kernels with columns of windows, by an implicit im2col.

    `kernels` is the shape [group, outputs, depth] of the matrices that `left` loads, in which the
    outputs of a `block` are stored together. `sums` is the element type of the sums of `multiply`,
    that of `x` by default.
    """
    if len(axes) == 1:
        x, taps, y, axes = _one_line(x), (1, *taps), y.reshape(_with_line(y.shape)), [LINE, *axes]
    batch, _, *windows = y.shape
    group, rows, depth = kernels
    channels = depth // math.prod(taps)
    columns = math.prod(windows)
    dtype = sums or compute_dtype(x.dtype)
    epilogue = y.reshape((batch, group, rows, columns))
    bias = None if b is None else b.reshape((group, rows))
    images = x.reshape((batch, group, channels, *x.shape[2:]))

    @cache
    def memory() -> Buffer:
        return kernel.private((depth, tile.columns), compute_dtype(x.dtype))

    def one(at: list[IndexExpr]) -> Contraction:
        panel = _window_panel(memory, images.part(at), axes, taps, tuple(windows), rows, tile)
        direct = isinstance(panel, DirectWindows)
        return Contraction(
            rows,
            columns,
            panel.windows.depth if direct else (depth,),
            dtype,
            panel.left(left(at[1])) if direct else left(at[1]),
            panel,
            lambda r, c, value, lanes: epilogue.store(value, [*at, r, c], lanes),
            row_bias(bias, at[1]),
            touch=lambda r, c: epilogue.prefetch([*at, r, c]),
            block=block,
            multiply=multiply,
        )

    emit_each((batch, group), one, tile)


def _one_line(images: Buffer) -> Buffer:
    """View images, or kernels for them, as images of one more axis, the first, of size 1."""
    return images.reshape(_with_line(images.shape))


def _with_line(shape: Shape) -> Shape:
    return (*shape[:2], 1, *shape[2:])


def row_bias(bias: Buffer | None, group: IndexExpr) -> Callable[[IndexExpr], Value] | None:
    """Return the load of the initial sum of a row: its bias, of a buffer [group, rows]."""
    return None if bias is None else lambda row: bias.load([group, row])


def _window_panel(
    memory: Callable[[], Buffer],
    image: Buffer,
    axes: Sequence[Axis],
    taps: Shape,
    windows: Shape,
    rows: int,
    tile: Tile,
) -> Panel:
    """Choose how to read columns of windows from one image [channels, spatial…]."""
    channels = image.shape[0]
    if math.prod(taps) == 1 and all(a.stride == 1 and not a.padded for a in axes):
        matrix = Buffer(image.memory, image.tensor, offset=image.offset)
        matrix = matrix.reshape((channels, math.prod(windows)))
        if likely(rows) <= tile.rows:
            return DirectPanel(matrix)
        return PackedPanel(memory(), copy_columns(matrix), matrix)
    in_rows = window_rows.suits(axes, windows, tile.lanes)
    if in_rows and likely(rows) <= tile.rows:
        return DirectWindows(RowWindows(image, axes, taps, windows))
    if in_rows:
        return PackedPanel(memory(), RowWindows(image, axes, taps, windows).fill)
    dtype = place_dtype(greatest(math.prod(image.shape[1:]), math.prod(windows)))
    reader = WindowReader(image, axes, dtype)
    return PackedPanel(memory(), _gather_windows(reader, taps, windows, channels))


def _gather_windows(reader: WindowReader, taps: Shape, windows: Shape, channels: int) -> Fill:
    strides = row_major((channels, *taps))

    def fill(memory: Buffer, start: IndexExpr, masks: Sequence[Lanes]) -> None:
        width = masks[0].width
        corners = [reader.corners(start + v * width, windows, width) for v in range(len(masks))]

        def element(at: list[IndexExpr]) -> None:
            channel, *tap = at
            k = IndexExpr(0)
            for index, stride in zip(at, strides, strict=True):
                k = k + index * stride
            for v, lanes in enumerate(masks):
                loaded = reader.load([channel], corners[v], tap, lanes)
                memory.store(loaded, [k, IndexExpr(v * width)], Lanes(width))

        nest((channels, *taps), element)

    return fill


@template(tri.ConvTranspose, types=ElementTypes(NUMBERS))
def lower_conv_transpose(
    op: tri.ConvTranspose,
    kernel: KernelBuilder,
    x: Buffer,
    w: Buffer,
    b: Buffer | None,
    y: Epilogue,
) -> None:
    """Gather, for every output, the inputs that spread to it: a product over channels and taps."""
    batch, outputs, *_ = y.shape
    spatial = y.shape[2:]
    rows, channels = outputs // op.group, w.shape[0] // op.group
    taps = w.shape[2:]
    columns = math.prod(spatial)
    dtype = compute_dtype(x.dtype)
    tile = choose_tile(kernel.machine, dtype, rows, columns)
    kernels = w.reshape((op.group, channels, rows, math.prod(taps)))
    epilogue = y.reshape((batch, op.group, rows, columns))
    bias = None if b is None else b.reshape((op.group, rows))
    images = x.reshape((batch, op.group, channels, *x.shape[2:]))
    memory = kernel.private((channels, math.prod(taps), tile.columns), dtype)

    def one(at: list[IndexExpr]) -> Contraction:
        fill = _gather_spread(op, images.part(at), taps, spatial)
        return Contraction(
            rows,
            columns,
            (channels, math.prod(taps)),
            dtype,
            lambda rows_, r, k: kernels.load([at[1], k[0], rows_.first + r, k[1]]),
            PackedPanel(memory, fill),
            lambda r, c, value, lanes: epilogue.store(value, [*at, r, c], lanes),
            row_bias(bias, at[1]),
        )

    emit_each((batch, op.group), one, tile)


def _gather_spread(op: tri.ConvTranspose, image: Buffer, taps: Shape, spatial: Shape) -> Fill:
    channels, *sizes = image.shape
    strides = row_major(tuple(sizes))
    dtype = place_dtype(greatest(math.prod(sizes), math.prod(spatial)))

    def fill(memory: Buffer, start: IndexExpr, masks: Sequence[Lanes]) -> None:
        width = masks[0].width
        places = [positions(start + v * width, spatial, width, dtype) for v in range(len(masks))]

        def element(at: list[IndexExpr]) -> None:
            channel, flat = at
            tap = unravel(flat, taps)
            for v, lanes in enumerate(masks):
                steps, mask = _spread_steps(op, places[v], tap, sizes, strides, lanes)
                base = image.position([channel, *[IndexExpr(0)] * len(sizes)])
                loaded = image.gather(base, steps.ssa, Lanes(width, mask))
                memory.store(loaded, [channel, flat, IndexExpr(v * width)], Lanes(width))

        nest((channels, math.prod(taps)), element)

    return fill


def _spread_steps(
    op: tri.ConvTranspose,
    places: Sequence[Value],
    tap: Sequence[IndexExpr],
    sizes: Sequence[int],
    strides: Sequence[int],
    lanes: Lanes,
) -> tuple[Value, Any]:
    """Return which input element reaches each output by a tap, and whether there is one."""
    mask = lanes.mask
    total: Value | None = None
    for axis, place in enumerate(places):
        reach = splat_index(tap[axis] * op.dilations[axis], lanes.width, place.dtype)
        ahead = unsigned(place + op.pads[axis] - reach)
        quotient = divide_unsigned(ahead, op.strides[axis])
        exact = (quotient * op.strides[axis]).equal(ahead)
        inside = exact.logical_and(quotient.less(sizes[axis])).ssa
        mask = inside if mask is None else arith.andi(mask, inside)
        part = Value(quotient.ssa, place.dtype) * strides[axis]
        total = part if total is None else total + part
    assert total is not None
    return total, mask
