"""Check and convert the arguments of public functions.

A check takes a value and returns it converted, or raises Invalid with what it must be. `checked`
adds the name of the argument and the value.
"""

import math
import numbers
import operator
import os
import reprlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar, cast

from .errors import CompileError, Invalid
from .sizes.symbols import Range, need_symbol_name

T = TypeVar("T")
Check = Callable[[Any], Any]

_SPELLED: tuple[type, ...] = (str, bytes, type(None), numbers.Number)


def checked(name: str, value: Any, check: Callable[[Any], T]) -> T:
    """Return a value as a check converts it; raise CompileError with its name where it cannot."""
    try:
        return check(value)
    except Invalid as error:
        raise CompileError(f"{name} is {spell(value)}, {error}") from None


def spell(value: object) -> str:
    """Return a short value as Python writes it, and the type of any other."""
    short = isinstance(value, _SPELLED) or _is_bool(value)
    return reprlib.repr(value) if short else f"of type {type(value).__name__}"


def _is_bool(value: object) -> bool:
    """Recognise truth values, those of numpy without importing it: tools start faster."""
    if isinstance(value, bool):
        return True
    return getattr(value, "dtype", None) == "bool" and getattr(value, "shape", None) == ()


def flag(value: Any) -> bool:
    """Check a value that is true or false."""
    if _is_bool(value):
        return bool(value)
    raise Invalid("must be True or False")


def whole_number(least: int, most: int) -> Callable[[Any], int]:
    """Return the check for whole numbers of a range, those of numpy included."""

    def check(value: Any) -> int:
        try:
            number = operator.index(value)
        except TypeError:
            number = least - 1
        if _is_bool(value) or not least <= number <= most:
            raise Invalid(f"must be a whole number from {least} to {most}")
        return number

    return check


def number(range_: str, accepts: Callable[[float], bool]) -> Callable[[Any], float]:
    """Return the check for numbers of a range, which is described and tested."""

    def check(value: Any) -> float:
        found = math.nan
        if isinstance(value, numbers.Real) and not _is_bool(value):
            with suppress(OverflowError):
                found = float(value)
        if accepts(found):
            return found
        raise Invalid(f"must be a number {range_}")

    return check


def one_of(choices: Sequence[T]) -> Callable[[Any], T]:
    """Return the check for one of several values, of their type."""

    def check(value: Any) -> T:
        for choice in choices:
            if type(value) is type(choice) and value == choice:
                return choice
        raise Invalid(f"must be one of {', '.join(map(str, choices))}")

    return check


def optional(check: Callable[[Any], T]) -> Callable[[Any], T | None]:
    """Return a check that lets None through."""
    return lambda value: None if value is None else check(value)


def name(value: Any) -> str:
    """Check a string."""
    if not isinstance(value, str):
        raise Invalid("must be a string")
    return value


def names(value: Any) -> str | tuple[str, ...]:
    """Check a string, or a sequence of strings."""
    if isinstance(value, str):
        return value
    listed = cast("Sequence[Any]", value) if isinstance(value, Sequence) else (None,)
    if all(isinstance(each, str) for each in listed):
        return tuple(listed)
    raise Invalid("must be a string or several")


def listed(given: str | Sequence[str]) -> tuple[str, ...]:
    """Return names as a tuple: one alone may be given as a string."""
    return (given,) if isinstance(given, str) else tuple(given)


def path(value: Any) -> str:
    """Check the path of a file; None, and an empty one, are no file."""
    if value is None:
        return ""
    if isinstance(value, (str, os.PathLike)):
        return os.fsdecode(cast("Any", value))
    raise Invalid("must be the path of a file")


def function(value: Any) -> Any:
    """Check something that can be called."""
    if not callable(value):
        raise Invalid("must be a function")
    return value


def mapping(what: str) -> Callable[[Any], Mapping[str, Any]]:
    """Return the check for a dictionary of something by name."""

    def check(value: Any) -> Mapping[str, Any]:
        given = cast("Mapping[Any, Any]", value) if isinstance(value, Mapping) else {None: None}
        if all(isinstance(key, str) for key in given):
            return given
        raise Invalid(f"must be a dictionary of {what} by name")

    return check


def anything(value: Any) -> Any:
    """Accept every value."""
    return value


def sizes(value: Any) -> dict[str, Any]:
    """Check sizes by the names of dimensions, and whole shapes by the names of inputs."""
    given = mapping("sizes or shapes")(value)
    return {key: _size_or_shape(f"shapes['{key}']", each) for key, each in given.items()}


_size = optional(whole_number(0, (1 << 63) - 1))


def _size_or_shape(label: str, value: Any) -> int | Range | tuple[int | str | None, ...] | None:
    if isinstance(value, Range):
        return value
    if getattr(value, "ndim", 0):
        value = value.tolist()
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        return checked(label, value, _size)
    listed = cast("Sequence[Any]", value)
    return tuple(checked(f"{label}[{i}]", size, _size_or_name) for i, size in enumerate(listed))


def _size_or_name(value: Any) -> int | str | None:
    if not isinstance(value, str):
        return _size(value)
    need_symbol_name(value)
    return value


def texts(value: Any) -> dict[str, str]:
    """Check strings by name."""
    given = mapping("names")(value)
    return {key: checked(f"'{key}'", each, name) for key, each in given.items()}


def size_sets(value: Any) -> tuple[dict[str, int], ...]:
    """Check a list of sizes, each by the names of symbols."""
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        raise Invalid("must be a list of sizes by the names of symbols, such as [{'T': 128}]")
    listed = cast("Sequence[Any]", value)
    return tuple(checked(f"exact[{i}]", each, _size_set) for i, each in enumerate(listed))


_exact_size = whole_number(0, (1 << 63) - 1)


def _size_set(value: Any) -> dict[str, int]:
    given = mapping("sizes")(value)
    if not given:
        raise Invalid("must name one size or more, such as {'T': 128}")
    return {name: checked(f"'{name}'", size, _exact_size) for name, size in given.items()}


def arrays(value: Any) -> dict[str, Any]:
    """Check arrays by the names of inputs."""
    given = mapping("arrays")(value)
    return {key: checked(f"constants['{key}']", each, _array) for key, each in given.items()}


def _array(value: Any) -> Any:
    """Check a numpy array, or a value that numpy converts to one."""
    if not hasattr(value, "__array__"):
        raise Invalid("must be a numpy array")
    import numpy as np  # slow to import, and no flag of a command has arrays

    try:
        return np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise Invalid(f"must convert to a numpy array: {error}") from None
