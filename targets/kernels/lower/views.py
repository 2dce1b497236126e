"""Lowerings of ops whose results are views of the operand."""

from ....dialects import tri
from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....dialects.core.tensor import normalize_axis
from ...memory.strides import parts_of
from ..kernel_table import KernelTable
from ..strided import StridedBuffer


def register_views(table: KernelTable) -> None:
    """Register the lowerings of ops that only view their operand."""
    table.indexed(tri.Transpose)(lower_transpose)
    table.indexed(tri.Slice)(lower_slice)
    table.indexed(tri.Split)(lower_split)
    table.indexed(tri.Expand)(lower_expand)


def lower_transpose(op: tri.Transpose, x: StridedBuffer) -> StridedBuffer:
    return x.transpose(op.permutation)


def lower_slice(op: tri.Slice, x: StridedBuffer) -> StridedBuffer:
    starts = list(map(_start, op.starts, x.shape))
    return x.slice(starts, op.sizes, op.steps)


def _start(start: Size, size: Size) -> Size:
    """Return where a slice starts; one without elements may start outside of its axis."""
    known = not is_symbolic(start) and not is_symbolic(size)
    return 0 if known and not 0 <= start < size else start


def lower_split(op: tri.Split, x: StridedBuffer) -> tuple[StridedBuffer, ...]:
    axis = normalize_axis(op.axis, len(x.shape))
    return tuple(_part(x, axis, start, size) for start, size in parts_of(op.sizes))


def _part(x: StridedBuffer, axis: int, start: Size, size: Size) -> StridedBuffer:
    starts = [start if d == axis else 0 for d in range(len(x.shape))]
    sizes = tuple(size if d == axis else n for d, n in enumerate(x.shape))
    return x.slice(starts, sizes, [1] * len(x.shape))


def lower_expand(op: tri.Expand, x: StridedBuffer) -> StridedBuffer:
    return x.broadcast_to(op.shape)
