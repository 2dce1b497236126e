"""Compare the memory strategies for a package: what each would take for the values of a run."""

from dataclasses import dataclass

from ...runtime.allocation.simulate import StrategyUse, compare_strategies
from ...runtime.allocation.strategies import STATIC
from ...runtime.contents import PROCESS
from ...runtime.package import Package
from ...runtime.spelling import spell_size
from ..spelling import columns

_HEAD = ("strategy", "bytes", "over the bound", "values", "allocations")


@dataclass(frozen=True)
class StrategyInfo:
    """Describe what a strategy does in one run.

    `reserved_bytes` is the most that it has of the system at a time, `values` how many it gets
    memory for, `system_allocations` how often it asks the system.
    """

    strategy: str
    reserved_bytes: int
    values: int
    system_allocations: int


@dataclass(frozen=True)
class StrategiesInfo:
    """Describe a program of a package in a memory space; `sizes` are those that this is for.

    `lower_bound_bytes` is the most that values take at a time. Where `stays_in_arena`, steps with
    bodies and their values are in the static plan alone, and are not counted in other strategies.
    """

    sizes: dict[str, int]
    space: str
    lower_bound_bytes: int
    stays_in_arena: bool
    strategies: tuple[StrategyInfo, ...]


@dataclass(frozen=True)
class MemoryStrategiesInfo:
    """Compare strategies for each program of a package, and each memory space of it.

    The program for all sizes is the first, and the memory of the process.
    """

    file: str
    programs: tuple[StrategiesInfo, ...]


def memory_strategies(file: str, package: Package) -> MemoryStrategiesInfo:
    """Compare strategies for the programs of a package, at likely sizes where these are free.

    Raises RunError where memory cannot but be static.
    """
    programs = [] if package.manifest.only_exact else _strategies(package, None)
    for each, program in zip(package.exact, package.manifest.exact, strict=True):
        programs += _strategies(each, dict(program.sizes))
    return MemoryStrategiesInfo(file, tuple(programs))


def _strategies(package: Package, sizes: dict[str, int] | None) -> list[StrategiesInfo]:
    if sizes is None:
        sizes = {symbol.name: symbol.likely for symbol in package.manifest.symbols}
    return [_in_space(found, sizes) for found in compare_strategies(package)]


def _in_space(found: StrategyUse, sizes: dict[str, int]) -> StrategiesInfo:
    infos = [
        StrategyInfo(use.strategy, use.most_reserved_bytes, use.allocations, use.system_allocations)
        for use in found.uses
    ]
    static = StrategyInfo(STATIC, found.static_bytes, infos[0].values, int(found.static_bytes > 0))
    every, bound = (static, *infos), found.lower_bound_bytes
    return StrategiesInfo(sizes, found.space, bound, found.stays_in_arena, every)


def describe_strategies(info: MemoryStrategiesInfo) -> str:
    """Write a table for each program."""
    return "\n\n".join(_describe(info.file, each) for each in info.programs)


def _describe(file: str, program: StrategiesInfo) -> str:
    sizes = ", ".join(f"{name}={size}" for name, size in program.sizes.items())
    bound = program.lower_bound_bytes
    where = "" if program.space == PROCESS else f" in memory '{program.space}'"
    rows = [_row(each, program) for each in program.strategies]
    lines = [
        f"{file}{f' for {sizes}' if sizes else ''}: values take {spell_size(bound)} at a time"
        + where,
        *columns([_HEAD, *rows], left=1),
    ]
    if program.stays_in_arena:
        lines.append("  steps with bodies and their values are counted in static alone")
    return "\n".join(lines)


def _row(info: StrategyInfo, program: StrategiesInfo) -> tuple[str, ...]:
    counts_others = program.stays_in_arena and info.strategy == STATIC
    bound = 0 if counts_others else program.lower_bound_bytes
    over = f"{info.reserved_bytes / bound - 1:.1%}" if bound else "-"
    counts = (str(info.values), str(info.system_allocations))
    return info.strategy, spell_size(info.reserved_bytes), over, *counts
