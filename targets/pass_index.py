"""All passes of Trivium by name, those of its own targets included; nothing is imported."""

from functools import cache
from pathlib import Path

from ..passes.index import PassIndex, index_passes, own_passes

HERE = Path(__file__).parent


@cache
def pass_index() -> PassIndex:
    """Return where each pass is defined, by its name on the command line."""
    found = own_passes()
    for folder in sorted({file.parent for file in HERE.rglob("*.py")}):
        package = ".".join([__package__ or "", *folder.relative_to(HERE).parts])
        found |= index_passes(package, folder.glob("*.py"))
    return found
