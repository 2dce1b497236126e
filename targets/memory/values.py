"""Find the memory of each value, and which values are views of others."""

from ...dialects import tri
from ...dialects.core.attributes import order_of, tensor_of
from ...dialects.core.errors import CompileError, Diagnostic
from ...dialects.core.location import describe
from ...dialects.core.mlir import ir
from ...dialects.core.module import direct_ops
from ...dialects.core.op import Op, view
from ...runtime.contents import PROCESS
from ..installed import pick, targets
from .orders import Order, reshaped_order, same_memory, transposed_order
from .space import PROCESS_MEMORY, MemorySpace

VIEWS = (tri.Reshape, tri.Transpose)
"""Ops that, between kernels, read the memory of their operand in another way."""

NO_CODE_OPS = (tri.Constant, tri.Weight, *VIEWS)
"""Ops between kernels for which nothing is done when a model runs."""


def code_ops(block: ir.Block) -> list[Op]:
    """List the ops of a block that do something when it runs, without those in their regions."""
    found = direct_ops(block)
    return [op for op in found if not isinstance(op, NO_CODE_OPS) and not op.terminator]


def memory_of(value: ir.Value) -> str | None:
    """Return the memory that holds a value of a placed function's own block.

    Each target has its own copy of constants: they are in no memory, and that is None.
    """
    value = viewed(value)
    op = view(value.owner) if isinstance(value, ir.OpResult) else None
    match op:
        case None:
            return PROCESS  # an input
        case tri.Constant() | tri.Weight():
            return None
        case tri.Copy():
            return op.to
        case _:
            return read_memory(op)


def read_memory(op: Op) -> str:
    """Return the memory that an op between kernels reads, or that a kernel or program reads."""
    if isinstance(op, tri.Group):
        return memory_of_target(op.target)
    if isinstance(op, tri.Copy):
        return memory_of(op.x) or PROCESS
    if op.memory_space is None:
        message = f"'{op.op_name}' op is in no kernel, must be placed"
        raise CompileError([Diagnostic(describe(op.location), message)])
    return op.memory_space


def memory_of_target(name: str) -> str:
    """Return the name of the memory that the kernels of a target read; raises CompileError."""
    return _space_of_target(name).name


def space_named(name: str) -> MemorySpace:
    """Return the memory space of a name; raise CompileError when no target has it."""
    if name == PROCESS:
        return PROCESS_MEMORY
    for origin in targets():
        space = _space_of_target(origin.name)
        if space.name == name:
            return space
    raise CompileError(f"no target has a memory called '{name}': install the one that has it")


def _space_of_target(name: str) -> MemorySpace:
    space: MemorySpace = pick("target", name, targets()).load().memory
    return space


def viewed(value: ir.Value) -> ir.Value:
    """Return the value whose memory a value is a view of: itself, where it is none."""
    while isinstance(value, ir.OpResult):
        op = view(value.owner)
        if not isinstance(op, VIEWS):
            break
        value = op.x
    return value


def viewed_order(op: tri.Reshape | tri.Transpose, order: Order) -> Order | None:
    """Return the order of a view whose operand is stored in an order; None where it is no view."""
    if isinstance(op, tri.Transpose):
        return transposed_order(order, op.permutation)
    return reshaped_order(tensor_of(op.x.type).shape, order, op.shape)


def is_stored_as_operand(op: tri.Reshape | tri.Transpose) -> bool:
    """Return whether the result of a view has its elements where its operand has them."""
    order = viewed_order(op, order_of(op.x.type))
    return order is not None and same_memory(tensor_of(op.y.type).shape, order, order_of(op.y.type))
