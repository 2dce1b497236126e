"""Verify IR: MLIR's own checks, then every op of our dialects against its class."""

import difflib
from collections.abc import Callable
from dataclasses import dataclass

from .attributes import from_attribute
from .errors import CompileError, Diagnostic, Invalid, Unsupported
from .location import describe
from .mlir import ir
from .op import OPS, Op, view

TARGET = "target"
"""The attribute by which ops with regions say which target runs them."""


@dataclass(frozen=True)
class Fault:
    """One op that breaks its contract: where, and what is wrong with it."""

    location: ir.Location
    message: str


def faults(scope: ir.Operation, *, allow_unregistered: bool = False) -> list[Fault]:
    """Find all faults of our ops, and ops that no dialect knows, below an operation."""
    found: list[Fault] = []
    for region in scope.regions:
        for block in region.blocks:
            for operation in block.operations:
                found += _faults_of(operation.operation, allow_unregistered)
    return found


def _faults_of(operation: ir.Operation, allow_unregistered: bool) -> list[Fault]:
    """Find the faults of one op, of those inside, and, if there are none, of these together."""
    message = _fault(operation, allow_unregistered)
    found = [Fault(operation.location, message)] if message else []
    if not len(operation.regions):
        return found
    found += faults(operation, allow_unregistered=allow_unregistered)
    op = view(operation)
    if found or op is None:
        return found
    message = _invalid(op, op.verify_regions)
    return [Fault(operation.location, message)] if message else []


def verify(scope: ir.Operation, *, allow_unregistered: bool = False) -> None:
    """Raise CompileError with all faults below an operation; MLIRError for MLIR's own checks."""
    scope.verify()
    if found := faults(scope, allow_unregistered=allow_unregistered):
        raise CompileError([Diagnostic(describe(f.location), f.message) for f in found])


def _fault(operation: ir.Operation, allow_unregistered: bool) -> str | None:
    if operation.name == "func.func":
        return _function_fault(operation)
    op = view(operation)
    if op is not None:
        return _invalid(op, lambda: _verify(op))
    if allow_unregistered or operation.context.is_registered_operation(operation.name):
        return None
    close = difflib.get_close_matches(operation.name, OPS, 1)
    hint = f", did you mean '{close[0]}'" if close else ""
    return f"'{operation.name}' op is of no dialect{hint}"


def _function_fault(function: ir.Operation) -> str | None:
    """Return what is wrong with the end of a function, or with the names of its ports, or None."""
    for block in function.regions[0].blocks:
        last = view(block.operations[len(block.operations) - 1])
        if last is not None and not last.terminator:  # MLIR allows it, as it does not know our ops
            return f"'func.func' op ends in '{last.op_name}', must end in 'func.return'"
    type_ = function.attributes["function_type"].value
    counts = {"inputs": len(type_.inputs), "outputs": len(type_.results), "complex": None}
    for which, count in counts.items():
        if (key := f"trivium.{which}") not in function.attributes:
            continue
        try:
            names = from_attribute(function.attributes[key], tuple[str, ...])
        except (Invalid, TypeError):
            return f"'func.func' op attribute '{key}' must be an array of strings"
        if count is not None and len(names) != count:
            return f"'func.func' op names {len(names)} {which} in '{key}', has {count}"
    return None


def _verify(op: Op) -> None:
    _check_home(op)
    op.verify()


def _invalid(op: Op, check: Callable[[], None]) -> str | None:
    try:
        check()
    except (Invalid, Unsupported) as error:
        return f"'{op.op_name}' op {error}"
    return None


def _check_home(op: Op) -> None:
    """Raise Invalid for an op that only one target has, inside of what is for another one."""
    home = op.dialect.target
    parent = op.operation.parent if home else None
    while parent is not None:
        if TARGET in parent.attributes:
            target = parent.attributes[TARGET].value
            if target not in ("", home):
                around = parent.operation.name
                raise Invalid(f"is of '{home}' alone, stands in a {around} for '{target}'")
        parent = parent.operation.parent
