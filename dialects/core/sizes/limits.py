"""What the ranges of symbols tell about sizes: limits, and comparisons that they decide.

Answers hold for all sizes in the ranges; None means that they depend on the sizes of a run.
"""

from functools import lru_cache
from math import gcd, inf
from typing import Any, TypeAlias, cast

from .atoms import Atom, Maximum, Product, Size, Terms, is_symbolic, terms_of
from .symbols import Symbol

Limits: TypeAlias = tuple[int | None, int | None]
"""The least and the greatest value of a size, None for no limit."""

_DEPTH = 4
"""How many times an atom is replaced by its limits, step by step, to find a closer limit."""


def is_same(a: Size, b: Size) -> bool | None:
    """Return whether two sizes are equal; None where that depends on a run."""
    if a == b:
        return True
    if at_least(a - 1, b) or at_least(b - 1, a):
        return False
    return False if _never_zero(a - b) else None


def at_least(a: Size, b: Size) -> bool | None:
    """Return whether a >= b; None where that depends on a run."""
    difference = a - b
    if not is_symbolic(difference):
        return difference >= 0
    if _least(difference, _DEPTH) >= 0:
        return True
    return False if _least(-difference, _DEPTH) > 0 else None


def bounds(size: Size) -> Limits:
    """Return limits of a size; they need not be reached."""
    if not is_symbolic(size):
        return size, size
    low, high = _least(size, _DEPTH), -_least(-size, _DEPTH)
    return (None if low == -inf else int(low)), (None if high == inf else int(high))


def _never_zero(difference: Size) -> bool:
    """Return whether a sum cannot be 0: what all its products are multiples of, the rest is not."""
    terms = terms_of(difference)
    rest = terms.get((), 0)
    common = gcd(*(factor for product, factor in terms.items() if product))
    return bool(common and rest % common)


@lru_cache(maxsize=1 << 14)
def _least(size: Size, depth: int) -> float:
    """Return a lower limit: of the sum of its products, of its factors, or by replacing an atom."""
    if not is_symbolic(size):
        return size
    found = _least_of_sum(terms_of(size))
    if depth and found < 0:
        found = max(found, _least_factored(size, depth), _least_replaced(size, depth))
    return found


def _least_of_sum(terms: Terms) -> float:
    total = 0.0
    for product, factor in terms.items():
        low, high = _interval(product)
        total += factor * low if factor > 0 else factor * high
    return total if total in (inf, -inf) else int(total)


def _interval(product: Product) -> tuple[float, float]:
    low = high = 1
    for atom in product:
        low, high = _multiplied((low, high), _interval_of(atom))
    return low, high


def _multiplied(a: tuple[float, float], b: tuple[float, float]) -> tuple[float, float]:
    ends = [0 if 0 in (x, y) else x * y for x in a for y in b]
    return min(ends), max(ends)


def _interval_of(atom: Atom) -> tuple[float, float]:
    if isinstance(atom, Symbol):
        return atom.range.low, inf if atom.range.high is None else atom.range.high
    if isinstance(atom, Maximum):
        each = [_ends(size) for size in atom.of]
        return max(low for low, _ in each), max(high for _, high in each)
    (low, high), (least, most) = _ends(atom.dividend), _ends(atom.divisor)
    least = max(least, 1)
    return (
        _quotient(low, most if low >= 0 else least),
        _quotient(high, least if high >= 0 else most),
    )


def _ends(size: Size) -> tuple[float, float]:
    low, high = bounds(size)
    return (-inf if low is None else low), (inf if high is None else high)


def _quotient(end: float, divisor: float) -> float:
    if end in (inf, -inf):
        return end if divisor != inf else (0 if end > 0 else -1)
    if divisor == inf:
        return 0 if end >= 0 else -1
    return end // divisor


def _least_factored(size: Size, depth: int) -> float:
    """Return a lower limit by way of a factor that all products share: N*T - N is N*(T - 1)."""
    terms = terms_of(size)
    shared = next((atom for atom in next(iter(terms)) if all(atom in p for p in terms)), None)
    if shared is None:
        return -inf
    low, high = _interval_of(shared)
    rest = _least(_like(size, _divided(terms, shared)), depth - 1)
    if low < 0 or rest == -inf:
        return -inf
    return _multiplied((rest, rest), (low, high))[0]


def _divided(terms: Terms, atom: Atom) -> Terms:
    left: Terms = {}
    for product, factor in terms.items():
        at = product.index(atom)
        left[product[:at] + product[at + 1 :]] = factor
    return left


def _least_replaced(size: Size, depth: int) -> float:
    """Return a lower limit by replacing one atom that is added alone.

    x//k is from (x - k + 1)/k to x/k, and a maximum is one of its sizes.
    """
    for product, factor in terms_of(size).items():
        if len(product) != 1 or isinstance(product[0], Symbol):
            continue
        atom = product[0]
        others = size - _like(size, {product: factor})
        if isinstance(atom, Maximum):
            each = [_least(others + factor * one, depth - 1) for one in atom.of]
            return max(each) if factor > 0 else min(each)
        if not is_symbolic(atom.divisor):
            divisor = atom.divisor
            rounding = divisor - 1 if factor > 0 else 0
            scaled = others * divisor + factor * (atom.dividend - rounding)
            least = _least(scaled, depth - 1)
            return least if least in (inf, -inf) else -(-least // divisor)
    return -inf


def _like(size: Size, terms: Terms) -> Size:
    """Return a sum as a size, an instance of the class of another size."""
    if not terms or terms.keys() == {()}:
        return terms.get((), 0)
    return cast("Any", type(size))(terms)
