"""All passes of Trivium by name, those of its own targets included; nothing is imported."""

from functools import cache
from pathlib import Path

from ..passes.index import PassIndex, index_passes, own_passes


@cache
def pass_index() -> PassIndex:
    """Return where each pass is defined, by its name on the command line."""
    return own_passes() | index_passes(__package__ or "", Path(__file__).parent)
