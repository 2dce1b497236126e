"""Lowerings of ops that move or repeat elements: views where strides can express them."""

import math

from ....dialects import tri
from ....dialects.core.sizes.dim import highest
from ....dialects.core.tensor import Shape, normalize_axis
from ...kernels.lower.views import register_views
from ...memory.strides import parts_of, row_major
from ..kernels.buffer import Buffer
from ..kernels.builder import KernelBuilder
from ..kernels.coordinates import Axis, Coordinates
from ..kernels.epilogue import Epilogue, Reader
from ..kernels.spread import in_a_row
from ..kernels.value import Value, scalar
from ..registry import TABLE, indexed, template


@indexed(tri.Reshape)
def lower_reshape(op: tri.Reshape, x: Buffer) -> Reader:
    view = x.restride(op.shape)
    return view or (lambda at: x.load(_in_rows(x.shape, at, op.shape)))


def _in_rows(shape: Shape, at: list[Value], seen_as: Shape) -> Coordinates:
    """Locate elements of a tensor by the index that they have under another shape."""
    flat = scalar(0)
    for index, step in zip(at, row_major(seen_as), strict=True):
        flat = index * step + flat
    return Coordinates(shape, (Axis(tuple(range(len(shape))), flat),))


register_views(TABLE)


@template(tri.Concat)
def lower_concat(
    op: tri.Concat, kernel: KernelBuilder, xs: list[Buffer], epilogue: Epilogue
) -> None:
    """Copy a part of each operand in each program, so that accesses are contiguous."""
    axis = normalize_axis(op.axis, len(epilogue.shape))
    order = epilogue.order
    first = order.index(axis)
    outer, inner = order[:first], order[first:]
    index = in_a_row(kernel, highest(*(x.tensor.size for x in xs)))
    for x, (start, size) in zip(xs, parts_of([x.shape[axis] for x in xs]), strict=True):
        if x.tensor.size == 0:
            continue
        step = math.prod(epilogue.shape[dim] for dim in order[first + 1 :])
        number = x.load(Coordinates(x.shape, (Axis(order, index),)))
        # The first axis is there even without dims: its bound is where the operand ends.
        away = Axis(outer, index / (size * step))
        along = Axis(inner, index.remainder(size * step) + start * step)
        epilogue.store(number, Coordinates(epilogue.shape, (away, along)))


@indexed(tri.Tile)
def lower_tile(op: tri.Tile, x: Buffer) -> Reader:
    def read(at: list[Value]) -> Value:
        places = [
            index if times == 1 else index.remainder(size)
            for index, size, times in zip(at, x.shape, op.repeats, strict=True)
        ]
        return x.load(places)

    return read


@indexed(tri.Trilu)
def lower_trilu(op: tri.Trilu, x: Buffer) -> Reader:
    def read(at: list[Value]) -> Value:
        distance = at[-1] - at[-2]
        kept = distance.greater_equal(op.k) if op.upper else distance.less_equal(op.k)
        return kept.select(x.load(at), 0)

    return read


@indexed(tri.Iota)
def lower_iota(op: tri.Iota) -> Reader:
    return lambda at: at[0].cast("i64")
