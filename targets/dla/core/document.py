"""Check the types of values of an untrusted JSON document."""

from collections.abc import Sequence
from typing import Any, cast

from ....dialects.core.errors import Invalid


def as_list(value: object, where: str) -> list[Any]:
    """Return a list of a JSON document; raise Invalid for anything else."""
    if not isinstance(value, list):
        raise Invalid(f"'{where}' must be a list")
    return cast("list[Any]", value)


def as_table(value: object, where: str, names: Sequence[str]) -> dict[str, Any]:
    """Return a table of a JSON document with all entries of `names`; raise Invalid otherwise."""
    if not isinstance(value, dict):
        raise Invalid(f"'{where}' must be a table")
    table = cast("dict[str, Any]", value)
    for name in names:
        if name not in table:
            raise Invalid(f"'{where}' has no '{name}'")
    return table


def as_number(value: object, where: str) -> int:
    """Return a whole number of a JSON document; raise Invalid for anything else."""
    if type(value) is not int:
        raise Invalid(f"'{where}' is {value!r:.40}, must be a number")
    return value


def as_text(value: object, where: str) -> str:
    """Return a text of a JSON document; raise Invalid for anything else."""
    if not isinstance(value, str):
        raise Invalid(f"'{where}' is {value!r:.40}, must be a text")
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        raise Invalid(f"'{where}' is {value!r:.40}, which is no text of Unicode")
    return value
