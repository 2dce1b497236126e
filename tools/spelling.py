"""Spell sizes, shapes, counts and tables."""

from collections.abc import Iterable, Sequence

MOST_NAMES = 4


def spell_shape(shape: Sequence[int]) -> str:
    """Spell a shape: 1x3x224x224."""
    return "x".join(map(str, shape)) or "scalar"


def spell_size(size: int) -> str:
    """Spell a number of bytes."""
    for unit, bytes_ in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= bytes_:
            return f"{size / bytes_:.1f} {unit}"
    return f"{size} bytes"


def spell_headroom(size: int, bound: int) -> str:
    """Spell the size of an arena, and how far above its lower bound it is."""
    over = f", {(size / bound - 1):.1%} above it" if bound else ""
    return f"{spell_size(size)}, lower bound {spell_size(bound)}{over}"


def count(number: int, one: str, many: str = "") -> str:
    """Spell a number of things."""
    return f"{number} {one}" if number == 1 else f"{number} {many or one + 's'}"


def spell_names(names: Sequence[str]) -> str:
    """Spell the first names of a list, and how many more there are."""
    more = len(names) - MOST_NAMES
    return ", ".join([*names[:MOST_NAMES], *([f"{more} more"] if more > 0 else [])])


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
