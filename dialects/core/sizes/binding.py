"""Sizes of symbols from the shapes of arrays, and what depends on them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from ..errors import Invalid
from .atoms import Size, is_symbolic, scaled_atom, terms_of
from .checks import Check
from .dim import symbols_of
from .substitution import evaluate, substitute
from .symbols import Symbol


def symbols_in(value: Any) -> Iterable[str]:
    """Return the names of the symbols in the value of an attribute: a size, or a tuple of them."""
    if isinstance(value, tuple):
        return [name for each in cast("tuple[Any, ...]", value) for name in symbols_in(each)]
    return symbols_of(value) if is_symbolic(value) else ()


def replaced(value: Any, sizes: Mapping[str, Size]) -> Any:
    """Return the value of an attribute with sizes in place of symbols."""
    if isinstance(value, tuple):
        return tuple(replaced(each, sizes) for each in cast("tuple[Any, ...]", value))
    return substitute(value, sizes) if is_symbolic(value) else value


def bind_symbols(
    names: Sequence[str],
    declared: Sequence[Sequence[Size]],
    shapes: Sequence[Sequence[int]],
) -> dict[str, int]:
    """Return the sizes of the symbols of inputs, from the shapes of arrays for them.

    Symbols are found where an axis is a symbol, or a multiple of one. Raises Invalid for an array
    of another rank or with another size than declared, and for sizes out of a symbol's range.
    """
    sizes: dict[str, int] = {}
    for name, wanted, shape in zip(names, declared, shapes, strict=True):
        if len(wanted) != len(shape):
            raise Invalid(f"input '{name}' has rank {len(shape)}, must have {len(wanted)}")
        for size, found in zip(wanted, shape, strict=True):
            if (bound := _solved(size, found)) is not None:
                sizes.setdefault(bound[0].name, bound[1])
    for name, wanted, shape in zip(names, declared, shapes, strict=True):
        for axis, (size, found) in enumerate(zip(wanted, shape, strict=True)):
            _need_size(name, axis, size, found, sizes)
    return sizes


def _solved(size: Size, found: int) -> tuple[Symbol, int] | None:
    """Return the symbol of which a size is a multiple, and its value; None for other sizes."""
    atom, factor = scaled_atom(size) or (None, 1)
    return (atom, found // factor) if isinstance(atom, Symbol) and not found % factor else None


def decided_sizes(checks: Iterable[Check]) -> dict[str, int]:
    """Return the sizes of symbols of which checks leave no choice: `2*T - 8 == 0` decides T = 4."""
    sizes: dict[str, int] = {}
    for check in checks:
        number = terms_of(check.expression).get((), 0)
        if check.relation == "==" and (bound := _solved(check.expression - number, -number)):
            sizes.setdefault(bound[0].name, bound[1])
    return sizes


def _need_size(name: str, axis: int, size: Size, found: int, sizes: Mapping[str, int]) -> None:
    what = f"input '{name}' has size {found} along axis {axis}"
    for symbol in symbols_of(size).values():
        if symbol.name not in sizes:
            raise Invalid(f"{what}, must be {size}, of which no input gives {symbol}")
        if fault := symbol.range.fault(sizes[symbol.name]):
            raise Invalid(f"{what}, so {symbol} is {sizes[symbol.name]}, must be {fault}")
    if evaluate(size, sizes) != found:
        given = ", ".join(f"{each} = {sizes[each]}" for each in symbols_of(size))
        raise Invalid(f"{what}, must be {size}" + (f", where {given}" if given else ""))


def verify_checks(checks: Iterable[Check], sizes: Mapping[str, int]) -> None:
    """Raise Invalid for the first check that sizes fail."""
    for check in checks:
        value = evaluate(check.expression, sizes)
        if value == 0 or (value > 0 and check.relation == ">="):
            continue
        where = f"{check.node}: " if check.node else ""
        names = symbols_of(check.expression)
        given = ", ".join(f"{name} = {sizes[name]}" for name in names)
        raise Invalid(f"{where}{check.message}, where {given}")
