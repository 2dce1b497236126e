"""Report for each node of a model whether a target runs it; with `strict` all nodes must run."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ..dialects import tri
from ..dialects.core.errors import CompileError, Diagnostic
from ..dialects.core.location import describe, node_names
from ..dialects.core.module import Module, ops
from ..dialects.core.op import Op
from ..passes.inline_parts import InlineParts
from ..passes.pipeline import Instrumentation, Stage
from ..targets.core import Target
from ..targets.options import DEFAULT
from ..targets.placement.claims import claim
from ..targets.placement.partition import Partition, placeable_ops
from ..targets.placement.place import (
    Placement,
    explained_refusal,
    placed_groups,
    refusals_in,
    running_in,
)
from ..targets.registry import choose_targets
from .estimates import Estimates

Imported = Mapping[str, tuple[str, ...]]
"""The nodes of a model in order, each with the ops that it was imported as."""


@dataclass(frozen=True)
class NodeSupport:
    """Record where a node of a model would run, and why parts of it run elsewhere.

    `ops` are what the node was imported as. `targets` are where these run, in order; there are none
    where nothing is left to run, of a reshape for example. `refusals` are the reasons,
    without those of ops that only convert values for the target: to its types and axis orders.
    `sizes` are those of a program for exact sizes.
    """

    node: str
    ops: tuple[str, ...]
    targets: tuple[str, ...]
    refusals: tuple[str, ...]
    sizes: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def runs(self) -> bool:
        """Return whether all of the node runs where it was asked for."""
        return not self.refusals


@dataclass(frozen=True)
class Refusal:
    """Record why an op runs elsewhere, and its nodes, as text and by name."""

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


class SupportLog(Instrumentation):
    """Record why a target refuses ops of a model, as they are when the model is partitioned.

    It is made when the model was just imported, and watches the pipeline.
    """

    def __init__(self, module: Module, target: str) -> None:
        self.targets = choose_targets(target)
        self.imported = imported_nodes(module)
        self.refused: list[Refusal] = []

    def before(self, stage: Stage, module: Module) -> None:
        if stage.name == Partition.name:
            asked = self.targets[0]
            for op in [op for block in tri.run_blocks(module.main) for op in placeable_ops(block)]:
                if reasons := claim(op, asked, module, DEFAULT).reasons:
                    self.refused.append(_refusal(op, "; ".join(reasons)))

    def reasons(self, nodes: Iterable[str]) -> tuple[str, ...]:
        """Return why ops of nodes were refused."""
        named = set(nodes)
        found = (each.reason for each in self.refused if named.intersection(each.nodes))
        return tuple(dict.fromkeys(found))

    def refusals(self, module: Module) -> list[Refusal]:
        """List the ops that the target should run and does not, of a placed module.

        Not among them are boundary ops, which only convert values for the target, or for others.
        """
        asked, targets = self.targets[0], _targets(module)
        found = [each for each in self.refused if _is_elsewhere(each, targets, asked)]
        known = {node for each in found for node in each.nodes}
        for group in placed_groups(module):
            for op, reason in (
                refusals_in(group, asked, module) if group.target != asked.name else ()
            ):
                if not known.intersection(node_names(op.location)):
                    found.append(_refusal(op, reason))
        return [kept for each in found if (kept := self._kept(each, targets))]

    def _kept(self, refusal: Refusal, targets: Mapping[str, tuple[str, ...]]) -> Refusal | None:
        """Return a refusal with the nodes for which the op computes; None if there are none."""
        asked = self.targets[0]
        nodes = tuple(
            node
            for node in refusal.nodes
            if not _is_boundary(
                refusal.op, self.imported.get(node, ()), targets.get(node, ()), asked
            )
        )
        if not nodes and refusal.nodes:
            return None
        return replace(refusal, where=", ".join(nodes) or refusal.where, nodes=nodes)


def node_support(
    log: SupportLog, module: Module, sizes: Mapping[str, int]
) -> Iterator[NodeSupport]:
    """Follow nodes to the kernels that their ops have become part of, in a placed program."""
    targets = _targets(module)
    reasons: dict[str, list[str]] = {}
    for refusal in log.refusals(module):
        for node in refusal.nodes:
            reasons.setdefault(node, []).append(refusal.reason)
    for node, names in log.imported.items():
        found, why = targets.get(node, ()), tuple(dict.fromkeys(reasons.get(node, ())))
        yield NodeSupport(node, names, found, why, dict(sizes))


def placements(
    log: SupportLog, module: Module, sizes: Mapping[str, int], estimates: Estimates
) -> Iterator[Placement]:
    """Report where each kernel of a placed program runs, and why not on an earlier target."""
    names = [target.name for target in log.targets]
    for group in placed_groups(module):
        nodes = node_names(group.location)
        others = log.targets[1 : names.index(group.target)]
        members = running_in(group)
        reasons = [r for t in others for m in members if (r := explained_refusal(m, t, None))]
        if group.target != names[0]:
            own = log.reasons(nodes) or tuple(
                r for m in members if (r := explained_refusal(m, log.targets[0], None))
            )
            reasons = [*own, *reasons]
        found = tuple(m.op_name for m in members)
        where = nodes or (describe(group.location),)
        why = tuple(dict.fromkeys(reasons))
        yield Placement(group.target, where, found, why, dict(sizes), estimates.of(nodes))


def _refusal(op: Op, reason: str) -> Refusal:
    return Refusal(describe(op.location), node_names(op.location), op.op_name, reason)


def _is_elsewhere(refusal: Refusal, targets: Mapping[str, tuple[str, ...]], asked: Target) -> bool:
    """Return whether some node of a refused op has a kernel on another target."""
    found = [target for node in refusal.nodes for target in targets.get(node, ())]
    return not refusal.nodes or any(target != asked.name for target in found)


def _is_boundary(
    op: str, imported_as: tuple[str, ...], found: tuple[str, ...], asked: Target
) -> bool:
    """Return whether an op of a node does not compute, but converts values for the target."""
    boundary = {cls.op_name for cls in asked.boundary_ops}
    if imported_as and boundary.issuperset(imported_as):
        return True
    converts = {*boundary, tri.Transpose.op_name} - {*imported_as}
    return op in converts and asked.name in found


def _targets(module: Module) -> dict[str, tuple[str, ...]]:
    """List by node the targets that run it, in the order of the kernels."""
    found: dict[str, list[str]] = {}
    for group in placed_groups(module):
        for op in running_in(group):
            for node in node_names(op.location):
                found.setdefault(node, []).append(group.target)
    return {node: tuple(dict.fromkeys(names)) for node, names in found.items()}


class Strict(SupportLog):
    """Refuse a model, as soon as it is placed, of which the target does not run all ops.

    Raises CompileError with all ops that are refused.
    """

    def after(self, stage: Stage, module: Module) -> None:
        if stage.name != InlineParts.name:
            return
        with module.operation.context:
            found = self.refusals(module)
            if found:
                raise CompileError(self._diagnostics(found, module))

    def _diagnostics(self, found: list[Refusal], module: Module) -> list[Diagnostic]:
        name = self.targets[0].name
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
    """Return the instrumentation of a pipeline for a module that was just imported."""
    return (Strict(module, target),) if strict else ()
