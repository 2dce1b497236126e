"""Lowerings of ops that read or write at places that another tensor names.

An index outside of its axis reads or writes at the nearest element of the axis instead: the
kernels have nobody to tell, and must not leave their buffers.
"""

import math

from ....dialects import tri
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.tensor import Shape, normalize_axis
from ...element_types import MOVES
from ...kernels.arithmetic import compute_dtype
from ...kernels.conversion import convert
from ...kernels.lower.index import clamped_index, combined, from_start
from ..kernels.buffer import Buffer, Lanes
from ..kernels.builder import KernelBuilder
from ..kernels.epilogue import Epilogue
from ..kernels.index import IndexExpr, index_of, nest, place_dtype
from ..kernels.loops import each
from ..kernels.value import Value
from ..kernels.windows import neighbours, repeated
from ..registry import template


def _place(indices: Buffer, at: list[IndexExpr], size: Size) -> IndexExpr:
    return index_of(clamped_index(indices.load(at), size))


@template(tri.Gather, types=MOVES)
def lower_gather(
    op: tri.Gather, kernel: KernelBuilder, x: Buffer, indices: Buffer, epilogue: Epilogue
) -> None:
    axis = normalize_axis(op.axis, len(x.shape))
    size, inner = x.shape[axis], math.prod(x.shape[axis + 1 :])
    outer, count = math.prod(x.shape[:axis]), math.prod(indices.shape)
    slices = x.reshape((outer, size, inner))
    names = indices.reshape((count,))
    if inner == 1:
        _gather_last(slices.reshape((outer, size)), names, epilogue.reshape((outer, count)))
        return

    def read(at: list[IndexExpr], lanes: Lanes | None) -> Value:
        return slices.load([at[0], _place(names, [at[1]], size), at[2]], lanes)

    epilogue.reshape((outer, count, inner)).emit_vectors(read, x.dtype)


def _gather_last(x: Buffer, indices: Buffer, epilogue: Epilogue) -> None:
    """Gather single elements along the last axis, a vector of indices at a time."""
    size = x.shape[-1]

    def read(at: list[IndexExpr], lanes: Lanes | None) -> Value:
        if lanes is None:
            return x.load([at[0], _place(indices, [at[1]], size)])
        places = convert(clamped_index(indices.load([at[1]], lanes), size), place_dtype(size))
        return x.gather(x.position([at[0], IndexExpr(0)]), places.ssa, lanes)

    epilogue.emit_vectors(read, x.dtype, "i64")


@template(tri.GatherElements, types=MOVES)
def lower_gather_elements(
    op: tri.GatherElements, kernel: KernelBuilder, x: Buffer, indices: Buffer, epilogue: Epilogue
) -> None:
    axis, last = normalize_axis(op.axis, len(x.shape)), len(x.shape) - 1
    size, dtype = x.shape[axis], place_dtype(x.shape[axis] * x.strides[axis])

    def read(at: list[IndexExpr], lanes: Lanes | None) -> Value:
        if lanes is None:
            return x.load([_place(indices, at, size) if d == axis else i for d, i in enumerate(at)])
        places = convert(clamped_index(indices.load(at, lanes), size), dtype)
        steps = places * x.strides[axis]
        if axis != last:
            steps = steps + neighbours(IndexExpr(0), lanes, dtype)
        start = x.position([IndexExpr(0) if d == axis else i for d, i in enumerate(at)])
        return x.gather(start, steps.ssa, lanes)

    epilogue.emit_vectors(read, x.dtype, "i64")


@template(tri.GatherNd, types=MOVES)
def lower_gather_nd(
    op: tri.GatherNd, kernel: KernelBuilder, x: Buffer, indices: Buffer, epilogue: Epilogue
) -> None:
    batch, depth = op.batch_dims, indices.shape[-1]
    tuples = math.prod(indices.shape[batch:-1])
    batches = math.prod(indices.shape[:batch])
    sizes, inner = x.shape[batch : batch + depth], math.prod(x.shape[batch + depth :])
    slices = x.reshape((batches, *sizes, inner))
    names = indices.reshape((batches, tuples, depth))

    def read(at: list[IndexExpr], lanes: Lanes | None) -> Value:
        places = _tuple(names, at[:2], sizes)
        return slices.load([at[0], *places, at[2]], lanes)

    epilogue.reshape((batches, tuples, inner)).emit_vectors(read, x.dtype)


