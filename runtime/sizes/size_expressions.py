"""Read the texts of sizes that depend on symbols.

The text is Python's: names, whole numbers, `+ - * //`, `max`, `min`. A package is not trusted: what
its texts say becomes code only by way of the few operations here, and their number is limited.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from .polynomials import Polynomial, number

if TYPE_CHECKING:
    Size: TypeAlias = int
else:
    Size: TypeAlias = int | str
"""An int; in a manifest with symbols, the text of an expression of them.

What steps and sessions see has ints: plans evaluate the text.
"""

MOST = (1 << 63) - 1
"""The greatest number that native code counts with."""

MOST_BYTES = 1 << 47
"""The user address space on x86-64."""

LONGEST, LONGEST_NAME, DEEPEST, MOST_OPERATIONS = 4096, 200, 64, 1 << 18

MOST_BITS_OF_VALUES = 1 << 15
"""The most bits of a product, so that names of products of names take no long numbers."""

_TOKEN = re.compile(r"([A-Za-z_][A-Za-z_0-9]*|0|[1-9][0-9]*|//|[-+*(),])")
_NO_SIZE = "must have names, whole numbers, + - * //, max and min"
_CALLS = ("max", "min")


def is_symbol_name(text: str) -> bool:
    """Return whether a text can be the name of a symbol in expressions."""
    return _is_name(text) and text not in _CALLS


def _is_name(text: str) -> bool:
    return text.isidentifier() and text.isascii() and len(text) <= LONGEST_NAME


class Algebra(Protocol):
    """Make formulas of what a text says; `groups` has what was read between parentheses."""

    groups: dict[str, Polynomial]

    def symbol(self, name: str) -> Polynomial:
        """Return the formula of a name; raise ValueError for one that is not defined."""
        ...

    def operate(self, operator: str, left: Polynomial, right: Polynomial) -> Polynomial:
        """Return the formula of an operation on two others."""
        ...

    def call(self, function: str, formulas: Sequence[Polynomial]) -> Polynomial:
        """Return the formula of a function of others."""
        ...


class SizeReader:
    """Read one text, by the grammar of Python; raise ValueError for one that is no size."""

    def __init__(self, formulas: Algebra, text: str) -> None:
        if len(text) > LONGEST:
            raise ValueError(f"must have at most {LONGEST} characters, has {len(text)}")
        self._formulas = formulas
        self._tokens: list[str] = _TOKEN.findall(text)
        self._next = 0
        if "".join(self._tokens) != text.replace(" ", ""):
            raise ValueError(_NO_SIZE)
        self._closing = self._pairs()
        self._tokens.append("")

    def read(self) -> Polynomial:
        result = self._sum(DEEPEST)
        self._expect("")
        return result

    def _taken(self) -> str:
        self._next += 1
        return self._tokens[self._next - 1]

    def _expect(self, token: str) -> None:
        if self._taken() != token:
            raise ValueError(_NO_SIZE)

    def _sum(self, depth: int) -> Polynomial:
        if not depth:
            raise ValueError(f"must be nested at most {DEEPEST} deep")
        result = self._product(depth)
        while (operator := self._tokens[self._next]) in ("+", "-"):
            self._next += 1
            result = self._formulas.operate(operator, result, self._product(depth))
        return result

    def _product(self, depth: int) -> Polynomial:
        result = self._factor(depth)
        while (operator := self._tokens[self._next]) in ("*", "//"):
            self._next += 1
            result = self._formulas.operate(operator, result, self._factor(depth))
        return result

    def _factor(self, depth: int) -> Polynomial:
        token = self._taken()
        if token == "-":
            if depth == 1:
                raise ValueError(f"must be nested at most {DEEPEST} deep")
            return self._formulas.operate("-", number(0), self._factor(depth - 1))
        if token == "(" or (token in _CALLS and self._tokens[self._next] == "("):
            return self._group(token, depth)
        if token[:1].isdigit() and int(token) <= MOST:
            return number(int(token))
        if not _is_name(token):
            raise ValueError(_NO_SIZE)
        return self._formulas.symbol(token)

    def _group(self, token: str, depth: int) -> Polynomial:
        """Read what is between parentheses, once for all texts that have it."""
        first = self._next - 1
        opening = first if token == "(" else self._next
        last = self._closing[opening]
        text = " ".join(self._tokens[first : last + 1])
        if text in self._formulas.groups:
            self._next = last + 1
            return self._formulas.groups[text]
        result = self._sum(depth - 1) if token == "(" else self._call(token, depth - 1)
        self._expect(")")
        self._formulas.groups[text] = result
        return result

    def _call(self, function: str, depth: int) -> Polynomial:
        self._expect("(")
        given = [self._sum(depth)]
        while self._tokens[self._next] == ",":
            self._next += 1
            given.append(self._sum(depth))
        if len(given) == 1:
            raise ValueError(_NO_SIZE)
        return self._formulas.call(function, given)

    def _pairs(self) -> dict[int, int]:
        """Return where each parenthesis that opens is closed."""
        found: dict[int, int] = {}
        opened: list[int] = []
        for i, token in enumerate(self._tokens):
            if token == "(":
                opened.append(i)
            elif token == ")":
                if not opened:
                    raise ValueError(_NO_SIZE)
                found[opened.pop()] = i
        if opened:
            raise ValueError(_NO_SIZE)
        return found
