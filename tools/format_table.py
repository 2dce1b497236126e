"""The table of formats that `--list-formats` prints."""

from ..compiler.source import formats
from .spelling import columns


def format_table() -> str:
    """List the formats with their suffixes, directions and summaries."""
    rows = [
        (
            each.name,
            " ".join(each.suffixes) or "-",
            " ".join(["read"] * each.reads + ["write"] * each.writes) or "-",
            (type(each).__doc__ or "").strip().partition("\n")[0],
        )
        for each in formats().values()
    ]
    return "\n".join(columns(rows))
