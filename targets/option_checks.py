"""Checks of options of compilations that no other table of options has."""

import os
from operator import index
from typing import Any

from ..dialects.core.arguments import listed, names, path
from ..dialects.core.errors import Invalid
from ..runtime.cores import parse_cores
from ..runtime.errors import RunError
from ..runtime.file.archive import NAMES, is_name
from ..runtime.file.optional_entries import checked_kinds


def core_list(value: Any) -> tuple[int, ...]:
    """Check a list of cores; whether there are such, sessions check."""
    try:
        return parse_cores(value)
    except RunError:
        raise Invalid("must be like '0-3,8', [0, 1] or 'all'") from None


def file_beside(value: Any) -> str:
    """Check the name of a file in the folder of a package; an empty one is no file."""
    if isinstance(value, str) and (not value or is_name(value.encode(errors="replace"))):
        return value
    raise Invalid(f"must name a file in the folder of the package: {NAMES}")


def entry_kinds(value: Any) -> tuple[str, ...]:
    """Check kinds of entries that may be left out of a package."""
    try:
        return checked_kinds(listed(names(value)))
    except RunError as error:
        raise Invalid(f"has a kind that there is not: {error}") from None


def share_of(value: Any) -> tuple[int, int]:
    """Check a number and of how many it is."""
    try:
        number, of = map(index, value)
    except (TypeError, ValueError):
        number, of = 0, 0
    if not 0 <= number < of:
        raise Invalid("must be two whole numbers, the first from 0 on and below the second")
    return number, of


def scales(value: Any) -> Any:
    """Check the path of a table of scales, or of a config; whoever applies it checks all else."""
    return path(value) if isinstance(value, str | os.PathLike) else value
