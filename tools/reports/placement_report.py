"""The reports of `trivium check` and `trivium can-run`: the placement of a model."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

from ...compiler.sizes.report import SizeReport
from ...compiler.support_report import NodeSupport
from ...runtime.sizes.values import spelled_sizes
from ...runtime.spelling import count, spell_names
from ...targets.placement.place import Placement
from ...targets.placement.policies import ENGINE_ORDER
from ..spelling import columns, section
from .size_info import SymbolInfo, symbol_rows
from .sizes_report import symbols_of_report

R = TypeVar("R", "Placement", "NodeReport")
MOST_OPS = 24
"""How many ops of a kernel are listed one by one."""


@dataclass(frozen=True)
class Placements:
    """Describe the placement of a model; `counts` has the number of kernels by target.

    Kernels of programs for exact sizes are counted, too. `placement` is the policy that chose, and
    `order` lists the targets in the order of preference.
    """

    file: str
    target: str
    placement: str
    order: tuple[str, ...]
    counts: dict[str, int]
    kernels: tuple[Placement, ...]
    symbols: tuple[SymbolInfo, ...]


@dataclass(frozen=True)
class NodeReport:
    """Describe the placement of a node; `runs` is whether the target runs all of it.

    `sizes` are those of a program for exact sizes.
    """

    node: str
    ops: tuple[str, ...]
    runs: bool
    targets: tuple[str, ...]
    refusals: tuple[str, ...]
    sizes: dict[str, int]


@dataclass(frozen=True)
class NodeReports:
    """Describe the placement of all nodes, in each program; `able` counts those that run."""

    file: str
    target: str
    able: int
    nodes: tuple[NodeReport, ...]
    symbols: tuple[SymbolInfo, ...]


def placements_of(
    file: str,
    target: str,
    placed: Sequence[Placement],
    sizes: SizeReport,
    policy: str = ENGINE_ORDER,
    order: tuple[str, ...] = (),
) -> Placements:
    """Report the placements of a model that was to run on a target, or on several in an order."""
    counts = dict(Counter(p.target for p in placed))
    symbols = symbols_of_report(sizes)
    return Placements(file, target, policy, order, counts, tuple(placed), symbols)


def node_reports_of(
    file: str, target: str, node_support: Sequence[NodeSupport], sizes: SizeReport
) -> NodeReports:
    """Report which nodes of a model run on a target."""
    nodes = tuple(
        NodeReport(v.node, v.ops, v.runs, v.targets, v.refusals, v.sizes) for v in node_support
    )
    able = sum(node.runs for node in nodes)
    return NodeReports(file, target, able, nodes, symbols_of_report(sizes))


def describe_placements(report: Placements) -> str:
    """Return the text that `trivium check` prints."""
    lines: list[str] = []
    for where, kernels in _programs(report.file, report.kernels):
        lines += [""] * bool(lines) + _describe_kernels(where, kernels)
        if report.placement != ENGINE_ORDER:
            lines.append(section("estimates, in us", _estimates(kernels, report.order)))
    if len(report.order) > 1:
        lines += ["", f"placement by {report.placement}, of {', '.join(report.order)}"]
    return "\n".join(lines + _sizes(report.symbols))


def _describe_kernels(where: str, kernels: Sequence[Placement]) -> list[str]:
    """Return lines on the kernels of a program."""
    counts = Counter(each.target for each in kernels)
    counted = ", ".join(f"{number} on {target}" for target, number in counts.items())
    lines = [f"{where}: {counted or 'nothing to run'}"]
    for target in counts:
        kinds = Counter(_ops(k.ops) for k in kernels if k.target == target)
        lines += ["", target, *columns([(f"{n}x", ops) for ops, n in sorted(kinds.items())])]
    refused = [k for k in kernels if k.refusals]
    if refused:
        rows = [(spell_names(k.nodes), _ops(k.ops), "; ".join(k.refusals)) for k in refused]
        lines += ["", "not where it was asked for", *columns(rows)]
    return lines


def _estimates(kernels: Sequence[Placement], order: Sequence[str]) -> list[str]:
    """Return a row for each kernel with the estimate of each target that takes all of its ops."""
    rows = [
        (
            *(f"{k.seconds[name] * 1e6:.2f}" if name in k.seconds else "-" for name in order),
            k.target,
            spell_names(k.nodes),
        )
        for k in kernels
    ]
    return columns([(*order, "runs on", ""), *rows], "") if rows else []


def describe_nodes(report: NodeReports) -> str:
    """Return the text that `trivium can-run` prints."""
    lines: list[str] = []
    for where, nodes in _programs("", report.nodes):
        lines += [""] * bool(lines) + _describe_nodes(where, nodes, report.target)
    return "\n".join(lines + _sizes(report.symbols))


def _describe_nodes(where: str, nodes: Sequence[NodeReport], target: str) -> list[str]:
    """Return lines on the nodes of a program."""
    rows = [
        (each.node, _ops(each.ops), "yes" if each.runs else "no", _where(each, target))
        for each in nodes
    ]
    able = sum(each.runs for each in nodes)
    verb = "runs" if able == 1 else "run"
    total = f"{able} of {count(len(rows), 'node')} {verb} on {target}{where}"
    return [*(columns(rows, "") if rows else []), total]


def _programs(file: str, reports: Sequence[R]) -> list[tuple[str, list[R]]]:
    """Return the reports of each program, and what the program is called: a file, and sizes."""
    groups = [(sizes, list(each)) for sizes, each in groupby(reports, lambda each: each.sizes)]
    return [
        (f"{file} for {spelled_sizes(sizes)}" if sizes else file, each)
        for sizes, each in groups or [({}, [])]
    ]


def _sizes(symbols: Sequence[SymbolInfo]) -> list[str]:
    """Return a section with the sizes for all of which a report holds."""
    listed = section("for all sizes", symbol_rows(symbols))
    return [listed] if listed else []


def _where(node: NodeReport, target: str) -> str:
    """Return the targets of a node and the reasons, if it does not run on the target alone."""
    if not node.targets:
        return "nothing is left to run"
    if node.runs:
        others = [other for other in node.targets if other != target]
        return f"values converted by {', '.join(others)}" if others else ""
    return f"on {', '.join(node.targets)}: {'; '.join(node.refusals)}"


def _ops(ops: Sequence[str]) -> str:
    """Return the ops of a kernel, in order, or of one that has many, how many of each kind."""
    if len(ops) <= MOST_OPS:
        return " + ".join(ops)
    return " + ".join(f"{number} {op}" for op, number in Counter(ops).items())
