"""Describe free sizes for reports: symbols, checks, and shapes with symbols."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...runtime.contents import Symbol
from ...runtime.manifest import Manifest
from ...runtime.sizes.symbols import spelled
from ...runtime.spelling import spell_names, spell_shape
from ...runtime.step import all_steps
from ..spelling import columns


@dataclass(frozen=True)
class SymbolInfo:
    """Describe a size that changes from run to run; `places` are where a run gets it from."""

    name: str
    low: int
    high: int | None
    likely: int
    step: int
    places: tuple[str, ...]


@dataclass(frozen=True)
class CheckInfo:
    """Describe what a run checks before it begins, or when it finds sizes."""

    node: str
    requirement: str
    message: str


def symbols_of_package(manifest: Manifest) -> tuple[SymbolInfo, ...]:
    """Return the symbols of a package, with the axes or the nodes that give them."""
    found = {
        each.symbol: f"'{step.operation(manifest)}' of {spell_names(step.nodes)}"
        for step in all_steps(manifest.steps)
        for each in step.finds
    }
    return tuple(
        SymbolInfo(
            symbol.name,
            symbol.low,
            symbol.high,
            symbol.likely,
            symbol.step,
            (found[symbol.name],) if symbol.name in found else tuple(_axes(symbol, manifest)),
        )
        for symbol in manifest.symbols
    )


def _axes(symbol: Symbol, manifest: Manifest) -> Iterator[str]:
    """Yield the axes of inputs that are a symbol."""
    for port in manifest.inputs:
        for axis, size in enumerate(port.shape):
            if spelled(size, (symbol,)) == symbol.name:
                yield f"axis {axis} of '{port.name}'"


def checks_of_package(manifest: Manifest) -> tuple[CheckInfo, ...]:
    """Return what runs of a package check."""
    return tuple(
        CheckInfo(check.node, f"{check.expression} {check.relation} 0", check.message)
        for check in manifest.checks
    )


def symbol_rows(symbols: Sequence[SymbolInfo]) -> list[str]:
    """Return a line for each symbol: its range, what it is likely to be, and where it is from."""
    return _rows([(each.name, _range(each), ", ".join(each.places)) for each in symbols])


def check_rows(checks: Sequence[CheckInfo]) -> list[str]:
    """Return a line for each check."""
    return _rows([(each.node, each.requirement, each.message) for each in checks])


def spell_sizes(shape: Sequence[int | str]) -> str:
    """Spell a shape: 1x3x224x224, and [N, 2*T] where a size is an expression."""
    if all(isinstance(size, int) or size.isidentifier() for size in shape):
        return spell_shape(shape)  # pyright: ignore[reportArgumentType]
    return f"[{', '.join(map(str, shape))}]"


def _range(symbol: SymbolInfo) -> str:
    high = "or more" if symbol.high is None else f"to {symbol.high}"
    step = f", a multiple of {symbol.step}" if symbol.step != 1 else ""
    return f"{symbol.low} {high}{step}, likely {symbol.likely}"


def _rows(rows: Sequence[Sequence[str]]) -> list[str]:
    return columns(rows, "") if rows else []
