"""Check numbers that users give."""

from operator import index
from typing import Any

from .errors import RunError


def checked_number(name: str, value: Any, least: int, most: int | None = None) -> int:
    """Return a whole number; raise RunError for anything else, and out of its range."""
    try:
        number = least - 1 if isinstance(value, bool) else index(value)
    except TypeError:
        number = least - 1
    if number < least or (most is not None and number > most):
        end = "on" if most is None else f"to {most}"
        raise RunError(f"{name} is {value!r}, must be a number from {least} {end}")
    return number
