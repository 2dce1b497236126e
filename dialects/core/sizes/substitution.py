"""Put sizes in place of symbols: those of a run, those that are likely, or other expressions."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from math import prod
from types import MappingProxyType

from ..errors import Undecided
from .atoms import Atom, Maximum, Quotient, Size
from .dim import Dim, floordiv, highest, symbols_of
from .symbols import Symbol


def substitute(size: Size, values: Mapping[str, Size]) -> Size:
    """Return a size with sizes in place of some of its symbols, by their names.

    Raises ZeroDivisionError where a divisor becomes 0.
    """
    if not isinstance(size, Dim) or not any(name in values for name in symbols_of(size)):
        return size
    total: Size = 0
    for product, factor in size.terms.items():
        total += prod((_substituted(atom, values) for atom in product), start=factor)
    return total


def _substituted(atom: Atom, values: Mapping[str, Size]) -> Size:
    match atom:
        case Symbol():
            return values[atom.name] if atom.name in values else Dim({(atom,): 1})
        case Quotient():
            return floordiv(substitute(atom.dividend, values), substitute(atom.divisor, values))
        case Maximum():
            return highest(*(substitute(each, values) for each in atom.of))


def evaluate(size: Size, values: Mapping[str, int]) -> int:
    """Return the value of a size; raise Undecided where a symbol has no value."""
    found = substitute(size, values)
    if isinstance(found, Dim):
        raise Undecided(f"depends on {', '.join(symbols_of(found))}, which have no size here")
    return found


_ASSUMED: ContextVar[Mapping[str, int]] = ContextVar("assumed sizes", default=MappingProxyType({}))


@contextmanager
def assumed_sizes(sizes: Mapping[str, int]) -> Generator[None]:
    """Let some symbols have these likely sizes in the block."""
    token = _ASSUMED.set(sizes)
    try:
        yield
    finally:
        _ASSUMED.reset(token)


def likely(size: Size) -> int:
    """Return the value of a size where each symbol has its likely size: for costs only."""
    if not isinstance(size, Dim):
        return size
    hints = {name: each.range.hint for name, each in symbols_of(size).items()}
    return evaluate(size, {**hints, **_ASSUMED.get()})
