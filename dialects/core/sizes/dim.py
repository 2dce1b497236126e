"""Sizes that are known when a model runs: polynomials of symbols, floor quotients and maxima.

A size is an int, or a `Dim` where it depends on symbols. Both have the arithmetic of ints and
compare by value, so code that computes shapes is the same for both: ints fold to ints. What the
ranges of the symbols do not decide raises `Undecided`; nothing is guessed.

Everything is exact integer arithmetic; `//` rounds down, as Python's does. A `Dim` is in canonical
form: a sum of products of atoms, in which equal products are added up. Equal texts are equal sizes;
equal sizes have equal texts as far as adding, multiplying and dividing exactly can tell.
"""

from functools import lru_cache
from math import gcd
from typing import TYPE_CHECKING

from ..errors import Undecided
from .atoms import (
    Atom,
    Maximum,
    Product,
    Quotient,
    Size,
    Terms,
    is_symbolic,
    order_of_product,
    single_atom,
    spell,
    terms_of,
)
from .limits import at_least, bounds, is_same
from .symbols import ANY, Range, Symbol


class Dim(int if TYPE_CHECKING else object):
    """A size that depends on symbols: `terms` has a factor for each product of atoms.

    Compare with `==` for structural equality, which is False where equality is not known; other
    comparisons, truth and conversion to int raise Undecided unless the ranges decide them.
    """

    __slots__ = ("_hash", "_text", "terms")
    terms: Terms
    _hash: int
    _text: str

    def __new__(cls, terms: Terms) -> "Dim":
        made = object.__new__(cls)
        made.terms = terms
        made._hash = hash(frozenset(terms.items()))
        made._text = ""
        return made

    def __reduce__(self):
        return (Dim, (self.terms,))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dim) and self._hash == other._hash and self.terms == other.terms

    def __bool__(self) -> bool:
        return not _decided(is_same(self, 0), f"{self} == 0")

    def __lt__(self, other: Size) -> bool:
        return not self >= other

    def __le__(self, other: Size) -> bool:
        return _decided(at_least(other, self), f"{self} <= {other}")

    def __gt__(self, other: Size) -> bool:
        return not self <= other

    def __ge__(self, other: Size) -> bool:
        return _decided(at_least(self, other), f"{self} >= {other}")

    def __index__(self) -> int:
        raise Undecided(f"depends on {self}, which must be known at compile time: bind its symbols")

    __int__ = __index__

    def __float__(self) -> float:
        return float(self.__index__())

    def __truediv__(self, other: object) -> float:
        return float(self)

    def __rtruediv__(self, other: object) -> float:
        return float(self)

    def __add__(self, other: Size) -> Size:
        if not _is_size(other):
            return _not_a_size(self, other)
        terms = dict(self.terms)
        for product, factor in terms_of(other).items():
            terms[product] = terms.get(product, 0) + factor
        return _size(terms)

    def __mul__(self, other: Size) -> Size:
        return _times(self, other) if _is_size(other) else _not_a_size(self, other)

    def __neg__(self) -> Size:
        return Dim({product: -factor for product, factor in self.terms.items()})

    def __sub__(self, other: Size) -> Size:
        return self + -other if _is_size(other) else _not_a_size(self, other)

    def __rsub__(self, other: Size) -> Size:
        return -self + other

    __radd__, __rmul__ = __add__, __mul__

    def __floordiv__(self, other: Size) -> Size:
        return floordiv(self, other) if _is_size(other) else _not_a_size(self, other)

    def __rfloordiv__(self, other: Size) -> Size:
        return floordiv(other, self)

    def __mod__(self, other: Size) -> Size:
        return self - floordiv(self, other) * other

    def __rmod__(self, other: Size) -> Size:
        return other - floordiv(other, self) * self

    def __divmod__(self, other: Size) -> tuple[Size, Size]:
        whole = floordiv(self, other)
        return whole, self - whole * other

    def __rdivmod__(self, other: Size) -> tuple[Size, Size]:
        whole = floordiv(other, self)
        return whole, other - whole * self

    def __abs__(self) -> Size:
        return self if self >= 0 else -self

    def __str__(self) -> str:
        self._text = self._text or spell(self.terms)
        return self._text

    __repr__ = __str__


