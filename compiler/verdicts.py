"""Say of each node of a model whether a target runs it; with `strict` nothing may be refused."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..dialects import tri
from ..dialects.core.errors import CompileError, Diagnostic
from ..dialects.core.location import describe, node_names
from ..dialects.core.module import Module, ops
from ..passes.pipeline import Instrumentation, Stage
from ..targets.core import Target
from ..targets.place import Place, placed_groups, refusals_in, running_in
from ..targets.registry import choose_target

Imported = Mapping[str, tuple[str, ...]]
"""The nodes of a model in order, each with the ops that it was imported as."""


@dataclass(frozen=True)
class Verdict:
    """Say where a node of a model would run, and why not all of it where it was asked for.

    `ops` are what the node was imported as. `targets` are where these run, in order; there are none
    where nothing is left to run, of a reshape for example. `refusals` are the reasons; none is what
    only brings values to the target, in the order and in the types in which it wants them.
    """

    node: str
    ops: tuple[str, ...]
    targets: tuple[str, ...]
    refusals: tuple[str, ...]

    @property
    def runs(self) -> bool:
        """Say whether all of the node runs where it was asked for."""
        return not self.refusals


@dataclass(frozen=True)
class Refusal:
    """Say why an op runs elsewhere, and of which nodes it is, to the user and by their names."""

    where: str
    nodes: tuple[str, ...]
    op: str
    reason: str


def imported_nodes(module: Module) -> Imported:
    """List the nodes of a model that was just imported."""
    found: dict[str, list[str]] = {}
    for op in ops(module.main):
        if op.terminator or isinstance(op, (tri.Constant, tri.Weight)):
            continue
        for node in node_names(op.location):
            found.setdefault(node, []).append(op.op_name)
    return {node: tuple(dict.fromkeys(names)) for node, names in found.items()}


def verdicts(imported: Imported, module: Module, target: str) -> Iterator[Verdict]:
    """Follow nodes to the kernels that their ops have become part of, in a placed module."""
    targets = _targets(module)
    reasons: dict[str, list[str]] = {}
    for refusal in refusals(imported, module, target):
        for node in refusal.nodes:
            reasons.setdefault(node, []).append(refusal.reason)
    for node, names in imported.items():
        found, why = targets.get(node, ()), tuple(dict.fromkeys(reasons.get(node, ())))
        yield Verdict(node, names, found, why)


def refusals(imported: Imported, module: Module, target: str) -> list[Refusal]:
    """List the ops of a placed module that a target did not take, and that it should have.

    An op that only brings values there, for all nodes that it is of, is none of them.
    """
    asked = choose_target(target)
    targets = _targets(module)
    found: list[Refusal] = []
    for group in placed_groups(module):
        for op, reason in refusals_in(group, asked, module) if group.target != asked.name else ():
            of = node_names(op.location)
            nodes = tuple(
                node
                for node in of
                if not _brings(op.op_name, imported.get(node, ()), targets[node], asked)
            )
            if nodes or not of:
                where = ", ".join(nodes) or describe(op.location)
                found.append(Refusal(where, nodes, op.op_name, reason))
    return found


def _brings(op: str, imported_as: tuple[str, ...], found: tuple[str, ...], asked: Target) -> bool:
    """Say whether an op of a node does not compute, but makes values fit for the target."""
    brought = {cls.op_name for cls in asked.brought_by}
    if imported_as and brought.issuperset(imported_as):
        return True
    moved = op == tri.Transpose.op_name and op not in imported_as
    return moved and asked.name in found


def _targets(module: Module) -> dict[str, tuple[str, ...]]:
    """List by node the targets that run it, in the order of the kernels."""
    found: dict[str, list[str]] = {}
    for group in placed_groups(module):
        for op in running_in(group):
            for node in node_names(op.location):
                found.setdefault(node, []).append(group.target)
    return {node: tuple(dict.fromkeys(names)) for node, names in found.items()}


class Strict(Instrumentation):
    """Refuse, as soon as ops are placed, a model of which the target asked for does not run all.

    It is made when the model was just imported. Raises CompileError with all ops that are refused.
    """

    def __init__(self, module: Module, target: str) -> None:
        self.target = target
        self.imported = imported_nodes(module)

    def after(self, stage: Stage, module: Module) -> None:
        if stage.name != Place.name:
            return
        with module.operation.context:
            found = refusals(self.imported, module, self.target)
            if found:
                raise CompileError(self._diagnostics(found, module))

    def _diagnostics(self, found: list[Refusal], module: Module) -> list[Diagnostic]:
        name = choose_target(self.target).name
        others = dict.fromkeys(group.target for group in placed_groups(module))
        listed = ", ".join(other for other in others if other != name)
        number = f"{len(found)} op does" if len(found) == 1 else f"{len(found)} ops do"
        them = "it" if len(found) == 1 else "them"
        without = f"compile without strict (--strict) to run {them} on {listed}"
        advice = f"{number} not run on {name}: {without}"
        text = f"op does not run on {name}"
        faults = [Diagnostic(each.where, f"'{each.op}' {text}: {each.reason}") for each in found]
        return [*faults, Diagnostic("", advice)]


def strict_hooks(strict: bool, module: Module, target: str) -> tuple[Instrumentation, ...]:
    """Return what a pipeline is to be run with on a module that was just imported."""
    return (Strict(module, target),) if strict else ()