def _tuple(names: Buffer, at: list[IndexExpr], sizes: Shape) -> list[IndexExpr]:
    """Load an index tuple: one place for each of the axes that it names."""
    return [_place(names, [*at, IndexExpr(d)], size) for d, size in enumerate(sizes)]


@template(tri.OneHot, types=MOVES)
def lower_one_hot(
    op: tri.OneHot, kernel: KernelBuilder, indices: Buffer, values: Buffer, epilogue: Epilogue
) -> None:
    axis = normalize_axis(op.axis, len(indices.shape) + 1)
    outer, inner = math.prod(indices.shape[:axis]), math.prod(indices.shape[axis:])
    names = indices.reshape((outer, inner))
    off, on = (values.load([IndexExpr(i)]) for i in range(2))
    dtype = place_dtype(op.depth)

    def choice(hit: Value, lanes: Lanes | None) -> Value:
        return hit.select(repeated(on, lanes), repeated(off, lanes))

    def along_depth(at: list[IndexExpr], lanes: Lanes | None) -> Value:
        hot = repeated(_hot(names.load([at[0], IndexExpr(0)]), op.depth, dtype), lanes)
        return choice(neighbours(at[1], lanes, dtype).equal(hot), lanes)

    def along_inner(at: list[IndexExpr], lanes: Lanes | None) -> Value:
        hot = _hot(names.load([at[0], at[2]], lanes), op.depth, dtype)
        return choice(hot.equal(repeated(at[1].to_value(dtype), lanes)), lanes)

    if inner == 1:
        epilogue.reshape((outer, op.depth)).emit_vectors(along_depth, values.dtype, dtype)
    else:
        epilogue.reshape((outer, op.depth, inner)).emit_vectors(along_inner, values.dtype, "i64")


def _hot(index: Value, depth: Size, dtype: str) -> Value:
    """Return the place that an index makes hot; -1 when it is outside of the axis."""
    wide = from_start(index, depth)
    inside = wide.greater_equal(0).logical_and(wide.less(depth))
    return convert(inside.select(wide, -1), dtype)


@template(tri.ScatterElements, types=MOVES)
def lower_scatter_elements(
    op: tri.ScatterElements,
    kernel: KernelBuilder,
    x: Buffer,
    indices: Buffer,
    updates: Buffer,
    epilogue: Epilogue,
) -> None:
    axis = normalize_axis(op.axis, len(x.shape))

    def write(y: Buffer) -> None:
        _copy(x, y)

        def update(at: list[IndexExpr]) -> None:
            place = _place(indices, at, x.shape[axis])
            target = [place if d == axis else i for d, i in enumerate(at)]
            y.store(combined(op.reduction, y.load(target), updates.load(at)), target)

        if x.tensor.size != 0:
            nest(indices.shape, update)

    epilogue.materialize(write, _kept_in(op.reduction, x.dtype))


@template(tri.ScatterNd, types=MOVES)
def lower_scatter_nd(
    op: tri.ScatterNd,
    kernel: KernelBuilder,
    x: Buffer,
    indices: Buffer,
    updates: Buffer,
    epilogue: Epilogue,
) -> None:
    depth = indices.shape[-1]
    sizes, inner = x.shape[:depth], math.prod(x.shape[depth:])
    tuples = math.prod(indices.shape[:-1])
    names, new = indices.reshape((tuples, depth)), updates.reshape((tuples, inner))

    def write(y: Buffer) -> None:
        _copy(x, y)
        slices = y.reshape((*sizes, inner))

        def update(at: list[IndexExpr]) -> None:
            target = [*_tuple(names, [at[0]], sizes), at[1]]
            slices.store(combined(op.reduction, slices.load(target), new.load(at)), target)

        if x.tensor.size != 0:
            nest((tuples, inner), update)

    epilogue.materialize(write, _kept_in(op.reduction, x.dtype))


def _copy(x: Buffer, y: Buffer) -> None:
    each(x.shape, lambda at: y.store(x.load(at), at))


def _kept_in(reduction: str, dtype: str) -> str:
    """Return the type in which updates are combined: half types would round each time."""
    return dtype if reduction == "none" else compute_dtype(dtype)
