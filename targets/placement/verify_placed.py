"""Verify placed IR that was not placed just now: that of a package."""

from collections.abc import Sequence

from ...dialects import tri
from ...dialects.core.body import check_body
from ...dialects.core.errors import CompileError, Diagnostic, Invalid
from ...dialects.core.location import describe
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module, functions
from ...dialects.core.op import Op, view
from ...runtime.contents import PROCESS
from ..core import Target
from ..memory.values import NO_CODE_OPS, VIEWS, is_stored_as_operand, memory_of
from .place import placement_refusals


def verify_placed(module: Module, targets: Sequence[Target]) -> None:
    """Raise CompileError unless the targets can compile a module as it is.

    It must be one function of one block, of groups that their targets take, and of constants,
    copies and views between them, and of branches and loops whose bodies are the same; every group
    must read its operands in the memory of its target.
    The IR must be valid.
    """
    named = {target.name: target for target in targets}
    try:
        block = _only_block(module)
    except Invalid as error:
        raise CompileError(f"the module {error}") from None
    _check_block(block, named)


def _check_block(block: ir.Block, targets: dict[str, Target]) -> None:
    """Raise CompileError for the first op that does not fit, of a block or of a body in it."""
    for operation in block.operations:
        op = view(operation)
        try:
            _check(operation.operation, op, targets)
        except Invalid as error:
            where = describe(operation.operation.location)
            message = f"'{operation.operation.name}' op {error}"
            raise CompileError([Diagnostic(where, message)]) from None
        if isinstance(op, tri.ControlOp):
            for body in op.bodies:
                _check_block(body, targets)


def _only_block(module: Module) -> ir.Block:
    """Return the block of the model's function; Invalid unless the module is this function."""
    found = list(functions(module.operation))
    count = len(module.operation.regions[0].blocks[0].operations)
    if len(found) != 1 or count != 1:
        raise Invalid(f"has {len(found)} functions and {count} ops, must be one function")
    try:
        check_body(found[0], "func.return")
    except Invalid as error:
        raise Invalid(f"has a function that {error}") from None
    return found[0].regions[0].blocks[0]


def _check(operation: ir.Operation, op: Op | None, targets: dict[str, Target]) -> None:
    if operation.name == "func.return" or isinstance(op, (tri.ControlOp, tri.Yield)):
        _check_memory(operation, PROCESS)
    elif isinstance(op, tri.Fail):
        return
    elif isinstance(op, tri.Group):
        _check_group(op, targets)
    elif isinstance(op, tri.Copy):
        memories = {PROCESS, *(target.memory.name for target in targets.values())}
        if op.to not in memories:
            raise Invalid(f"copies to '{op.to}', must copy to {' or '.join(sorted(memories))}")
    elif isinstance(op, VIEWS):
        if not is_stored_as_operand(op):
            raise Invalid("is between kernels, must be stored in memory as its operand is")
    elif not isinstance(op, NO_CODE_OPS):
        raise Invalid("is in no kernel, must be in a tri.group")


def _check_group(group: tri.Group, targets: dict[str, Target]) -> None:
    if group.target not in targets:
        raise Invalid(f"is placed on '{group.target}', must be on {' or '.join(targets)}")
    target = targets[group.target]
    for operation in group.block.operations:
        if view(operation) is None:
            raise Invalid(f"contains '{operation.operation.name}', must contain ops of Trivium")
    if refusals := placement_refusals(group, target):
        raise Invalid(f"is not for '{target.name}': {refusals[0]}")
    _check_memory(group.operation, target.memory.name)


def _check_memory(operation: ir.Operation, memory: str) -> None:
    for index, value in enumerate(operation.operands):
        found = memory_of(value)
        if found not in (None, memory):
            raise Invalid(f"reads operand {index} from '{found}', must read '{memory}'")
