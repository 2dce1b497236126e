"""Sizes of a package that depend on symbols: read their text, and compute them in one function.

The text is Python's: names, whole numbers, `+ - * //`, `max`, `min`. A package is not trusted: what
its texts say becomes code only by way of the few operations here, and their number is limited.
"""

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ..errors import PackageError

if TYPE_CHECKING:
    Size: TypeAlias = int
else:
    Size: TypeAlias = int | str
"""An int; in a manifest with symbols, the text of an expression of them.

What steps and sessions see has ints: plans evaluate the text.
"""

MOST = (1 << 63) - 1
"""The greatest number that native code counts with."""

LONGEST, DEEPEST, MOST_OPERATIONS = 4096, 64, 1 << 18

_CHARACTERS = re.compile(r"[A-Za-z0-9_+\-*/(), ]*")
_BAD_NUMBER = re.compile(r"\b[0-9]+[A-Za-z_]|\b0[0-9]")
_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]{0,199}")
_OPERATORS: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//"}
_FUNCTIONS = ("max", "min")


def is_symbol_name(text: str) -> bool:
    """Return whether a text can be the name of a symbol in expressions."""
    return text.isascii() and bool(_NAME.fullmatch(text)) and text not in _FUNCTIONS


class Formulas:
    """Collect expressions, and make one function that computes them from the values of symbols.

    What expressions have in common is computed once. A formula is the name of a variable of the
    function, or a number.
    """

    def __init__(self, symbols: Sequence[str]) -> None:
        self._parameters = [f"p{i}" for i in range(len(symbols))]
        self._named = dict(zip(symbols, self._parameters, strict=True))
        self._read: dict[str, str] = {}
        self._known: dict[str, str] = {}
        self._lines: list[str] = []

    def define(self, name: str, formula: str) -> None:
        """Let the expressions that are read from now on use a formula by a name."""
        self._named[name] = formula

    def read(self, size: Size | str, where: str = "") -> str:
        """Return the formula of a size; raise PackageError, with its place, for a bad text."""
        text = size
        if not isinstance(text, str):
            return str(text)
        if text not in self._read:
            try:
                self._read[text] = self._formula(_parsed(text), DEEPEST)
            except ValueError as error:
                shown = text if len(text) <= 40 else f"{text[:40]}..."
                raise PackageError(f"'{where}' is the size '{shown}', {error}") from None
        return self._read[text]

    def operate(self, operator: str, left: str, right: str) -> str:
        """Return the formula of an operation of two others."""
        return self._variable(f"{left} {operator} {right}")

    def call(self, function: str, formulas: Iterable[str]) -> str:
        """Return the formula of `max`, `min` or `|` of others; one alone is its own."""
        given = list(dict.fromkeys(formulas))
        if len(given) == 1:
            return given[0]
        return self._variable(
            " | ".join(given) if function == "|" else f"{function}({', '.join(given)})"
        )

    def product(self, formulas: Iterable[str], factor: int) -> str:
        """Return the formula of a product."""
        result = str(factor)
        for each in formulas:
            result = each if result == "1" else self.operate("*", each, result)
        return result

    def function(self, *groups: Sequence[str]) -> Callable[..., tuple[tuple[int, ...], ...]]:
        """Return a function of the values of the symbols, in order.

        It returns a tuple of the values of the formulas of each group.
        """
        values = ", ".join(f"({''.join(f'{each}, ' for each in group)})" for group in groups)
        body = "\n ".join([*self._lines, f"return ({values},)"])
        code = f"def compute({', '.join(self._parameters)}):\n {body}\n"
        scope: dict[str, Callable[..., tuple[tuple[int, ...], ...]]] = {}
        exec(code, {"__builtins__": {}, "max": max, "min": min}, scope)
        return scope["compute"]

    def _variable(self, code: str) -> str:
        if code not in self._known:
            if len(self._lines) == MOST_OPERATIONS:
                raise PackageError(f"has more than {MOST_OPERATIONS} operations on sizes")
            self._known[code] = f"v{len(self._lines)}"
            self._lines.append(f"{self._known[code]} = {code}")
        return self._known[code]

    def _formula(self, node: ast.expr, depth: int) -> str:
        if not depth:
            raise ValueError(f"must be nested at most {DEEPEST} deep")

        def formula(inner: ast.expr) -> str:
            return self._formula(inner, depth - 1)

        match node:
            case ast.Constant(value=int(number)) if type(number) is int and number <= MOST:
                return str(number)
            case ast.Name(id=name):
                if name not in self._named:
                    known = ", ".join(map(repr, self._named)) or "none"
                    raise ValueError(f"there is no symbol '{name}'; known are {known[:200]}")
                return self._named[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.operate("-", "0", formula(operand))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return self.operate(_OPERATORS[type(op)], formula(left), formula(right))
            case ast.Call(func=ast.Name(id=name), args=[_, _, *_] as given, keywords=[]) if (
                name in _FUNCTIONS
            ):
                return self.call(name, map(formula, given))
            case _:
                raise ValueError("must have names, whole numbers, + - * //, max and min")


def _parsed(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise ValueError(f"must have at most {LONGEST} characters, has {len(text)}")
    # Python's parser warns of some texts with other characters, and knows names that are not ASCII.
    if not _CHARACTERS.fullmatch(text) or _BAD_NUMBER.search(text):
        raise ValueError("must have names, whole numbers, + - * //, max and min")
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError("which is no expression") from None
