"""Say in which memory values are, and which are views of others."""

from ..dialects import tri
from ..dialects.core.attributes import order_of, tensor_of
from ..dialects.core.mlir import ir
from ..dialects.core.op import Op, view
from .core import DEVICE_MEMORY, HOST_MEMORY
from .orders import Order, reshaped_order, same_memory, transposed_order
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
        case _:
            return read_memory(op)


def read_memory(op: Op) -> str:
    """Return the memory from which a kernel or a program reads, or that a copy reads."""
    if isinstance(op, tri.Group):
        return find_target(op.target).memory
    if isinstance(op, tri.Copy):
        return memory_of(op.x) or HOST_MEMORY
    from ..dialects import dla, tile  # which a model for the CPU does without

    match op:
        case tile.Launch():
            return DEVICE_MEMORY
        case dla.Run():
            return HOST_MEMORY  # its driver brings bytes to the accelerator and back
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


def viewed_order(op: tri.Reshape | tri.Transpose, order: Order) -> Order | None:
    """Return the order of a view whose operand lies in an order; None where it cannot be one."""
    if isinstance(op, tri.Transpose):
        return transposed_order(order, op.permutation)
    return reshaped_order(tensor_of(op.x.type).shape, order, op.shape)


def lies_as_operand(op: tri.Reshape | tri.Transpose) -> bool:
    """Say whether the result of a view has its elements where its operand has them."""
    order = viewed_order(op, order_of(op.x.type))
    return order is not None and same_memory(tensor_of(op.y.type).shape, order, order_of(op.y.type))
