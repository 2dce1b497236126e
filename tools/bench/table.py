"""Lay out rows of text in columns."""

from collections.abc import Sequence


def table(*rows: Sequence[str], left: int = 1) -> list[str]:
    """Return a line for each row: the first `left` columns flush left, the others flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            f"{cell:{'<' if index < left else '>'}{width}}"
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
