"""The report of `trivium sizes`: the free sizes of a model, and sizes worth being exact."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...compiler.exact.ranking import ExactSizes
from ...compiler.sizes.report import SizeReport
from ...dialects.core.sizes.atoms import is_symbolic
from ...dialects.core.tensor import Tensor, numpy_dtype
from ...runtime.contents import Symbol
from ...runtime.sizes.symbols import spelled
from ...runtime.spelling import count
from ..spelling import columns, section
from .package_info import PortInfo
from .size_info import (
    CheckInfo,
    SymbolInfo,
    check_rows,
    spell_sizes,
    symbol_rows,
)

MOST = 8
"""How many sizes are suggested: each is a program in the package."""


@dataclass(frozen=True)
class ObservedInfo:
    """Describe sizes that were observed; `part` is of all runs, `saved` of their time."""

    sizes: dict[str, int]
    runs: int
    part: float
    saved: float
    option: str


@dataclass(frozen=True)
class SizesInfo:
    """Describe the free sizes of a model."""

    file: str
    symbols: tuple[SymbolInfo, ...]
    inputs: tuple[PortInfo, ...]
    outputs: tuple[PortInfo, ...]
    checks: tuple[CheckInfo, ...]
    exact: tuple[ObservedInfo, ...]


def sizes_info(file: str, report: SizeReport) -> SizesInfo:
    """Return the report of a model."""
    symbols = symbols_of_report(report)
    return SizesInfo(
        file,
        symbols,
        _ports(report.inputs, symbols),
        _ports(report.outputs, symbols),
        _checks(report),
        tuple(map(_exact, report.exact)),
    )


def symbols_of_report(report: SizeReport) -> tuple[SymbolInfo, ...]:
    """Return the symbols of a model."""
    return tuple(
        SymbolInfo(
            each.name,
            each.range.low,
            each.range.high,
            each.range.hint,
            each.range.step,
            each.places,
        )
        for each in report.sizes
    )


def _checks(report: SizeReport) -> tuple[CheckInfo, ...]:
    """Return what runs of a model check."""
    return tuple(
        CheckInfo(check.node, f"{check.expression} {check.relation} 0", check.message)
        for check in report.checks
    )


def _ports(
    ports: Sequence[tuple[str, Tensor]], symbols: Sequence[SymbolInfo]
) -> tuple[PortInfo, ...]:
    known = [Symbol(s.name, s.low, s.high, s.likely, s.step) for s in symbols]

    def size(each: int) -> int | str:
        return spelled(str(each), known) if is_symbolic(each) else each

    return tuple(
        PortInfo(name, numpy_dtype(tensor.dtype).name, tuple(map(size, tensor.shape)))
        for name, tensor in ports
    )


def _exact(each: ExactSizes) -> ObservedInfo:
    return ObservedInfo(dict(each.sizes), each.runs, each.part, each.saved, each.option)


def describe_sizes(info: SizesInfo) -> str:
    """Return the text that `trivium sizes` prints."""
    head = (
        f"{info.file}: {count(len(info.symbols), 'free size')}"
        if info.symbols
        else (f"{info.file}: all sizes are known")
    )
    parts = [
        head,
        section("free sizes", symbol_rows(info.symbols)),
        section("inputs", map(_port, info.inputs)),
        section("outputs", map(_port, info.outputs)),
        section("checked in a run", check_rows(info.checks)),
        section("exact sizes, the most useful first", _exact_rows(info.exact)),
    ]
    return "\n".join(part for part in parts if part)


def _port(port: PortInfo) -> str:
    return f"{port.name}  {port.dtype}  {spell_sizes(port.shape)}"


def _exact_rows(exact: Sequence[ObservedInfo]) -> list[str]:
    if not exact:
        return []
    rows = [
        (
            each.option,
            count(each.runs, "run"),
            f"{each.part:.1%}",
            f"saves {each.saved:.2%} of time",
        )
        for each in exact[:MOST]
    ]
    more = len(exact) - MOST
    return [*columns(rows, ""), *([f"and {more} more"] if more > 0 else [])]
