"""Views around the op that a kernel is made of: it reads and stores elements where they are."""

from collections.abc import Sequence
from typing import TypeVar, cast

from ....dialects import cpu, tri
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op, view
from ...kernels.lower.views import lower_slice, lower_split, lower_transpose
from ...kernels.strided import StridedBuffer

VIEWS = (tri.Reshape, tri.Transpose, tri.Slice, tri.Split)

READERS = (tri.Attention, tri.Concat, cpu.Append)
"""The ops that read operands with any strides."""

Buffer = TypeVar("Buffer", bound=StridedBuffer)


def viewed(value: ir.Value, x: Buffer) -> Buffer | None:
    """View the operand of the op that makes a value as that; None where that needs a copy."""
    op = view(value.owner)
    seen: StridedBuffer | None
    match op:
        case tri.Reshape():
            seen = x.restride(op.shape)
        case tri.Transpose():
            seen = lower_transpose(op, x)
        case tri.Slice():
            seen = lower_slice(op, x)
        case tri.Split():
            seen = lower_split(op, x)[op.ys.index(value)]
        case _:
            raise TypeError(f"{value} is not the result of a view")
    return cast("Buffer | None", seen)


def split_views(members: Sequence[Op]) -> tuple[list[Op], list[Op]]:
    """Divide the ops of a group into views that stand before a reader, and the others."""
    number = next((n for n, op in enumerate(members) if isinstance(op, READERS)), 0)
    views: list[Op] = [op for op in members[:number] if isinstance(op, VIEWS)]
    return views, [op for op in members if op not in views]


def stores_through(anchor: Op, last: Op) -> bool:
    """Return whether an op stores its result as what the last op of its group makes of it."""
    if isinstance(last, tri.Pad):
        return anchor.allows_pad_epilogue
    return isinstance(anchor, tri.Attention) and isinstance(last, tri.Transpose)
