"""Values of a JSON document that nobody vouches for: each is of its type, or is refused."""

from collections.abc import Sequence
from typing import Any, cast

from ....dialects.core.errors import Invalid


def as_list(value: object, where: str) -> list[Any]:
    """Return a value of JSON that must be a list; raise Invalid when it is not."""
    if not isinstance(value, list):
        raise Invalid(f"'{where}' must be a list")
    return cast("list[Any]", value)


def as_table(value: object, where: str, names: Sequence[str]) -> dict[str, Any]:
    """Return a value of JSON that must have entries; raise Invalid when it lacks one."""
    if not isinstance(value, dict):
        raise Invalid(f"'{where}' must be a table")
    table = cast("dict[str, Any]", value)
    for name in names:
        if name not in table:
            raise Invalid(f"'{where}' has no '{name}'")
    return table


def as_number(value: object, where: str) -> int:
    """Return a value of JSON that must be a whole number; raise Invalid when it is not."""
    if type(value) is not int:
        raise Invalid(f"'{where}' is {value!r:.40}, must be a number")
    return value


def as_text(value: object, where: str) -> str:
    """Return a value of JSON that must be a text; raise Invalid when it is not."""
    if not isinstance(value, str):
        raise Invalid(f"'{where}' is {value!r:.40}, must be a text")
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        raise Invalid(f"'{where}' is {value!r:.40}, which is no text of Unicode")
    return value
