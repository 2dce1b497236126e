"""Tile elementwise ops, pools, and ops that move images."""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ....dialects import dla
from ....dialects.core.attributes import tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.numerics.integers import fields_of
from ....dialects.core.op import Op
from ....dialects.core.tensor import Shape
from .alias_analysis import operand_offsets
from .halo import extent, halo_region, largest_halo
from .placement import BufferWindow, Ranges, sizes_of
from .tile_sizes import Footprint, tiles_of
from .tiler import Reader, Tiler, Writer, tiles


@tiles(dla.Pool)
def tile_pool(op: dla.Pool, tiler: Tiler) -> None:
    """Write the tiles of a pool, with the halo regions that they read."""
    reader, writer = tiler.reader(op.x), tiler.writer(op.y)
    x, y = _shape(op.x), _shape(op.y)
    extents = tuple(map(extent, op.kernel, op.dilations))
    need = _footprint(
        tiler,
        reader.loads,
        writer.stores,
        lambda rows, columns: largest_halo((rows, columns), op.strides, extents, x[1:3]),
    )
    windowed = ("kernel", "strides", "dilations", "pads")
    fields = {name: value for name, value in op.attributes.items() if name not in windowed}
    fields |= fields_of(kernel=op.kernel, strides=op.strides, dilations=op.dilations)
    for made in tiles_of(y[1:], tiler.layout, need, tiler.tile_budget):
        row, column = (
            halo_region(made[axis], op.strides[axis], op.pads[axis], extents[axis], x[1 + axis])
            for axis in (0, 1)
        )
        for image in range(y[0]):
            source = reader.window(image, (row.source, column.source, made[2]))
            target = writer.window(image, made)
            tiler.put(
                dla.PoolTile,
                source.buffer,
                target.buffer,
                **_places(source, target),
                **row.fields("rows", "top"),
                **column.fields("columns", "left"),
                channels=made[2][1] - made[2][0],
                **fields,
            )
            writer.finish(target, image, made)


@tiles(dla.Eltwise)
def tile_eltwise(op: dla.Eltwise, tiler: Tiler) -> None:
    """Write the tiles of a binary op; a broadcast row or column is read by all tiles."""
    reader, other, writer = tiler.reader(op.x), tiler.reader(op.other), tiler.writer(op.y)
    y, second = _shape(op.y), _shape(op.other)
    need = _footprint(tiler, reader.loads + other.loads, writer.stores)
    for made in tiles_of(y[1:], tiler.layout, need, tiler.tile_budget):
        rows, columns = ((0, 1) if second[1 + axis] == 1 else made[axis] for axis in (0, 1))
        for image in range(y[0]):
            a = reader.window(image, made)
            b = other.window(0 if second[0] == 1 else image, (rows, columns, made[2]))
            target = writer.window(image, made)
            tiler.put(
                dla.EltwiseTile,
                a.buffer,
                target.buffer,
                b.buffer,
                **_places(a, target),
                other_at=b.at,
                **sizes_of(made),
                **op.attributes,
            )
            writer.finish(target, image, made)


@tiles(dla.Lookup)
def tile_lookup(op: dla.Lookup, tiler: Tiler) -> None:
    """Write the tiles of a lookup; its table is loaded once."""
    table = tiler.weights([tiler.array(op.table)], "table").chunk(0)
    tile_by_value(op, dla.LookupTile, tiler, {}, table)


@tiles(dla.Copy)
def tile_copy(op: dla.Copy, tiler: Tiler) -> None:
    """Write the tiles of a rescaling."""
    tile_by_value(op, dla.CopyTile, tiler, op.attributes)


def tile_by_value(
    op: Op, cls: type[dla.ImageOp], tiler: Tiler, fields: dict[str, Any], *tables: ir.Value
) -> None:
    """Write tiles of a class for an op that is elementwise in its first operand."""
    x, (result,) = op.operation.operands[0], op.results
    reader, writer = tiler.reader(x), tiler.writer(result)
    y, need = _shape(result), _footprint(tiler, reader.loads, writer.stores)
    for made in tiles_of(y[1:], tiler.layout, need, tiler.tile_budget):
        for image in range(y[0]):
            source, target = reader.window(image, made), writer.window(image, made)
            buffers = (source.buffer, target.buffer, *tables)
            tiler.put(cls, *buffers, **_places(source, target), **sizes_of(made), **fields)
            writer.finish(target, image, made)


