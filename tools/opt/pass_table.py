"""The table of passes that `trivium-opt --help` shows, made without importing Trivium's own."""

import dataclasses
from collections.abc import Sequence

from ...dialects.core.discovery import load_plugins
from ...targets.installed import foreign_targets
from ...targets.pass_index import pass_index


def pass_table() -> str:
    """List the passes with their options and the first lines of their docstrings."""
    own = pass_index().items()
    rows = {_usage(name, source.options): source.summary for name, source in own}
    if foreign_targets() or load_plugins():
        rows |= _foreign_rows()
    width = max(map(len, rows))
    return "\n".join(f"  {usage:{width}}  {rows[usage]}" for usage in sorted(rows))


def _foreign_rows() -> dict[str, str]:
    """Return the rows of passes that targets of other distributions have, which are imported."""
    from ...passes.core import PASSES
    from ...targets.registry import load_passes

    load_passes()
    rows: dict[str, str] = {}
    for name in PASSES.keys() - pass_index().keys():
        options = [field.name.replace("_", "-") for field in dataclasses.fields(PASSES[name])]
        rows[_usage(name, options)] = PASSES[name].summary()
    return rows


def _usage(name: str, options: Sequence[str]) -> str:
    return f"--{name}" + (f"={' '.join(f'{o}=…' for o in options)}" if options else "")
