"""Checks of options of compilations that no other table of options has."""

import os
from operator import index
from typing import Any

from ..dialects.core.arguments import path
from ..dialects.core.errors import Invalid
from ..runtime.cores import parse_cores
from ..runtime.errors import RunError


def core_list(value: Any) -> tuple[int, ...]:
    """Check a list of cores; whether there are such, sessions check."""
    try:
        return parse_cores(value)
    except RunError:
        raise Invalid("must be like '0-3,8', [0, 1] or 'all'") from None


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
