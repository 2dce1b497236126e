"""Ops that move elements in patterns, in terms of reshapes, transposes, slices and masks."""

import numpy as np

from ...dialects import tri
from ...dialects.core.mlir import ir
from ...dialects.core.sizes.atoms import Size
from ..building import (
    cast,
    expand,
    less,
    maximum,
    minimum,
    number,
    reshape,
    shape_of,
    sub,
    transpose,
    where,
)
from ..fold.fold_slices import build_slice
from .registry import decomposes


@decomposes(tri.DepthToSpace)
def depth_to_space(op: tri.DepthToSpace) -> ir.Value:
    (n, c, h, w), b = shape_of(op.x), op.blocksize
    if op.mode == "DCR":
        blocks = transpose(reshape(op.x, n, b, b, c // b**2, h, w), 0, 3, 4, 1, 5, 2)
    else:
        blocks = transpose(reshape(op.x, n, c // b**2, b, b, h, w), 0, 1, 4, 2, 5, 3)
    return reshape(blocks, *shape_of(op.y))


@decomposes(tri.SpaceToDepth)
def space_to_depth(op: tri.SpaceToDepth) -> ir.Value:
    (n, c, h, w), b = shape_of(op.x), op.blocksize
    blocks = transpose(reshape(op.x, n, c, h // b, b, w // b, b), 0, 3, 5, 1, 2, 4)
    return reshape(blocks, *shape_of(op.y))


@decomposes(tri.ChannelShuffle)
def channel_shuffle(op: tri.ChannelShuffle) -> ir.Value:
    n, c, *pixels = shape_of(op.x)
    split = reshape(op.x, n, op.groups, c // op.groups, *pixels)
    return reshape(transpose(split, 0, 2, 1, *range(3, 3 + len(pixels))), *shape_of(op.y))


@decomposes(tri.Roll)
def roll(op: tri.Roll) -> ir.Value:
    y, shape = op.x, shape_of(op.x)
    for shift, each in zip(op.shifts, op.axes, strict=True):
        axis = each % len(shape)
        size = shape[axis]
        start = -shift % size if size else 0
        if start:
            end, begin = build_slice(y, axis, start, size - start), build_slice(y, axis, 0, start)
            y = tri.Concat.build([end.y, begin.y], axis=axis).y
    return y


@decomposes(tri.Stack)
def stack(op: tri.Stack) -> ir.Value:
    shape = list(shape_of(op.y))
    axis = op.axis % len(shape)
    shape[axis] = 1
    return tri.Concat.build([reshape(x, *shape) for x in op.xs], axis=axis).y


@decomposes(tri.Unbind)
def unbind(op: tri.Unbind) -> list[ir.Value]:
    shape = shape_of(op.x)
    axis = op.axis % len(shape)
    rows = tri.Split.build(op.x, axis=axis, sizes=(1,) * int(shape[axis])).results
    return [reshape(row, *shape[:axis], *shape[axis + 1 :]) for row in rows]


@decomposes(tri.TensorScatter)
def tensor_scatter(op: tri.TensorScatter) -> ir.Value:
    """Let each row of the result choose between that of x and an update."""
    shape, length = shape_of(op.x), shape_of(op.updates)[op.axis]
    axis = op.axis % len(shape)
    size, entries = shape[axis], (shape[0], *[1] * (len(shape) - 1))
    along = [size if d == axis else 1 for d in range(len(shape))]
    row = reshape(tri.Iota.build(size=size).y, *along)
    place = sub(row, reshape(cast(op.starts, "i64"), *entries))
    if op.circular:
        place = tri.Mod.build(place, _size(size)).y
    count = _size(length)
    if op.counts is not None:
        count = minimum(reshape(cast(op.counts, "i64"), *entries), count)
    hit = tri.And.build(less(-1, place), less(place, count)).y
    if length == 0:
        return op.x
    place = expand(maximum(minimum(place, sub(_size(length), 1)), 0), *shape)
    return where(hit, tri.GatherElements.build(op.updates, place, axis=axis).y, op.x)


def _size(size: Size) -> ir.Value:
    return tri.Sizes.build(values=(size,), shape=()).y


@decomposes(tri.Trilu)
def trilu(op: tri.Trilu) -> ir.Value:
    rows, columns = shape_of(op.x)[-2:]
    below = np.tri(rows, columns, op.k - 1 if op.upper else op.k, dtype=bool)
    kept = tri.Constant.build(value=~below if op.upper else below).y
    return where(kept, op.x, number(0, op.x))


@decomposes(tri.Tile)
def tile(op: tri.Tile) -> ir.Value:
    shape = shape_of(op.x)
    pairs = list(zip(op.repeats, shape, strict=True))
    single = reshape(op.x, *(size for _, dim in pairs for size in (1, dim)))
    return reshape(expand(single, *(size for pair in pairs for size in pair)), *shape_of(op.y))


@decomposes(tri.Split)
def split(op: tri.Split) -> list[ir.Value]:
    starts = [sum(op.sizes[:index]) for index in range(len(op.sizes))]
    axis = op.axis % len(shape_of(op.x))
    return [build_slice(op.x, axis, *part).y for part in zip(starts, op.sizes, strict=True)]
