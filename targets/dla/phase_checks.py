"""Checks of the result of each phase, for any passes that it consists of.

A pipeline that lacks a pass ends in an error here, not in code that relies on the pass.
"""

from collections.abc import Callable, Iterator

from ...dialects import dla
from ...dialects.core.errors import CompileError, Diagnostic
from ...dialects.core.location import describe
from ...dialects.core.module import Module, functions
from ...dialects.core.op import Op
from ...passes.core import Pass
from .allocate.liveness import programs
from .emit.emit_containers import entry_of
from .phases import Check
from .schedule.group_members import groups_of
from .select.segment_dla import Accepts, SegmentDla

Fault = tuple[Op, str]
"""An op that violates a check, and a message."""


def check_that(find: Callable[..., Iterator[Fault]], *arguments: object) -> Check:
    """Return the check that raises CompileError with all faults found in a module."""

    def check(module: Module) -> None:
        if found := list(find(module, *arguments)):
            raise CompileError([_diagnostic(op, message) for op, message in found])

    return check


def ungrouped(
    module: Module, accepted: Accepts, grouping: type[Pass] = SegmentDla
) -> Iterator[Fault]:
    """Find ops that an accelerator accepts outside of groups."""
    for function in functions(module.operation):
        for operation in function.regions[0].blocks[0].operations:
            if (op := accepted(operation.operation)) is not None:
                yield op, f"is in no tri.group, must be in one ({grouping.name})"


def unlowered(module: Module, target: str) -> Iterator[Fault]:
    """Find groups that are not lowered to programs."""
    for group in groups_of(module, target):
        yield group, f"on '{target}' is no dla.program, must be one (lower-to-buffers)"


def unscheduled(module: Module, target: str) -> Iterator[Fault]:
    """Find programs without addresses or engines."""
    for program in programs(module, target):
        known = program.addresses
        used = {value for op in program.ops for value in op.buffers.values()}
        if missing := len(used - set(known)):
            message = f"has {missing} buffers without an address, must have none"
            yield program, f"{message} (allocate-buffers)"
        if missing := sum(not op.scheduled for op in program.ops):
            yield program, f"has {missing} ops without an engine, must have none (insert-tokens)"


def unemitted(module: Module, target: str) -> Iterator[Fault]:
    """Find programs without a container."""
    for program in programs(module, target):
        if entry_of(program.sym_name) not in module.artifacts:
            yield program, "has no container, must have one (emit-containers)"


def _diagnostic(op: Op, message: str) -> Diagnostic:
    name = f" '{op.sym_name}'" if isinstance(op, dla.Program) else ""
    return Diagnostic(describe(op.location), f"'{op.op_name}' op{name} {message}")
