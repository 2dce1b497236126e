"""Parameters of PNNX operators: values whose type shows in how they are spelled. No MLIR."""

import re
from dataclasses import dataclass
from typing import cast

from ....dialects.core.errors import Invalid

Scalar = None | bool | int | float | complex | str
Value = Scalar | tuple[Scalar, ...]

WORDS: dict[str, Scalar] = {"None": None, "True": True, "False": False}
EMPTY = ("()", "[]")
LIMIT = 1 << 63

_NUMBER = r"-?(?:[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|inf|nan)"
_INT = re.compile(r"-?[0-9]+")
_FLOAT = re.compile(_NUMBER)
_COMPLEX = re.compile(f"(?:({_NUMBER})\\+?(?=[-0-9in]))?({_NUMBER})j")


@dataclass(frozen=True)
class Parameter:
    """Hold one parameter: its value, and the text that stands for it in the file."""

    value: Value
    text: str

    @staticmethod
    def of(value: Value) -> "Parameter":
        """Make the parameter of a value, spelled so that it is read as the same value."""
        return Parameter(value, spell(value))


def parse(text: str) -> Parameter:
    """Read a parameter by its spelling, as PNNX does; raise Invalid when a list does not close.

    `None`, `()` and `[]` are None. A list of numbers has one type: complex if any of them is, else
    float if any is; a list of numbers and words has words only. Text with a `%` is a string.
    """
    return Parameter(_value(text), text)


def spell(value: Value) -> str:
    """Spell a value as a token of the file; raise Invalid when no token is read as that value."""
    text = _spell_list(value) if isinstance(value, tuple) else _spell_scalar(value)
    if any(c in text for c in " \t\n\r\v\f"):
        raise Invalid(f"parameter {text!r} has a blank, which the format cannot hold")
    return text


def _value(text: str) -> Value:
    if "%" in text:
        return text
    if text in EMPTY:
        return None
    if text[:1] not in ("(", "["):
        return _scalar(text)
    if text[-1] != {"(": ")", "[": "]"}[text[0]]:
        raise Invalid(f"has a list {text} that does not close")
    if any(c in text[1:-1] for c in "()[]"):
        return text  # an expression or a list of lists: whoever reads it knows its grammar
    return _list(text[1:-1].split(","))


def _scalar(text: str) -> Scalar:
    if text in WORDS:
        return WORDS[text]
    if _INT.fullmatch(text):
        return _integer(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if match := _COMPLEX.fullmatch(text):
        return complex(float(match[1] or 0), float(match[2]))
    return text


def _integer(text: str) -> int:
    if len(text) > 20 or not -LIMIT <= int(text) < LIMIT:
        raise Invalid(f"has an integer {text[:24]} of more than 64 bits")
    return int(text)


def _list(texts: list[str]) -> tuple[Scalar, ...]:
    values = [_scalar(text) for text in texts]
    types = {type(value) for value in values if value is not None}
    if len(types) <= 1:
        return tuple(values)
    if not types <= {int, float, complex}:
        return tuple(texts)
    widest = complex if complex in types else float
    return tuple(None if v is None else widest(cast("int", v)) for v in values)


def _spell_list(values: tuple[Scalar, ...]) -> str:
    return f"({','.join(map(_spell_scalar, values))})"


def _spell_scalar(value: Scalar) -> str:
    if isinstance(value, complex):
        return f"{_spell_float(value.real)}+{_spell_float(value.imag)}j"
    if isinstance(value, float):
        return _spell_float(value)
    return str(value)


def _spell_float(value: float) -> str:
    """Spell with the fewest digits that are read as the same number, always with a '.' or 'e'."""
    return repr(float(value))
