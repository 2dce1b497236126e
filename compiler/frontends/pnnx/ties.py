"""One symbol for sizes of inputs that a model needs to be equal.

A file has no names for sizes, `?` is any: add(@0,@1) of (?,8) and (?,8) makes a check that both
are one size. An axis without a name is then called after the axis that it must be equal to.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ....dialects.core.sizes.atoms import Size, terms_of
from ....dialects.core.sizes.checks import Check
from ....dialects.core.sizes.symbols import ANY, Range, Symbol
from ....dialects.core.tensor import Bindings
from ..core.inputs import Axis, Input
from ..core.symbols import labelled


def with_names(declared: Input, names: Mapping[str, str]) -> Input:
    """Give axes of an input the symbols that they have by their names, `in0.1`."""
    if declared.shape is None:
        return declared
    sizes = (names.get(axis.name, axis.size) for axis in declared.axes)
    return replace(declared, shape=tuple(sizes))


def without_sizes(shapes: Bindings) -> dict[str, Range | Sequence[int | str | None] | int | None]:
    """Return the names and ranges in what the user gives, without sizes."""
    free: dict[str, Range | Sequence[int | str | None] | int | None] = {}
    for name, given in shapes.items():
        if isinstance(given, Sequence):
            free[name] = tuple(None if isinstance(size, int) else size for size in given)
        elif isinstance(given, Range):
            free[name] = given
    return free


def tied_axes(
    inputs: Iterable[Input],
    shapes: Bindings,
    ranges: Mapping[str, Range],
    checks: Iterable[Check],
) -> dict[str, str]:
    """Return symbols for axes that have none, by their names, where checks make sizes equal.

    An axis that others are called after is among them; `shapes` has names that the user gives.
    Axes that these name, or of which each has a range of its own, are not tied.
    """
    axes = [axis for each in inputs for axis in labelled(each.axes, {}, shapes)]
    axes = [axis for axis in axes if not isinstance(axis.size, int)]
    first: dict[str, Axis] = {}
    for axis in axes:
        first.setdefault(_symbol(axis), axis)
    places = {name: place for place, name in enumerate(first)}
    leaders = {name: name for name in first if name in ranges}

    def leader(name: str) -> str:
        while leaders[name] != name:
            name = leaders[name]
        return name

    for check in checks:
        pair = _pair(check.expression) if check.relation == "==" else ()
        if not pair or not all(name in leaders for name in pair):
            continue
        one, other = sorted(map(leader, pair), key=lambda n: (not first[n].symbol, places[n]))
        is_first = places[one] < places[other]
        if (
            other not in shapes
            and not first[other].symbol
            and _alike(ranges[one], ranges[other], is_first)
        ):
            leaders[other] = one
    tied = {leader(name) for name in leaders if leader(name) != name}
    return {
        axis.name: leader(_symbol(axis))
        for axis in axes
        if not axis.symbol and _symbol(axis) in leaders and leader(_symbol(axis)) in tied
    }


def _symbol(axis: Axis) -> str:
    return axis.symbol or axis.name.replace(".", "_")


def _alike(range: Range, other: Range, is_first: bool) -> bool:
    """Return whether one range can be that of two sizes, of which the first has its likely size."""
    return range == other or (is_first and _limits(other) in (_limits(range), _limits(ANY)))


def _limits(range: Range) -> tuple[int, int | None, int]:
    return range.low, range.high, range.step


def _pair(expression: Size) -> tuple[str, ...]:
    """Return the two symbols of which a size is the difference; nothing for another size."""
    terms = terms_of(expression)
    names = tuple(p[0].name for p in terms if len(p) == 1 and isinstance(p[0], Symbol))
    return names if len(names) == 2 and sorted(terms.values()) == [-1, 1] else ()
