"""Lowerings of ops that write at places that another tensor names.

Each element of the result looks for the updates that are its own, in their order: programs that
write at the same time would leave open which update is the last.
"""

import math
from collections.abc import Callable

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.tensor import normalize_axis
from ...kernels.lower.index import combined
from ..kernels.buffer import Buffer
from ..kernels.coordinates import Axis, Coordinates
from ..kernels.epilogue import Reader
from ..kernels.functions.remainder import remainder
from ..kernels.loop import loop
from ..kernels.value import Value, aligned, scalar
from ..registry import accepts, indexed
from .gather import place_in

Step = Callable[[Value, Value], Value]

MOST = 1024
"""Updates that an element looks at, at most."""


@indexed(tri.ScatterElements)
def lower_scatter_elements(
    op: tri.ScatterElements, x: Buffer, indices: Buffer, updates: Buffer
) -> Reader:
    if not updates.tensor.size:
        return x
    axis = normalize_axis(op.axis, len(x.shape))
    shorter = [d for d, n in enumerate(indices.shape) if d != axis and n < x.shape[d]]

    def read(at: list[Value]) -> Value:
        def step(number: Value, value: Value) -> Value:
            line = [number if d == axis else i for d, i in enumerate(at)]
            hit = place_in(indices.load(line), x.shape[axis]).equal(at[axis])
            for d in shorter:
                hit = hit.logical_and(at[d].less(indices.shape[d]))
            line[axis] = hit.select(number, -1)
            return hit.select(combined(op.reduction, value, updates.load(line)), value)

        return _over(indices.shape[axis], x.load(at), at, step)

    return read


@indexed(tri.ScatterNd)
def lower_scatter_nd(op: tri.ScatterNd, x: Buffer, indices: Buffer, updates: Buffer) -> Reader:
    if not updates.tensor.size:
        return x
    depth, outer = indices.shape[-1], tuple(range(len(indices.shape) - 1))

    def read(at: list[Value]) -> Value:
        def step(number: Value, value: Value) -> Value:
            hit: Value | None = None
            for d in range(depth):
                entry = Axis((len(outer),), scalar(d))
                index = indices.load(Coordinates(indices.shape, (Axis(outer, number), entry)))
                same = place_in(index, x.shape[d]).equal(at[d])
                hit = hit.logical_and(same) if hit else same
            assert hit is not None, "index tuples are not empty"
            places = enumerate(at[depth:], len(outer))
            inner = [Axis((dim,), index) for dim, index in places]
            chosen = Axis(outer, hit.select(number, -1))
            new = updates.load(Coordinates(updates.shape, (chosen, *inner)))
            return hit.select(combined(op.reduction, value, new), value)

        return _over(math.prod(indices.shape[:-1]), x.load(at), at, step)

    return read


@indexed(tri.TensorScatter)
def lower_tensor_scatter(
    op: tri.TensorScatter, x: Buffer, updates: Buffer, starts: Buffer, counts: Buffer | None
) -> Reader:
    if not updates.tensor.size:
        return x
    axis = normalize_axis(op.axis, len(x.shape))
    size, length = x.shape[axis], updates.shape[axis]

    def read(at: list[Value]) -> Value:
        number = at[axis].cast("i64") - starts.load([at[0]]).cast("i64")
        if op.circular:
            number = remainder(number, number.like(size))
            number = number.less(0).select(number + size, number)
        hit = number.greater_equal(0).logical_and(number.less(length))
        if counts is not None:
            hit = hit.logical_and(number.less(counts.load([at[0]]).cast("i64")))
        chosen = hit.select(number, -1).cast("i32")
        line = [chosen if d == axis else i for d, i in enumerate(at)]
        return hit.select(updates.load(line), x.load(at))

    return read


def _over(count: int, start: Value, at: list[Value], step: Step) -> Value:
    first = aligned(start, *at)[0]
    return loop(0, count, 1, [first], step, name="update")[0]


@accepts(tri.ScatterElements)
def few_elements(op: tri.ScatterElements) -> bool:
    """Scatters at most 1024 updates along the axis."""
    return tensor_of(op.indices.type).shape[op.axis] <= MOST


@accepts(tri.ScatterNd)
def few_slices(op: tri.ScatterNd) -> bool:
    """Scatters at most 1024 slices."""
    return math.prod(tensor_of(op.indices.type).shape[:-1]) <= MOST
