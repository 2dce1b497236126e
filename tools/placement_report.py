"""Where a model would run: the reports of `trivium check` and `trivium can-run`."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .spelling import columns, count, spell_names

if TYPE_CHECKING:
    from ..compiler.verdicts import Verdict
    from ..targets.place import Placement


@dataclass(frozen=True)
class PlacedKernel:
    """Say where a kernel would run, and why not where it was asked for."""

    target: str
    nodes: tuple[str, ...]
    ops: tuple[str, ...]
    refusals: tuple[str, ...]


@dataclass(frozen=True)
class Placements:
    """Say where the kernels of a model would run; `counts` has their number by target."""

    file: str
    target: str
    counts: dict[str, int]
    kernels: tuple[PlacedKernel, ...]


@dataclass(frozen=True)
class NodeReport:
    """Say whether a node runs where it was asked for, and where it runs if not."""

    node: str
    ops: tuple[str, ...]
    runs: bool
    targets: tuple[str, ...]
    refusals: tuple[str, ...]


@dataclass(frozen=True)
class NodeReports:
    """Say which nodes of a model run on a target; `able` counts them."""

    file: str
    target: str
    able: int
    nodes: tuple[NodeReport, ...]


def placements_of(file: str, target: str, placed: "Sequence[Placement]") -> Placements:
    """Report the placements of a model that was to run on a target."""
    kernels = tuple(PlacedKernel(p.target, p.nodes, p.ops, p.refusals) for p in placed)
    return Placements(file, target, dict(Counter(k.target for k in kernels)), kernels)


def node_reports_of(file: str, target: str, verdicts: "Sequence[Verdict]") -> NodeReports:
    """Report which nodes of a model run on a target."""
    nodes = tuple(NodeReport(v.node, v.ops, v.runs, v.targets, v.refusals) for v in verdicts)
    return NodeReports(file, target, sum(node.runs for node in nodes), nodes)


def describe_placements(report: Placements) -> str:
    """Return the text that `trivium check` prints."""
    counted = ", ".join(f"{number} on {target}" for target, number in report.counts.items())
    lines = [f"{report.file}: {counted or 'nothing to run'}"]
    for target in report.counts:
        kinds = Counter(_ops(k.ops) for k in report.kernels if k.target == target)
        lines += ["", target, *columns([(f"{n}x", ops) for ops, n in sorted(kinds.items())])]
    refused = [k for k in report.kernels if k.refusals]
    if refused:
        rows = [(spell_names(k.nodes), _ops(k.ops), "; ".join(k.refusals)) for k in refused]
        lines += ["", "not where it was asked for", *columns(rows)]
    return "\n".join(lines)


def describe_nodes(report: NodeReports) -> str:
    """Return the text that `trivium can-run` prints."""
    rows = [
        (each.node, _ops(each.ops), "yes" if each.runs else "no", _where(each, report.target))
        for each in report.nodes
    ]
    verb = "runs" if report.able == 1 else "run"
    total = f"{report.able} of {count(len(rows), 'node')} {verb} on {report.target}"
    return "\n".join([*columns(rows, ""), total] if rows else [total])


def _where(node: NodeReport, target: str) -> str:
    """Say where a node runs, when not all of it runs where it was asked for."""
    if not node.targets:
        return "nothing is left to run"
    if node.runs:
        others = [other for other in node.targets if other != target]
        return f"brought by {', '.join(others)}" if others else ""
    return f"on {', '.join(node.targets)}: {'; '.join(node.refusals)}"


def _ops(ops: Sequence[str]) -> str:
    return " + ".join(ops)
