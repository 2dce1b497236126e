"""Lowerings of ops that move or repeat elements: views where strides can say it, else copies."""

from ...dialects import tri
from ...dialects.core.tensor import normalize_axis
from ..strides import parts_of
from .buffer import Buffer, Lanes
from .index import Index, place_dtype
from .kernel import KernelBuilder
from .number import Number
from .registry import indexed, template
from .sink import Sink
from .windows import neighbours, repeated


@indexed(tri.Reshape)
def lower_reshape(op: tri.Reshape, x: Buffer) -> Buffer:
    return x.reshape(op.shape)


@indexed(tri.Transpose)
def lower_transpose(op: tri.Transpose, x: Buffer) -> Buffer:
    return x.transpose(op.permutation)


@indexed(tri.Slice)
def lower_slice(op: tri.Slice, x: Buffer) -> Buffer:
    starts = [s if 0 <= s < d else 0 for s, d in zip(op.starts, x.shape, strict=True)]
    return x.slice(starts, op.sizes, op.steps)


@indexed(tri.Split)
def lower_split(op: tri.Split, x: Buffer) -> tuple[Buffer, ...]:
    axis = normalize_axis(op.axis, len(x.shape))
    return tuple(
        x.slice(_along(axis, start, x), _resized(x, axis, size), [1] * len(x.shape))
        for start, size in parts_of(op.sizes)
    )


@template(tri.Concat)
def lower_concat(op: tri.Concat, kernel: KernelBuilder, xs: list[Buffer], sink: Sink) -> None:
    axis = normalize_axis(op.axis, len(sink.shape))
    for x, (start, _) in zip(xs, parts_of([x.shape[axis] for x in xs]), strict=True):
        sink.window(_along(axis, start, x), x.shape).copy(x)


def _along(axis: int, start: int, x: Buffer) -> list[int]:
    return [start if d == axis else 0 for d in range(len(x.shape))]


def _resized(x: Buffer, axis: int, size: int) -> tuple[int, ...]:
    return tuple(size if d == axis else n for d, n in enumerate(x.shape))


@indexed(tri.Expand)
def lower_expand(op: tri.Expand, x: Buffer) -> Buffer:
    return x.broadcast_to(op.shape)


@template(tri.Tile)
def lower_tile(op: tri.Tile, kernel: KernelBuilder, x: Buffer, sink: Sink) -> None:
    # One more dimension for the repeats before each of x: there x has size 1, and broadcasts.
    once = tuple(size for n in x.shape for size in (1, n))
    often = tuple(size for pair in zip(op.repeats, x.shape, strict=True) for size in pair)
    sink.over(often).copy(x.reshape(once).broadcast_to(often))


@template(tri.Trilu)
def lower_trilu(op: tri.Trilu, kernel: KernelBuilder, x: Buffer, sink: Sink) -> None:
    rows, columns = x.shape[-2:]
    diagonal = max(-rows, min(op.k, columns))
    dtype = place_dtype(max(rows, columns))

    def read(at: list[Index], lanes: Lanes | None) -> Number:
        distance = neighbours(at[-1], lanes, dtype) - repeated(at[-2].number(dtype), lanes)
        kept = distance.greater_equal(diagonal) if op.upper else distance.less_equal(diagonal)
        return kept.select(x.load(at, lanes), 0)

    sink.fill_vectors(read, x.dtype, dtype)
