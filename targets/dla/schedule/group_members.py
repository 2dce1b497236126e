"""Groups on an accelerator: their ops, images, constants and outputs."""

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, ops
from ....dialects.core.op import Op, view
from ....dialects.dla.dialect import TensorOp


def groups_of(module: Module, target: str) -> list[tri.Group]:
    """List the groups on an accelerator, in order."""
    return [op for op in ops(module.main) if isinstance(op, tri.Group) and op.target == target]


def members_of(group: tri.Group) -> list[Op]:
    """List the ops of a group, in order."""
    return [op for op in ops(group.block) if isinstance(op, TensorOp)]


def outputs_of(group: tri.Group) -> list[ir.Value]:
    """List the values that a group yields, in the order of its results."""
    return list(list(group.block.operations)[-1].operation.operands)


def is_image(value: ir.Value) -> bool:
    """Report whether a value is a batch of images."""
    tensor = tensor_of(value.type)
    return tensor.rank == 4 and tensor.dtype == "i8"


def is_constant(group: tri.Group, argument: ir.Value) -> bool:
    """Report whether the operand for an argument of a group is a constant."""
    arguments: list[ir.Value] = list(group.block.arguments)
    value = group.operation.operands[arguments.index(argument)]
    made = view(value.owner) if isinstance(value, ir.OpResult) else None
    return isinstance(made, (tri.Constant, tri.Weight))
