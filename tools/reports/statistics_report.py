"""Describe the numbers of values in runs, and how far those of two models are apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from ...runtime.observe.statistics import Comparison, Divergence, RunStatistics, ValueStatistics
from ...runtime.spelling import spell_dtype, spell_names, spell_shape
from ..spelling import columns, section

MOST_VALUES = 30
"""How many rows a comparison has as text; JSON has all."""


@dataclass(frozen=True)
class ValueInfo:
    """Describe a value: its type, and the numbers in it that are finite; None without any."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    mean: float | None
    std: float | None
    min: float | None
    max: float | None
    growth: float | None
    nans: int
    infinities: int


@dataclass(frozen=True)
class ValuesOfRun:
    """Hold the values of one run."""

    values: tuple[ValueInfo, ...]


@dataclass(frozen=True)
class StatisticsInfo:
    """Hold the values of each run."""

    runs: tuple[ValuesOfRun, ...]


@dataclass(frozen=True)
class DivergenceInfo:
    """Record how far a value of two models is apart; None for what is no finite number."""

    name: str
    cosine: float | None
    difference: float
    relative: float | None
    unlike: int
    first: ValueInfo
    second: ValueInfo


@dataclass(frozen=True)
class ComparisonInfo:
    """Hold the values of two models, the furthest apart first, and those of one alone."""

    first: str
    second: str
    values: tuple[DivergenceInfo, ...]
    first_alone: tuple[str, ...]
    second_alone: tuple[str, ...]


def statistics_info(runs: Sequence[RunStatistics]) -> StatisticsInfo:
    """Return the data of a report on the runs of a session."""
    return StatisticsInfo(tuple(ValuesOfRun(tuple(map(_value_info, run))) for run in runs))


def comparison_info(files: tuple[str, str], comparison: Comparison) -> ComparisonInfo:
    """Return the data of a report on two models."""
    values = tuple(map(_divergence_info, comparison.values))
    return ComparisonInfo(*files, values, comparison.first_alone, comparison.second_alone)


def _value_info(value: ValueStatistics) -> ValueInfo:
    return ValueInfo(
        value.name,
        value.dtype,
        value.shape,
        _finite(value.mean),
        _finite(value.std),
        _finite(value.least),
        _finite(value.most),
        _finite(value.growth),
        value.nans,
        value.infinities,
    )


def _divergence_info(each: Divergence) -> DivergenceInfo:
    sides = _value_info(each.first), _value_info(each.second)
    return DivergenceInfo(
        each.name,
        _finite(each.cosine),
        each.difference,
        _finite(each.relative),
        each.unlike,
        *sides,
    )


def _finite(number: float) -> float | None:
    return number if isfinite(number) else None


def _spell(number: float | None, form: str = ".4g") -> str:
    return "-" if number is None else format(number, form)


def describe_statistics(info: StatisticsInfo) -> str:
    """Return a table for each run."""
    tables = [(f"run {number}", run.values) for number, run in enumerate(info.runs)]
    return "\n".join(section(title, _value_table(values)) for title, values in tables).lstrip("\n")


def _value_table(values: Sequence[ValueInfo]) -> list[str]:
    head = ("value", "type", "shape", "mean", "std", "min", "max", "growth", "NaN", "Inf")
    rows = [
        (
            each.name,
            spell_dtype(each.dtype),
            spell_shape(each.shape),
            *map(_spell, (each.mean, each.std, each.min, each.max, each.growth)),
            str(each.nans),
            str(each.infinities),
        )
        for each in values
    ]
    return columns([head, *rows], "", left=3)


def describe_comparison(info: ComparisonInfo) -> str:
    """Return a row for each value, the furthest apart first, and what only one side has."""
    head = ("value", "A", "B", "cosine", "difference", "relative", "unlike", "mean A", "mean B")
    shown = info.values[:MOST_VALUES]
    rows = [
        (
            each.name,
            spell_dtype(each.first.dtype),
            spell_dtype(each.second.dtype),
            _spell(each.cosine, ".6f"),
            _spell(each.difference),
            _spell(each.relative, ".3g"),
            str(each.unlike),
            _spell(each.first.mean),
            _spell(each.second.mean),
        )
        for each in shown
    ]
    left = len(info.values) - len(shown)
    more = [f"… and {left} more: --json has all"] if left else []
    sides = (("A", info.first, info.first_alone), ("B", info.second, info.second_alone))
    alone = [f"only in {side}: {spell_names(names)}" for side, _, names in sides if names]
    files = [f"{side}: {file}" for side, file, _ in sides]
    return "\n".join([*files, *columns([head, *rows], "", left=3), *more, *alone])
