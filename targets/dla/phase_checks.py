"""Checks of what each phase must have done, whichever passes it has.

A phase list that lacks a pass ends in an error here and not in the code that relies on the pass.
"""

from collections.abc import Callable, Iterator

from ...dialects import dla, tri
from ...dialects.core.errors import CompileError, Diagnostic
from ...dialects.core.location import describe
from ...dialects.core.module import Module, functions, ops
from ...dialects.core.op import Op
from ..registry import choose_target
from .allocate.liveness import programs
from .phases import Check
from .select.segment_dla import is_selected

Fault = tuple[Op, str]
"""An op that breaks a promise, and what is wrong with it."""


def promise(find: Callable[..., Iterator[Fault]], *options: str) -> Check:
    """Make the check that raises CompileError for all faults found in a module."""

    def check(module: Module) -> None:
        if found := list(find(module, *options)):
            raise CompileError([_diagnostic(op, message) for op, message in found])

    return check


def ungrouped(module: Module, target: str, file: str) -> Iterator[Fault]:
    """Find ops that an accelerator, as a file describes it, takes, and that are in no group."""
    chosen = choose_target(f"{target}:{file}".rstrip(":"))
    for function in functions(module.operation):
        for operation in function.regions[0].blocks[0].operations:
            if (op := is_selected(operation.operation, chosen)) is not None:
                yield op, "is in no tri.group, must be in one (segment-dla)"


def unlowered(module: Module, target: str) -> Iterator[Fault]:
    """Find groups that are no program yet."""
    for op in ops(module.main):
        if isinstance(op, tri.Group) and op.target == target:
            yield op, f"on '{target}' is no dla.program, must be one (lower-to-buffers)"


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


def _diagnostic(op: Op, message: str) -> Diagnostic:
    name = f" '{op.sym_name}'" if isinstance(op, dla.Program) else ""
    return Diagnostic(describe(op.location), f"'{op.op_name}' op{name} {message}")
