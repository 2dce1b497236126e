"""Say in which memory values are, and which are views of others."""

from ..dialects import tri
from ..dialects.core.mlir import ir
from ..dialects.core.op import view
from .core import HOST_MEMORY
from .registry import find_target

VIEWS = (tri.Reshape, tri.Transpose)
"""Ops that, between kernels, read the memory of their operand in another way."""


def memory_of(value: ir.Value) -> str | None:
    """Return the memory that holds a value of a placed function's own block.

    Each target has its own copy of constants: they are in no memory, and that is None.
    """
    value = viewed(value)
    op = view(value.owner) if isinstance(value, ir.OpResult) else None
    match op:
        case None:
            return HOST_MEMORY  # an input
        case tri.Constant() | tri.Weight():
            return None
        case tri.Copy():
            return op.to
        case tri.Group():
            return find_target(op.target).memory
        case _:
            raise AssertionError(f"{op.op_name} is not in a kernel")


def viewed(value: ir.Value) -> ir.Value:
    """Return the value whose memory a value is a view of: itself, where it is none."""
    while isinstance(value, ir.OpResult):
        op = view(value.owner)
        if not isinstance(op, VIEWS):
            break
        value = op.x
    return value
