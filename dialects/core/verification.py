"""Verify IR: MLIR's own checks, then every op of our dialects against its class.

`verify` checks all ops. `ChangeVerifier` checks those that changed since it last saw the module.
"""

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .errors import CompileError, Diagnostic, Invalid, Unsupported, suggestion
from .location import describe
from .mlir import ir
from .op import OPS, Op, view
from .port_names import port_names
from .states.carried import check_state
from .states.generation import check_generation
from .states.kept import check_kept
from .symbol_scope import misplaced
from .symbol_table import checks_of, declare_symbols

TARGET = "target"
"""The attribute by which ops with regions say which target runs them."""


@dataclass(frozen=True)
class Fault:
    """One op that breaks its contract: where, and what is wrong with it."""

    location: ir.Location
    message: str


def faults(scope: ir.Operation, *, allow_unregistered: bool = False) -> list[Fault]:
    """Return all faults of our ops, and ops of no dialect, inside an operation."""
    found: list[Fault] = []
    for region in scope.regions:
        for block in region.blocks:
            for operation in block.operations:
                found += _faults_of(operation.operation, allow_unregistered)
    return found


def _faults_of(operation: ir.Operation, allow_unregistered: bool) -> list[Fault]:
    """Verify one op, then its nested ops."""
    found = _own_faults(operation, allow_unregistered)
    if not len(operation.regions):
        return found
    found += faults(operation, allow_unregistered=allow_unregistered)
    return found or _region_faults(operation)


def _own_faults(operation: ir.Operation, allow_unregistered: bool) -> list[Fault]:
    message = _fault(operation, allow_unregistered)
    return [Fault(operation.location, message)] if message else []


def _region_faults(operation: ir.Operation) -> list[Fault]:
    """Verify the regions of an op as a whole; every nested op must be valid."""
    op = view(operation)
    message = None if op is None else _invalid(op, op.verify_regions)
    return [Fault(operation.location, message)] if message else []


def verify(scope: ir.Operation, *, allow_unregistered: bool = False) -> None:
    """Raise CompileError with all faults below an operation; MLIRError for MLIR's own checks."""
    scope.verify()
    _declare_symbols(scope)
    _raise(faults(scope, allow_unregistered=allow_unregistered) or _misplaced(scope))


def _declare_symbols(scope: ir.Operation) -> None:
    """Declare the symbols of functions directly inside an operation, which types refer to."""
    for region in scope.regions:
        for block in region.blocks:
            for operation in block.operations:
                try:
                    declare_symbols(operation.operation)
                except Invalid as error:
                    _raise([Fault(operation.location, str(error))])


def _misplaced(scope: ir.Operation) -> list[Fault]:
    """Return the faults of functions directly inside an operation that need all of their ops."""
    return [
        Fault(each.operation.location, f"'{each.operation.name}' op {each.fault}")
        for region in scope.regions
        for block in region.blocks
        for operation in block.operations
        if operation.operation.name == "func.func"
        for each in misplaced(operation.operation)
    ]


def _raise(found: Sequence[Fault]) -> None:
    """Raise CompileError if there are faults."""
    if found:
        raise CompileError([Diagnostic(describe(f.location), f.message) for f in found])


class Verify(enum.Enum):
    """What a pipeline verifies after each pass; with CHANGES, all IR is verified at the end."""

    ALL = enum.auto()
    CHANGES = enum.auto()
    NONE = enum.auto()


def verifier(scope: ir.Operation, which: Verify, allow_unregistered: bool) -> Callable[[], None]:
    """Return a function that verifies the ops inside an operation, or those that changed."""
    if which is Verify.CHANGES:
        return ChangeVerifier(scope, allow_unregistered=allow_unregistered).verify
    if which is Verify.ALL:
        return lambda: verify(scope, allow_unregistered=allow_unregistered)
    return lambda: None


