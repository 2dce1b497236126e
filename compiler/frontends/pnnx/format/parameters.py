"""Parameters of PNNX operators: values whose type shows in how they are spelled. No MLIR."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from .....dialects.core.errors import Invalid

Scalar = None | bool | int | float | complex | str
Value = Scalar | tuple[Scalar, ...]

BLANKS = frozenset(" \t\n\r\v\f")
"""The characters that separate tokens, and so cannot be in one."""

_WORDS: dict[str, Scalar] = {"None": None, "True": True, "False": False}
_EMPTY = ("()", "[]")
_CLOSING = {"(": ")", "[": "]"}
_LIMIT = 1 << 63

_INT = re.compile(r"-?[0-9]+")
_NUMBER = r"-?(?:[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|inf|nan)"
_FLOAT = re.compile(_NUMBER)
_COMPLEX = re.compile(rf"(?:({_NUMBER})(?:\+|(?=-)))?({_NUMBER})j")


@dataclass(frozen=True)
class Parameter:
    """Hold one parameter: its value, and its text in the file."""

    value: Value
    text: str

    @staticmethod
    def of(value: Value) -> "Parameter":
        """Make the parameter of a value; raise Invalid when no text is read as that value."""
        return Parameter(value, spell(value))


@lru_cache(1 << 10)
def parse(text: str) -> Parameter:
    """Read a parameter by its spelling, as PNNX does; raise Invalid when a list does not close.

    `None`, `()` and `[]` are None. A list of numbers has one type: complex if any of them is, else
    float if any is; a list that mixes numbers and words has words only. Text with a `%`, and text
    that has brackets within brackets, is a string.
    """
    return Parameter(_value(text), text)


def spell(value: Value) -> str:
    """Spell a value as a token of the file; raise Invalid when no text is read as that value.

    Numbers have the fewest digits that are read as the same number, floats always a '.' or 'e'.
    """
    text = _spell_list(value) if isinstance(value, tuple) else _spell_scalar(value)
    if BLANKS & set(text):
        raise Invalid(f"is {value!r}, has a blank, which the format cannot hold")
    if repr(_value(text)) != repr(value):
        raise Invalid(f"is {value!r}, would be read as {_value(text)!r}")
    return text


def _value(text: str) -> Value:
    if "%" in text:
        return text
    if text in _EMPTY:
        return None
    if text[:1] not in _CLOSING:
        return _scalar(text)
    if text[-1] != _CLOSING[text[0]]:
        raise Invalid(f"is '{text}', a list that does not close")
    inner = text[1:-1]
    if any(c in inner for c in "()[]"):
        return text
    return _list(inner.split(","))


def _scalar(text: str) -> Scalar:
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return _integer(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if match := _COMPLEX.fullmatch(text):
        return complex(float(match[1] or 0), float(match[2]))
    return text


def _integer(text: str) -> int:
    if len(text) > 20 or not -_LIMIT <= int(text) < _LIMIT:
        raise Invalid(f"is {text[:24]}, more than 64 bits hold")
    return int(text)


def _list(texts: list[str]) -> tuple[Scalar, ...]:
    values = [_scalar(text) for text in texts]
    types = {type(value) for value in values if value is not None}
    if len(types) <= 1:
        return tuple(values)
    if not types <= {int, float, complex}:
        return tuple(texts)
    widest = complex if complex in types else float
    return tuple(None if v is None else widest(cast("float", v)) for v in values)


def _spell_list(values: tuple[Scalar, ...]) -> str:
    return f"({','.join(map(_spell_scalar, values))})"


def _spell_scalar(value: Scalar) -> str:
    if isinstance(value, complex):
        return f"{value.real!r}+{value.imag!r}j"
    return repr(value) if isinstance(value, float) else str(value)
