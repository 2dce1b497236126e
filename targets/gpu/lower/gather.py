"""Lowerings of ops that read at places that another tensor names.

An index outside of its axis reads the nearest element of the axis: kernels cannot report errors.
"""

from ....dialects import tri
from ....dialects.core.tensor import normalize_axis
from ...kernels.lower.index import clamped_index, from_start
from ..kernels.buffer import Buffer
from ..kernels.epilogue import Reader
from ..kernels.value import Value, scalar
from ..registry import indexed


def place_in(index: Value, size: int) -> Value:
    """Map an index into [0, size): negative ones count from the end, larger ones are clamped."""
    return clamped_index(index, size).cast("i32").named("place")


@indexed(tri.Gather)
def lower_gather(op: tri.Gather, x: Buffer, indices: Buffer) -> Reader:
    axis = normalize_axis(op.axis, len(x.shape))
    end = axis + len(indices.shape)

    def read(at: list[Value]) -> Value:
        place = place_in(indices.load(at[axis:end]), x.shape[axis])
        return x.load([*at[:axis], place, *at[end:]])

    return read


@indexed(tri.GatherElements)
def lower_gather_elements(op: tri.GatherElements, x: Buffer, indices: Buffer) -> Reader:
    axis = normalize_axis(op.axis, len(x.shape))

    def read(at: list[Value]) -> Value:
        place = place_in(indices.load(at), x.shape[axis])
        return x.load([place if d == axis else i for d, i in enumerate(at)])

    return read


@indexed(tri.GatherNd)
def lower_gather_nd(op: tri.GatherNd, x: Buffer, indices: Buffer) -> Reader:
    batch, depth, outer = op.batch_dims, indices.shape[-1], len(indices.shape) - 1

    def read(at: list[Value]) -> Value:
        places = [
            place_in(indices.load([*at[:outer], scalar(d)]), x.shape[batch + d])
            for d in range(depth)
        ]
        return x.load([*at[:batch], *places, *at[outer:]])

    return read


@indexed(tri.OneHot)
def lower_one_hot(op: tri.OneHot, indices: Buffer, values: Buffer) -> Reader:
    axis = normalize_axis(op.axis, len(indices.shape) + 1)

    def read(at: list[Value]) -> Value:
        wide = from_start(indices.load([*at[:axis], *at[axis + 1 :]]), op.depth)
        off, on = (values.load([scalar(i)]) for i in range(2))
        return wide.equal(at[axis].cast("i64")).select(on, off)

    return read
