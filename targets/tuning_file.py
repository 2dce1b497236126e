"""Tuning files: which ways to run were measured on a machine, and how long they took.

A file is JSON with one line for each op or kernel, sorted, so that files can be read, compared and
merged:

    {
      "format": "trivium tuning",
      "version": 1,
      "trivium": "0.1.0",
      "machine": {"features": ["avx2", …], "model": "…", "vector_bytes": 64},
      "entries": {
        "tri.conv …": {"schedule": "packed 14x2", "time_us": 10.5, "candidates": {…}}
      }
    }

What a schedule is and how a machine is described is each target's affair: a `TuningFormat`.
"""

import json
import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, NoReturn, TypeVar, cast

from ..dialects.core.errors import CompileError, Diagnostic, Invalid
from ..dialects.core.files import write_file
from ..runtime import SUFFIX
from ..runtime.errors import PackageError
from ..runtime.package import Package
from ..version import __version__

FORMAT, VERSION = "trivium tuning", 1
PACKAGED = "tuning.json"
"""The entry of a package that holds what its schedules were chosen by."""

_HEAD = ("format", "version", "trivium", "machine", "entries")
_ENTRY = ("schedule", "time_us", "candidates")

Choice = TypeVar("Choice", bound=Hashable)


@dataclass(frozen=True)
class Entry(Generic[Choice]):
    """Hold the schedule that took the least time, that time, and those of all."""

    schedule: Choice
    time_us: float
    candidates: Mapping[Choice, float]

    @staticmethod
    def of(candidates: Mapping[Choice, float]) -> "Entry[Choice]":
        """Let the least time win; of equal ones, the first."""
        best = min(candidates, key=lambda schedule: candidates[schedule])
        return Entry(best, candidates[best], candidates)


@dataclass(frozen=True)
class Tuning(Generic[Choice]):
    """Hold the entries of a file; `foreign` says why none of them means anything here."""

    entries: Mapping[str, Entry[Choice]]
    foreign: str = ""