@tiles(dla.Resize)
def tile_resize(op: dla.Resize, tiler: Tiler) -> None:
    """Write the tiles of a resize, with the rows and columns that they read."""
    reader, writer = tiler.reader(op.x), tiler.writer(op.y)
    x, y = _shape(op.x), _shape(op.y)

    def taken(axis: int, out: tuple[int, int]) -> tuple[int, int]:
        places = [op.start[axis] + op.step[axis] * place >> 16 for place in (out[0], out[1] - 1)]
        first, last = np.clip(places, 0, x[1 + axis] - 1)
        return int(first), int(last) + 1

    def most(rows: int, columns: int) -> tuple[int, int]:
        counts = ((rows * op.step[0] >> 16) + 2, (columns * op.step[1] >> 16) + 2)
        return min(counts[0], x[1]), min(counts[1], x[2])

    need = _footprint(tiler, reader.loads, writer.stores, most)
    for made in tiles_of(y[1:], tiler.layout, need, tiler.tile_budget):
        rows, columns = taken(0, made[0]), taken(1, made[1])
        starts = [
            op.start[axis] + op.step[axis] * made[axis][0] - (source[0] << 16)
            for axis, source in enumerate((rows, columns))
        ]
        out = [made[axis][1] - made[axis][0] for axis in (0, 1)]
        fields = fields_of(start=starts, step=op.step, out=out)
        for image in range(y[0]):
            window = (rows, columns, made[2])
            source, target = reader.window(image, window), writer.window(image, made)
            sizes = sizes_of(window)
            buffers = (source.buffer, target.buffer)
            tiler.put(dla.ResizeTile, *buffers, **_places(source, target), **sizes, **fields)
            writer.finish(target, image, made)


@tiles(dla.Concat)
def tile_concat(op: dla.Concat, tiler: Tiler) -> None:
    """Copy the operands of a concat that are no subviews of its result, through SRAM."""
    writer = tiler.writer(op.y)
    for value, at in operand_offsets(op):
        reader, shape = tiler.reader(value), _shape(value)
        if reader.images.parent is writer.images and reader.images.at == at:
            continue
        need = _footprint(tiler, reader.loads, writer.stores)
        for taken in tiles_of(shape[1:], tiler.layout, need, tiler.tile_budget):
            rows, columns, channels = (
                (start + first, end + first)
                for (start, end), first in zip(taken, at[1:], strict=True)
            )
            for image in range(shape[0]):
                _move(tiler, reader, writer, image, taken, (rows, columns, channels))


@tiles(dla.Slice)
def tile_slice(op: dla.Slice, tiler: Tiler) -> None:
    """Copy a window of an image, unless the result is a subview."""
    reader, writer, y = tiler.reader(op.x), tiler.writer(op.y), _shape(op.y)
    if writer.images.parent is reader.images:
        return
    need = _footprint(tiler, reader.loads, writer.stores)
    for made in tiles_of(y[1:], tiler.layout, need, tiler.tile_budget):
        rows, columns, channels = (
            (first + place, end + place) for (first, end), place in zip(made, op.start, strict=True)
        )
        for image in range(y[0]):
            _move(tiler, reader, writer, image, (rows, columns, channels), made)


def _move(
    tiler: Tiler, reader: Reader, writer: Writer, image: int, taken: Ranges, made: Ranges
) -> None:
    """Copy a window: store it from SRAM, load it into the target, or copy it within SRAM."""
    if writer.stores:
        writer.finish(reader.window(image, taken), image, made)
        return
    target = writer.window(image, made)
    if reader.loads:
        reader.load(image, taken, target)
    else:
        source = reader.window(image, taken)
        fields = {"rounding": tiler.description.rounding, **sizes_of(taken)}
        places = _places(source, target)
        tiler.put(dla.CopyTile, source.buffer, target.buffer, **places, **fields)
    writer.finish(target, image, made)


def _as_many(rows: int, columns: int) -> tuple[int, int]:
    return rows, columns


def _footprint(
    tiler: Tiler,
    loads: int,
    stores: int,
    taken: Callable[[int, int], tuple[int, int]] = _as_many,
) -> Footprint:
    """Return the footprint of tiles for a number of loaded and of stored images."""

    def need(rows: int, columns: int, channels: int) -> int:
        return (prod(taken(rows, columns)) * loads + rows * columns * stores) * tiler.layout.padded(
            channels
        )

    return need


def _shape(value: ir.Value) -> Shape:
    return tensor_of(value.type).shape


def _places(source: BufferWindow, target: BufferWindow) -> dict[str, Shape]:
    return {"source_at": source.at, "destination_at": target.at}
