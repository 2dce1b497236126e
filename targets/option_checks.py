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
    """Check a table of scales, a config, or the path of a file with one, which is read later."""
    if isinstance(value, str | os.PathLike):
        return path(value)
    from ..passes.quantize.quant_config import QuantConfig
    from ..passes.quantize.scale_table import ScaleTable

    if isinstance(value, ScaleTable | QuantConfig):
        return value
    raise Invalid("must be a table of scales, a config, or the path of a file with one")
