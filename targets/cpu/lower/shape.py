"""Lowerings of ops that move or repeat elements: views where strides allow it, else copies."""

from ....dialects import tri
from ....dialects.core.tensor import normalize_axis
from ...strides import parts_of
from ..kernels.buffer import Buffer, Lanes
from ..kernels.builder import KernelBuilder
from ..kernels.epilogue import Epilogue
from ..kernels.index import IndexExpr, place_dtype
from ..kernels.value import Value
from ..kernels.windows import neighbours, repeated
from ..registry import indexed, template


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
def lower_concat(
    op: tri.Concat, kernel: KernelBuilder, xs: list[Buffer], epilogue: Epilogue
) -> None:
    axis = normalize_axis(op.axis, len(epilogue.shape))
    for x, (start, _) in zip(xs, parts_of([x.shape[axis] for x in xs]), strict=True):
        epilogue.window(_along(axis, start, x), x.shape).emit_copy(x)


def _along(axis: int, start: int, x: Buffer) -> list[int]:
    return [start if d == axis else 0 for d in range(len(x.shape))]


def _resized(x: Buffer, axis: int, size: int) -> tuple[int, ...]:
    return tuple(size if d == axis else n for d, n in enumerate(x.shape))


@indexed(tri.Expand)
def lower_expand(op: tri.Expand, x: Buffer) -> Buffer:
    return x.broadcast_to(op.shape)


@template(tri.Tile)
def lower_tile(op: tri.Tile, kernel: KernelBuilder, x: Buffer, epilogue: Epilogue) -> None:
    # One more dimension for the repeats before each of x: there x has size 1, and broadcasts.
    once = tuple(size for n in x.shape for size in (1, n))
    often = tuple(size for pair in zip(op.repeats, x.shape, strict=True) for size in pair)
    epilogue.reshape(often).emit_copy(x.reshape(once).broadcast_to(often))


@template(tri.Trilu)
def lower_trilu(op: tri.Trilu, kernel: KernelBuilder, x: Buffer, epilogue: Epilogue) -> None:
    rows, columns = x.shape[-2:]
    diagonal = max(-rows, min(op.k, columns))
    dtype = place_dtype(max(rows, columns))

    def read(at: list[IndexExpr], lanes: Lanes | None) -> Value:
        distance = neighbours(at[-1], lanes, dtype) - repeated(at[-2].to_value(dtype), lanes)
        kept = distance.greater_equal(diagonal) if op.upper else distance.less_equal(diagonal)
        return kept.select(x.load(at, lanes), 0)

    epilogue.emit_vectors(read, x.dtype, dtype)
