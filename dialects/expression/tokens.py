"""The tokens of an expression, with their columns.

Brackets and commas only separate tokens: files have `expm1,sub(@0,0.5)` and `add(@0,,@1)`, too.
The number of arguments of a function tells which tokens belong to it. Only `size` takes one or two.
Brackets must balance nevertheless (`check_brackets`): else a part of the text is missing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..core.errors import Invalid, suggestion
from .functions import FUNCTIONS, SIZE, Function


@dataclass(frozen=True)
class Reference:
    """Stand for an operand, by its number: `@0`."""

    index: int


@dataclass(frozen=True)
class Literal:
    """A value that the text contains."""

    value: bool | int | float | complex | None


Leaf = Reference | Literal


@dataclass(frozen=True)
class Token:
    """One word of an expression: its text, and the column of its first character, counted from 1.

    `symbol` is a string for the brackets of a list, `[` and `]`. `arity` counts the arguments.
    """

    text: str
    column: int
    symbol: Function | Leaf | str
    arity: int = 0


_REAL = r"(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|inf|nan)"
_TOKEN = re.compile(
    rf"""[\s(),]*(?:
        (?P<reference>@\d{{1,9}})(?![\w.])
      | (?P<complex>[-+]?(?:{_REAL}[-+])?{_REAL}j)(?![\w.])
      | (?P<integer>[-+]?\d+)(?![\w.])
      | (?P<float>[-+]?{_REAL})(?![\w.])
      | (?P<name>[A-Za-z_][\w.]*)
      | (?P<bracket>[\[\]])
      | (?P<end>$)
      | (?P<unknown>[^\s(),\[\]]+)
    )""",
    re.VERBOSE | re.ASCII,
)
_NEXT = re.compile(r"\s*([(),]?)")
_CONSTANTS = {"None": None, "True": True, "False": False}
_INTEGERS = range(-(1 << 63), 1 << 63)
_LONGEST = 4000
"""More digits than any integer has that Python reads."""


def tokenize(text: str) -> list[Token]:
    """Split an expression into its tokens.

    Raises Invalid, with a column, for text that is no token, unknown functions, and integers
    that do not fit 64 bits.
    """
    matches: list[re.Match[str]] = []
    end = 0
    while (match := _TOKEN.match(text, end)) is not None and match.lastgroup != "end":
        matches.append(match)
        end = match.end()
    return [_token(text, matches, index) for index in range(len(matches))]


def check_brackets(text: str) -> None:
    """Raise Invalid, with a column, for a round bracket without its counterpart."""
    opened: list[int] = []
    for bracket in re.finditer(r"[()]", text):
        if bracket[0] == "(":
            opened.append(bracket.start())
        elif opened:
            opened.pop()
        else:
            raise Invalid(f"expression has ')' at column {bracket.start() + 1} without its '('")
    if opened:
        raise Invalid(f"expression has '(' at column {opened[-1] + 1} without its ')'")


def _token(text: str, matches: Sequence[re.Match[str]], index: int) -> Token:
    match = matches[index]
    group = str(match.lastgroup)
    word, column = match[group], match.start(group) + 1
    symbol = _symbol(group, word, column)
    arity = symbol.arity if isinstance(symbol, Function) else 0
    if symbol is SIZE:
        arity = _arity_of_size(text, matches[index : index + 3])
    return Token(word, column, symbol, arity)


def _symbol(group: str, word: str, column: int) -> Function | Leaf | str:
    match group:
        case "reference":
            return Reference(int(word[1:]))
        case "complex":
            return Literal(complex(word))
        case "integer":
            if len(word) > _LONGEST or int(word) not in _INTEGERS:
                raise Invalid(f"expression has an integer at column {column} over 64 bits")
            return Literal(int(word))
        case "float":
            return Literal(float(word))
        case "name":
            return _named(word, column)
        case "bracket":
            return word
        case _:
            raise Invalid(f"expression has '{word}' at column {column}, which is no token")


def _named(name: str, column: int) -> Function | Literal:
    if name in _CONSTANTS:
        return Literal(_CONSTANTS[name])
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    hint = suggestion(name, FUNCTIONS)
    raise Invalid(f"expression has '{name}' at column {column}, which is no function{hint}")


def _arity_of_size(text: str, matches: Sequence[re.Match[str]]) -> int:
    """Report whether `size` has an axis: by its bracket, or else by an integer that follows."""
    if len(matches) < 2:
        return 1
    name, operand, *rest = matches
    opened, behind = (_NEXT.match(text, word.end()) for word in (name, operand))
    if opened and behind and opened[1] == "(" and behind[1]:
        return 1 if behind[1] == ")" else 2
    return 2 if rest and rest[0].lastgroup == "integer" else 1
