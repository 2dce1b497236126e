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


def columns(
    rows: Sequence[Sequence[str]], indent: str = "  ", left: int | None = None
) -> list[str]:
    """Align rows in columns: the first `left` ones flush left, by default all, others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = ["<" if left is None or i < left else ">" for i in range(len(widths))]
    forms = [f"{{:{side}{width}}}" for side, width in zip(sides, widths, strict=True)]
    line = indent + "  ".join(forms)
    return [line.format(*row).rstrip() for row in rows]


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table of a page of the docs."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