def _is_size(other: object) -> bool:
    return isinstance(other, int | Dim)


def _not_a_size(size: Dim, other: object) -> Size:
    """Leave an operation to the other operand, but for floats: no result of them is a size."""
    return size.__index__() if isinstance(other, float) else NotImplemented


def symbol(name: str, range: Range = ANY) -> Size:
    """Return the size that a symbol stands for: an int where its range has one size.

    One whose range has a step is a multiple of the symbol `name_step`, so that divisions by the
    step are exact.
    """
    step, low, high = range.step, range.first, range.high
    high = None if high is None else high // step * step
    if low == high:
        return low
    if step == 1:
        return _atom(Symbol(name, range))
    inner = Range(low // step, None if high is None else high // step, range.hint // step)
    return _atom(Symbol(f"{name}_{step}", inner)) * step


def _decided(answer: bool | None, question: str) -> bool:
    if answer is None:
        raise Undecided(f"depends on whether {question}, which is not known at compile time")
    return answer


def symbols_of(size: Size) -> dict[str, Symbol]:
    """Return the symbols that a size depends on, by name."""
    if isinstance(size, Dim):
        return dict(_symbols_of(size))
    return {}


@lru_cache(maxsize=1 << 14)
def _symbols_of(size: Dim) -> dict[str, Symbol]:
    found: dict[str, Symbol] = {}
    for product in size.terms:
        for atom in product:
            match atom:
                case Symbol():
                    found[atom.name] = atom
                case Quotient():
                    found |= symbols_of(atom.dividend) | symbols_of(atom.divisor)
                case Maximum():
                    for each in atom.of:
                        found |= symbols_of(each)
    return dict(sorted(found.items()))


# -- arithmetic -----------------------------------------------------------------------------------


def _size(terms: Terms) -> Size:
    kept = {product: factor for product, factor in terms.items() if factor}
    if not kept:
        return 0
    return kept[()] if len(kept) == 1 and () in kept else Dim(kept)


def _atom(atom: Atom) -> Dim:
    return Dim({(atom,): 1})


def _times(a: Size, b: Size) -> Size:
    terms: Terms = {}
    for p, x in terms_of(a).items():
        for q, y in terms_of(b).items():
            both = tuple(sorted(p + q, key=str)) if p and q else p or q
            terms[both] = terms.get(both, 0) + x * y
    return _size(terms)


def ceildiv(size: Size, divisor: Size) -> Size:
    """Divide sizes and round up."""
    return -floordiv(-size, divisor)


def floordiv(size: Size, divisor: Size) -> Size:
    """Divide sizes and round down; raise Undecided for a divisor that may not be positive."""
    if isinstance(size, Dim) or isinstance(divisor, Dim):
        return _floordiv(size, divisor)
    return size // divisor


@lru_cache(maxsize=1 << 14)
def _floordiv(size: Size, divisor: Size) -> Size:
    exact = _exact(size, divisor)
    if exact is not None:
        return exact
    if not _decided(at_least(divisor, 1), f"{divisor} >= 1"):
        if isinstance(divisor, Dim) or divisor == 0:
            raise ZeroDivisionError(f"{size}//{divisor}")
        return _floordiv(-size, -divisor)
    if isinstance(divisor, Dim):
        return _bounded(0, size, divisor)
    whole: Terms = {}
    rest: Terms = {}
    for product, factor in terms_of(size).items():
        if product and factor % divisor:  # the floor of a part of a symbol is not linear
            rest[product] = factor
        else:
            whole[product], rest[product] = divmod(factor, divisor)
    return _bounded(_size(whole), _size(rest), divisor)


def _bounded(whole: Size, rest: Size, divisor: Size) -> Size:
    """Return `whole` plus the quotient of the rest, which is an int where its limits agree."""
    if rest == 0:
        return whole
    if at_least(rest, 0) and at_least(divisor - 1, rest):
        return whole
    if isinstance(divisor, Dim):
        return whole + _atom(Quotient(rest, divisor))
    low, high = bounds(rest)
    if low is not None and high is not None and low // divisor == high // divisor:
        return whole + low // divisor
    factors = (factor for product, factor in terms_of(rest).items() if product)
    if (common := gcd(divisor, *factors)) > 1:  # (4a + 3)//6 is (2a + 1)//3
        rest = _size({product: factor // common for product, factor in terms_of(rest).items()})
        divisor //= common
    if divisor == 1:
        return whole + rest
    most = _only_maximum(rest)
    if most is not None:  # max(a, b)//2 is max(a//2, b//2)
        others = rest - _atom(most)
        return whole + highest(*(floordiv(each + others, divisor) for each in most.of))
    inner = _only_quotient(rest)
    if inner is not None:  # (a//2 + 1)//3 is (a + 2)//6
        others = rest - _atom(inner)
        return whole + floordiv(inner.dividend + others * inner.divisor, inner.divisor * divisor)
    lead = min((product for product in terms_of(rest) if product), key=order_of_product)
    if terms_of(rest)[lead] < 0:  # -((-a)//2) is (a + 1)//2
        return whole - floordiv(divisor - 1 - rest, divisor)
    return whole + _atom(Quotient(rest, divisor))


def _only_quotient(size: Size) -> Quotient | None:
    """Return the quotient by a number that is added once to a sum of others without quotients."""
    quotients = [p for p in terms_of(size) if any(isinstance(atom, Quotient) for atom in p)]
    if len(quotients) != 1 or len(quotients[0]) != 1 or terms_of(size)[quotients[0]] != 1:
        return None
    found = quotients[0][0]
    return found if isinstance(found, Quotient) and not isinstance(found.divisor, Dim) else None


def _only_maximum(size: Size) -> Maximum | None:
    """Return the greatest of some sizes that is added once to a sum of others without such."""
    greatest = [p for p in terms_of(size) if any(isinstance(atom, Maximum) for atom in p)]
    if len(greatest) != 1 or len(greatest[0]) != 1 or terms_of(size)[greatest[0]] != 1:
        return None
    found = greatest[0][0]
    return found if isinstance(found, Maximum) else None


def _exact(size: Size, divisor: Size) -> Size | None:
    """Divide where nothing is left for any sizes of the symbols, else return None."""
    if size == divisor or size == 0:
        return 0 if size == 0 else 1
    if not isinstance(divisor, Dim):
        if not divisor or not divides(divisor, size):
            return None
        return _size({product: factor // divisor for product, factor in terms_of(size).items()})
    if len(divisor.terms) > 1:
        return _long_division(size, divisor)
    ((product, factor),) = divisor.terms.items()
    terms: Terms = {}
    for atoms, x in terms_of(size).items():
        left = _without(atoms, product)
        if left is None or x % factor:
            return None
        terms[left] = x // factor
    return _size(terms)


def _without(product: Product, part: Product) -> Product | None:
    left = list(product)
    for atom in part:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


def _long_division(size: Size, divisor: Dim) -> Size | None:
    """Divide polynomials by their leading terms; None unless nothing is left."""
    quotient: Size = 0
    lead = min(divisor.terms, key=order_of_product)
    rest = size
    for _ in range(len(terms_of(size)) * 4):
        if rest == 0:
            return quotient
        top = min(terms_of(rest), key=order_of_product)
        left, factor = _without(top, lead), terms_of(rest)[top]
        if left is None or factor % divisor.terms[lead]:
            return None
        part = _size({left: factor // divisor.terms[lead]})
        quotient, rest = quotient + part, rest - part * divisor
    return None


def divides(number: int, size: Size) -> bool:
    """Return whether a number divides a size for any sizes of the symbols."""
    return all(factor % number == 0 for factor in terms_of(size).values())


def highest(*sizes: Size) -> Size:
    """Return the greatest of some sizes."""
    if not any(map(is_symbolic, sizes)):
        return max(sizes)
    kept: list[Size] = []
    for size in (each for given in sizes for each in _alternatives(given)):
        if not any(at_least(other, size) for other in kept):
            kept = [other for other in kept if not at_least(size, other)] + [size]
    return kept[0] if len(kept) == 1 else _atom(Maximum(tuple(sorted(kept, key=str))))


def lowest(*sizes: Size) -> Size:
    """Return the least of some sizes."""
    if not any(map(is_symbolic, sizes)):
        return min(sizes)
    return -highest(*(-size for size in sizes))


def _alternatives(size: Size) -> tuple[Size, ...]:
    atom = single_atom(size)
    return atom.of if isinstance(atom, Maximum) else (size,)
