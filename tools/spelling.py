"""Spell sections and tables."""

from collections.abc import Iterable, Sequence

from ..runtime.spelling import spell_size


def spell_headroom(size: int, bound: int) -> str:
    """Spell the size of an arena, and how far above its lower bound it is."""
    over = f", {(size / bound - 1):.1%} above it" if bound else ""
    return f"{spell_size(size)}, lower bound {spell_size(bound)}{over}"


def section(title: str, lines: Iterable[str]) -> str:
    """Return indented lines below a title; nothing where there are none."""
    indented = [f"  {line}" for line in lines]
    return "\n".join(["", title, *indented]) if indented else ""


def columns(rows: Sequence[Sequence[str]], indent: str = "  ") -> list[str]:
    """Align rows in columns; the last one is left as it is."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        indent + "  ".join(f"{cell:{w}}" for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table of a page of the docs."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
