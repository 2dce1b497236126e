"""The atoms of sizes, products of them, and their text."""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, cast

from .symbols import Symbol

Size: TypeAlias = int
"""An int, or a `Dim`, which is an int to the type checker."""


@dataclass(frozen=True)
class Quotient:
    """The quotient of two sizes, rounded down; the divisor is positive."""

    dividend: Size
    divisor: Size

    @cached_property
    def _hash(self) -> int:
        return hash((Quotient, self.dividend, self.divisor))

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def text(self) -> str:
        return f"{_operand(self.dividend)}//{_operand(self.divisor)}"

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Maximum:
    """The greatest of several sizes."""

    of: tuple[Size, ...]

    @cached_property
    def _hash(self) -> int:
        return hash((Maximum, self.of))

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def text(self) -> str:
        return f"max({', '.join(map(str, self.of))})"

    def __str__(self) -> str:
        return self.text


Atom: TypeAlias = Symbol | Quotient | Maximum
Product: TypeAlias = tuple[Atom, ...]
Terms: TypeAlias = dict[Product, int]
"""The factor of each product of atoms in a sum; the empty product is 1."""


def is_symbolic(size: Size) -> bool:
    """Return whether a size depends on symbols: all others are ints."""
    return type(size) is not int and hasattr(size, "terms")


def terms_of(size: Size) -> Terms:
    """Return the sum that a size is."""
    terms = getattr(size, "terms", None)
    if terms is not None:
        return cast("Terms", terms)
    return {(): int(size)} if size else {}


def scaled_atom(size: Size) -> tuple[Atom, int] | None:
    """Return the atom that a size is a multiple of, and the factor; None for any other size."""
    terms = terms_of(size)
    if len(terms) != 1:
        return None
    ((product, factor),) = terms.items()
    return (product[0], factor) if len(product) == 1 else None


def single_atom(size: Size) -> Atom | None:
    """Return the atom that a size is, or None for any other size."""
    found = scaled_atom(size)
    return found[0] if found is not None and found[1] == 1 else None


def single_symbol(size: Size) -> Symbol | None:
    """Return the symbol that a size is, or None for any other size."""
    atom = single_atom(size)
    return atom if isinstance(atom, Symbol) else None


def order_of_product(product: Product) -> tuple[int, str]:
    """Return the key that orders products in texts and divisions: the longest come first."""
    return -len(product), "*".join(map(str, product))


def spell(terms: Terms) -> str:
    """Return the text of a sum, `4*N*T - (T + 1)//2 + 3`."""
    text = ""
    for product in sorted(terms, key=order_of_product):
        factor = terms[product]
        spelled, positive = _spell_product(product, abs(factor), factor > 0)
        if text:
            text += f" + {spelled}" if positive else f" - {spelled}"
        else:
            text = spelled if positive else f"-{spelled}"
    return text or "0"


def _spell_product(product: Product, factor: int, positive: bool) -> tuple[str, bool]:
    if len(product) == 1 and isinstance(product[0], Maximum) and not positive:
        least = ", ".join(sorted(str(-each) for each in product[0].of))
        spelled, positive = [f"min({least})"], True  # -max(-a, -b) is min(a, b)
    else:
        alone = len(product) == 1 and factor == 1 and positive
        spelled = [f"({a})" if isinstance(a, Quotient) and not alone else str(a) for a in product]
    if factor != 1 or not product:
        spelled.insert(0, str(factor))
    return "*".join(spelled), positive


def _operand(size: Size) -> str:
    """Return the text of an operand of a division, in brackets unless it is a name or a number."""
    text = str(size)
    return text if text.isidentifier() or text.isdigit() else f"({text})"
