"""Lowerings of ops that move or repeat elements: views where strides allow it, else copies."""

from ....dialects import cpu, tri
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.tensor import normalize_axis
from ...element_types import MOVES
from ...kernels.lower.views import register_views
from ...memory.strides import parts_of
from ..kernels.buffer import Buffer, Lanes
from ..kernels.builder import KernelBuilder
from ..kernels.epilogue import Epilogue
from ..kernels.index import IndexExpr, greatest, least, place_dtype
from ..kernels.value import Value
from ..kernels.windows import neighbours, repeated
from ..registry import TABLE, indexed, template


@indexed(tri.Reshape)
def lower_reshape(op: tri.Reshape, x: Buffer) -> Buffer:
    return x.reshape(op.shape)


register_views(TABLE)


@template(tri.Concat, types=MOVES)
def lower_concat(
    op: tri.Concat, kernel: KernelBuilder, xs: list[Buffer], epilogue: Epilogue
) -> None:
    _emit_joined(op.axis, xs, epilogue, 0)


@template(cpu.Append, types=MOVES)
def lower_append(
    op: cpu.Append, kernel: KernelBuilder, x: Buffer, added: list[Buffer], epilogue: Epilogue
) -> None:
    _emit_joined(op.axis, [x, *added], epilogue, 1)


def _emit_joined(axis: int, xs: list[Buffer], epilogue: Epilogue, first: int) -> None:
    """Copy buffers to their parts of the result along an axis, from number `first` on."""
    axis = normalize_axis(axis, len(epilogue.shape))
    starts = [start for start, _ in parts_of([x.shape[axis] for x in xs])]
    for x, start in list(zip(xs, starts, strict=True))[first:]:
        epilogue.window(_along(axis, start, x), x.shape).emit_copy(x)


def _along(axis: int, start: Size, x: Buffer) -> list[Size]:
    return [start if d == axis else 0 for d in range(len(x.shape))]


@template(tri.Tile, types=MOVES)
def lower_tile(op: tri.Tile, kernel: KernelBuilder, x: Buffer, epilogue: Epilogue) -> None:
    # One more dimension for the repeats before each of x: there x has size 1, and broadcasts.
    once = tuple(size for n in x.shape for size in (1, n))
    often = tuple(size for pair in zip(op.repeats, x.shape, strict=True) for size in pair)
    epilogue.reshape(often).emit_copy(x.reshape(once).broadcast_to(often))


@template(tri.Trilu, types=MOVES)
def lower_trilu(op: tri.Trilu, kernel: KernelBuilder, x: Buffer, epilogue: Epilogue) -> None:
    rows, columns = x.shape[-2:]
    diagonal = greatest(-rows, least(op.k, columns))
    dtype = place_dtype(greatest(rows, columns))

    def read(at: list[IndexExpr], lanes: Lanes | None) -> Value:
        distance = neighbours(at[-1], lanes, dtype) - repeated(at[-2].to_value(dtype), lanes)
        kept = distance.greater_equal(diagonal) if op.upper else distance.less_equal(diagonal)
        return kept.select(x.load(at, lanes), 0)

    epilogue.emit_vectors(read, x.dtype, dtype)


@template(tri.Iota)
def lower_iota(op: tri.Iota, kernel: KernelBuilder, epilogue: Epilogue) -> None:
    epilogue.emit_vectors(lambda at, lanes: neighbours(at[0], lanes, "i64"), "i64")
