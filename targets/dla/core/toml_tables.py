"""Check the tables of a TOML file, and collect their faults, each with its line."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from ....dialects.core.errors import Diagnostic

Table = Mapping[str, Any]
Path = tuple[str, ...]
"""The keys of an entry; the key of a packet's field is its name."""

_WORDS = {int: "a number", str: "a text", list: "a list", dict: "a table", bool: "true or false"}


class Tables:
    """The text of a file and the faults that were found in it."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.lines = text.splitlines()
        self.file = file
        self.faults: list[Diagnostic] = []

    def in_order(self) -> list[Diagnostic]:
        """Return the faults in the order of their lines."""
        return sorted(self.faults, key=_line_of)

    def fault(self, where: Path, message: str) -> None:
        self.faults.append(Diagnostic(f"{self.file}:{self.line(where)}", message))

    def line(self, where: Path) -> int:
        """Find the line of a path of keys: of its table's head, then of the last key below."""
        for length in range(len(where), 0, -1):
            head = r"\.".join(rf"\"?{re.escape(key)}\"?" for key in where[:length])
            start = self._search(rf"\s*\[{head}\]", 0, len(self.lines))
            if start is not None:
                return self._below(start, where[length:]) + 1
        return self._below(-1, where) + 1 or 1

    def good(
        self, table: object, needed: Mapping[str, type], where: Path, more: Mapping[str, type] = {}
    ) -> Table:
        """Return the entries of a table that have the right type; all others are faults."""
        if not isinstance(table, dict):
            self.fault(where, f"'{'.'.join(where)}' must be a table")
            return {}
        named = f"'{'.'.join(where)}' " if where else "the description "
        found: dict[str, Any] = {}
        for key, value in cast(Table, table).items():
            kind = needed.get(key, more.get(key))
            if kind is None:
                self.fault((*where, key), f"{named}has an unknown entry '{key}'")
            elif type(value) is not kind:
                self.fault((*where, key), f"'{key}' must be {_WORDS[kind]}")
            else:
                found[key] = value
        for key in needed:
            if key not in table:
                self.fault(where, f"{named}lacks '{key}'")
        return found

    def number(self, where: Path, value: int | None, least: int, most: int) -> int | None:
        """Return a number within bounds; report any other one and return None."""
        if value is None or least <= value <= most:
            return value
        self.fault(where, f"'{where[-1]}' is {value}, must be from {least} to {most}")
        return None

    def power(self, where: Path, value: int | None) -> None:
        if value is not None and (value < 1 or value & value - 1):
            self.fault(where, f"'{where[-1]}' is {value}, must be a power of two")

    def choice(self, where: Path, value: str | None, known: Sequence[str], subject: str) -> None:
        if value is not None and value not in known:
            listed = ", ".join(known)
            self.fault(where, f"{subject} is '{value}', must be one of: {listed}")

    def word(self, where: Path, name: str) -> None:
        """Report a name that the text form of packets cannot contain."""
        if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
            self.fault(where, f"'{name}' must be a word of letters, digits and _")

    def names(self, where: Path, names: Sequence[object]) -> tuple[str, ...]:
        """Return the names in a list; an empty list and duplicates are faults."""
        texts = tuple(name for name in names if isinstance(name, str))
        if len(set(texts)) != len(names) or not names:
            self.fault(where, f"'{where[-1]}' must be a list of names, each different")
        for name in texts:
            self.word(where, name)
        return texts

    def _below(self, head: int, keys: Path) -> int:
        end = self._search(r"\s*\[[^][=]+\]\s*(#|$)", head + 1, len(self.lines))
        found = head
        for key in keys:
            text = re.escape(key)
            pattern = rf"\s*\"?{text}\"?\s*=|.*[{{,]\s*name\s*=\s*\"{text}\""
            line = self._search(pattern, max(found, 0), len(self.lines) if end is None else end)
            found = found if line is None else line
        return found

    def _search(self, pattern: str, start: int, end: int) -> int | None:
        matches = (n for n in range(start, end) if re.match(pattern, self.lines[n]))
        return next(matches, None)


def _line_of(fault: Diagnostic) -> tuple[int, str]:
    return int(fault.where.rpartition(":")[2]), fault.message