class ChangeVerifier:
    """Verify the ops that changed since the last call, starting from a valid module.

    The version of an op is MLIR's hash of its name, attributes, operands and results. An op is
    verified if its version is new, if the op that defines one of its operands is, or if its
    class checks more than the op itself (`Op.verify` is overridden). An op with regions is verified
    together with the ops inside, as soon as one of these changed; ops inside of a changed op
    are all verified, since what is allowed in a region can depend on attributes of the parent.
    """

    def __init__(self, scope: ir.Operation, *, allow_unregistered: bool = False) -> None:
        self._scope = scope
        self._allow_unregistered = allow_unregistered
        self._versions = _versions(scope)

    def verify(self) -> None:
        """Raise CompileError with the faults of changed ops; MLIRError for MLIR's own checks."""
        versions = _versions(self._scope)
        if versions == self._versions:
            return
        self._scope.verify()
        walk = _ChangeWalk(self._versions, self._allow_unregistered)
        walk.visit_regions(self._scope, parent_changed=False)
        self._versions = versions
        _raise(walk.faults or _misplaced(self._scope))


def _versions(scope: ir.Operation) -> set[int]:
    """Return the versions of all ops inside an operation."""
    versions: set[int] = set()
    for region in scope.regions:
        for block in region.blocks:
            for each in block.operations:
                operation = each.operation
                versions.add(hash(operation))
                if len(operation.regions):
                    versions |= _versions(operation)
    return versions


class _ChangeWalk:
    """Verify ops in order; `faults` has what was found."""

    def __init__(self, known: set[int], allow_unregistered: bool) -> None:
        self.faults: list[Fault] = []
        self._known = known
        self._allow_unregistered = allow_unregistered
        self._users: set[int] = set()

    def visit_regions(self, scope: ir.Operation, *, parent_changed: bool) -> bool:
        """Verify the changed ops inside an operation; return whether there were any."""
        changed = False
        for region in scope.regions:
            for block in region.blocks:
                for operation in block.operations:
                    changed |= self._visit(operation.operation, parent_changed)
        return changed

    def _visit(self, operation: ir.Operation, parent_changed: bool) -> bool:
        version = hash(operation)
        is_new = version not in self._known
        if is_new:
            users = (use.owner for result in operation.results for use in result.uses)
            self._users.update(hash(user.operation) for user in users)
        all_inside = is_new or parent_changed
        changed = all_inside or version in self._users
        if not len(operation.regions):
            if changed or _checks_more_than_itself(operation):
                self.faults += _own_faults(operation, self._allow_unregistered)
            return changed
        count = len(self.faults)
        if self.visit_regions(operation, parent_changed=all_inside) or changed:
            self.faults[count:count] = _own_faults(operation, self._allow_unregistered)
            if len(self.faults) == count:
                self.faults += _region_faults(operation)
            return True
        return False


def _checks_more_than_itself(operation: ir.Operation) -> bool:
    cls = OPS.get(operation.name)
    return cls is not None and cls.verify is not Op.verify


def _fault(operation: ir.Operation, allow_unregistered: bool) -> str | None:
    if operation.name == "func.func":
        return _function_fault(operation)
    op = view(operation)
    if op is not None:
        return _invalid(op, lambda: _verify(op))
    if allow_unregistered or operation.context.is_registered_operation(operation.name):
        return None
    hint = suggestion(operation.name, OPS)
    return f"'{operation.name}' op is of no dialect{hint}"


def _function_fault(function: ir.Operation) -> str | None:
    """Return what is wrong with a function's end, its names of ports or its checks, or None."""
    for block in function.regions[0].blocks:
        last = view(block.operations[len(block.operations) - 1])
        if last is not None and not last.terminator:  # MLIR allows it, as it does not know our ops
            return f"'func.func' op ends in '{last.op_name}', must end in 'func.return'"
    type_ = function.attributes["function_type"].value
    counts = {"inputs": len(type_.inputs), "outputs": len(type_.results), "complex": None}
    for which, count in counts.items():
        key = f"trivium.{which}"
        try:
            names = port_names(function, which)
        except (Invalid, TypeError):
            return f"'func.func' op attribute '{key}' must be an array of strings"
        if names is not None and count is not None and len(names) != count:
            return f"'func.func' op names {len(names)} {which} in '{key}', has {count}"
    try:
        checks_of(function)
        check_state(function)
        check_generation(function)
        check_kept(function)
    except Invalid as error:
        return f"'func.func' op {error}"
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
