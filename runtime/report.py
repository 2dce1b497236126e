"""The report of a part of a manifest: fields of `trivium info --json`, and sections of its text."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from .frozen import Frozen


class Section(Frozen):
    """Rows of cells below a title; the cells of a column are aligned."""

    title: str
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class PartReport:
    """Base of reports of parts; the fields of a subclass are fields of the JSON report.

    A field is a string, a number, a frozen dataclass, or a tuple or dictionary of these.
    """

    def sections(self) -> Iterable[Section]:
        """Yield the sections of the text; the text omits sections without rows."""
        return ()


class EntryKind(Frozen):
    """Entries of a package with one kind of content; `unit` is the noun for one such entry."""

    content: str
    names: Collection[str]
    unit: str = ""