@dataclass(frozen=True)
class TuningFormat(Generic[Choice]):
    """Read and write the tuning files of one kind of schedule and one machine.

    `parse_choice` reads what `str` writes of a schedule, or raises Invalid. `machine` describes the
    machine: a file that says otherwise is foreign. `notes` stand beside it in files that are
    written, and are read from none.
    """

    parse_choice: Callable[[str], Choice]
    machine: Mapping[str, object]
    notes: Mapping[str, object] = field(default_factory=dict[str, object])

    def read(self, path: str) -> Tuning[Choice]:
        """Read a tuning file, or the one in a package; CompileError says which line is wrong."""
        return self.parse(_text(path), path)

    def parse(self, text: str, path: str) -> Tuning[Choice]:
        """Read the text of a tuning file; CompileError says which line is wrong."""
        return _Reader(text, path, self).read()

    def write(self, path: str, entries: Mapping[str, Entry[Choice]]) -> None:
        """Replace a file by one with these entries; it is never there in part."""
        write_file(path, self.spell(entries))

    def spell(self, entries: Mapping[str, Entry[Choice]]) -> str:
        """Return the text of a file; equal entries have equal texts."""
        head: dict[str, object] = {"format": FORMAT, "version": VERSION, "trivium": __version__}
        head["machine"] = dict(sorted({**self.machine, **self.notes}.items()))
        lines = [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
        rows = [f"    {json.dumps(key)}: {_spell(entries[key])}" for key in sorted(entries)]
        body = "{\n" + ",\n".join(rows) + "\n  }" if rows else "{}"
        return "\n".join(["{", *lines, f'  "entries": {body}', "}", ""])


def gpu_tuning_format(
    parse_choice: Callable[[str], Choice],
    architecture: str,
    notes: Mapping[str, object] = MappingProxyType({}),
) -> TuningFormat[Choice]:
    """Return how tuning files for an architecture of GPUs look.

    Settings are read by `parse_choice`, which is `str` where nobody looks into them.
    """
    return TuningFormat(parse_choice, {"architecture": architecture}, notes)


def _spell(entry: Entry[Any]) -> str:
    ranked = sorted(entry.candidates.items(), key=lambda item: (item[1], str(item[0])))
    times = {str(schedule): time for schedule, time in ranked}
    fields = {"schedule": str(entry.schedule), "time_us": entry.time_us, "candidates": times}
    return json.dumps(fields)


def _text(path: str) -> str:
    try:
        if Path(path).suffix != SUFFIX:
            return Path(path).read_text(encoding="utf-8")
        entries = Package.open(path).entries
    except OSError as error:
        raise CompileError(f"{path}: cannot be read: {error.strerror}") from None
    except (PackageError, UnicodeDecodeError) as error:
        raise CompileError(f"{path}: is not a tuning file: {error}") from None
    if PACKAGED not in entries:
        raise CompileError(f"{path}: the package was not tuned")
    return bytes(entries[PACKAGED]).decode()


class _Reader(Generic[Choice]):
    def __init__(self, text: str, path: str, form: TuningFormat[Choice]) -> None:
        self.text, self.path, self.form = text, path, form

    def read(self) -> Tuning[Choice]:
        document = self._object(self._parse(), "the file", 1)
        if document.get("format") != FORMAT:
            self._refuse(f"'format' is {document.get('format')!r}, must be '{FORMAT}'", "format")
        if document.get("version") != VERSION:
            return Tuning({}, f"has version {document.get('version')!r}, this is for {VERSION}")
        self._check_names(document, _HEAD, "the file", 1)
        entries = self._object(document["entries"], "'entries'", self._line("entries"))
        made = {key: self._entry(key, value) for key, value in entries.items()}
        if (have := document["trivium"]) != __version__:
            return Tuning({}, f"is of trivium {have}, this is {__version__}")
        if different := _difference(document["machine"], self.form.machine):
            return Tuning({}, f"is of another machine: {different}")
        return Tuning(made)

    def _parse(self) -> object:
        try:
            return json.loads(
                self.text,
                object_pairs_hook=self._pairs,
                parse_constant=lambda name: self._refuse(
                    f"{name} is no number of JSON", line=self._line_of(name)
                ),
            )
        except json.JSONDecodeError as error:
            self._refuse(f"is not JSON: {error.msg}", line=error.lineno)

    def _pairs(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        table = dict(pairs)
        if len(table) != len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            self._refuse(f"'{twice}' occurs twice", line=self._second_line(json.dumps(twice)))
        return table

    def _entry(self, key: str, value: object) -> Entry[Choice]:
        line = self._line(key)
        table = self._object(value, "an entry", line)
        self._check_names(table, _ENTRY, "an entry", line)
        times = self._object(table["candidates"], "'candidates'", line)
        candidates = {
            self._schedule(name, line): self._time(name, time, line) for name, time in times.items()
        }
        time = self._time("time_us", table["time_us"], line)
        return Entry(self._schedule(table["schedule"], line), time, candidates)

    def _schedule(self, value: object, line: int) -> Choice:
        try:
            return self.form.parse_choice(str(value))
        except Invalid as error:
            self._refuse(str(error), line=line)

    def _time(self, name: str, value: object, line: int) -> float:
        number = float(value) if type(value) in (int, float) else math.nan  # type: ignore[arg-type]
        if not 0 < number < math.inf:
            self._refuse(f"'{name}' is {value!r}, must be a time above 0", line=line)
        return number

    def _object(self, value: object, what: str, line: int) -> dict[str, Any]:
        if not isinstance(value, dict):
            self._refuse(f"{what} is not an object", line=line)
        return cast("dict[str, Any]", value)

    def _check_names(
        self, table: Mapping[str, object], names: tuple[str, ...], what: str, line: int
    ) -> None:
        for name in table:
            if name not in names:
                known = ", ".join(names)
                line = line if what == "an entry" else self._line(name)
                self._refuse(f"'{name}' is unknown; known are {known}", line=line)
        for name in names:
            if name not in table:
                self._refuse(f"{what} lacks '{name}'", line=line)

    def _line(self, name: str) -> int:
        """Return the line on which an object has a name."""
        return self._line_of(json.dumps(name))

    def _line_of(self, spelled: str) -> int:
        return self.text.count("\n", 0, max(self.text.find(spelled), 0)) + 1

    def _second_line(self, spelled: str) -> int:
        """Return the line that repeats a text, or on which it occurs for the last time."""
        counts = [line.count(spelled) for line in self.text.splitlines()]
        lines = [number for number, count in enumerate(counts, 1) if count]
        return next((number for number in lines if counts[number - 1] > 1), lines[-1])

    def _refuse(self, fault: str, name: str = "", line: int = 0) -> NoReturn:
        where = f"{self.path}:{line or self._line(name)}"
        raise CompileError([Diagnostic(where, fault)])


def _difference(have: object, here: Mapping[str, object]) -> str:
    """Return in which respect a machine is another one; nothing where it is the same."""
    table = cast("dict[str, object]", have) if isinstance(have, dict) else {}
    name = next((name for name in here if name not in table or table[name] != here[name]), None)
    if name is None:
        return ""
    if name not in table:
        return f"it says nothing of its {name}"
    if isinstance(here[name], list):
        return f"its {name} differ"
    return f"{name} {table.get(name)!r}, this one has {here[name]!r}"
