"""`--verify-diagnostics`: compare the expected diagnostics of a test file with the reported ones.

    // expected-error @below {{op contracts 3 with 5}}
    // expected-note-re @+2 {{value {{%[0-9]+}} is used}}

The place is this line, `@above` and `@below` (the nearest line that is no expectation itself),
`@+N`, `@-N`, or `@unknown` for a message without a line of this file. The text must occur in the
message; with `-re`, parts in double braces are regular expressions.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...dialects.core.errors import CompileError, Diagnostic
from .diagnostics import OPERATION_NOTE, Message
from .source import Source

_LOOKS_LIKE = re.compile(r"//.*\bexpected-\w")
_EXPECTED = re.compile(
    r"//\s*expected-(error|warning|remark|note)(-re)?"
    r"\s*(?:@([+-]\d+|above|below|unknown))?\s*\{\{(.*)\}\}\s*$"
)


@dataclass(frozen=True)
class Expectation:
    """Hold one message that must come: its severity, its line (None: unknown), and its text."""

    severity: str
    line: int | None
    text: str
    pattern: re.Pattern[str]
    written_at: int

    def meets(self, message: Message, line: int | None) -> bool:
        """Return whether a message at a line is the one expected."""
        same = self.severity == message.severity and self.line == line
        return same and self.pattern.search(message.text) is not None


def check(source: Source, heard: Sequence[Message]) -> list[Diagnostic]:
    """Compare messages with the expectations in a source; return missing and unexpected ones.

    MLIR's note with the whole operation needs no expectation.
    """
    missing = expectations(source)
    wrong: list[Diagnostic] = []
    for message in heard:
        line = source.line_of(message.where)
        met = next((e for e in missing if e.meets(message, line)), None)
        if met is not None:
            missing.remove(met)
        elif message.severity != "note" or not message.text.startswith(OPERATION_NOTE):
            text = f"unexpected {message.severity}: {message.text}"
            wrong.append(Diagnostic(source.place(message.where), text))
    for expected in missing:
        text = f'expected {expected.severity} "{expected.text}" was not reported'
        wrong.append(Diagnostic(f"{source.name}:{expected.written_at}:1", text))
    return wrong


def expectations(source: Source) -> list[Expectation]:
    """Read all expectations of a source; CompileError for a line that only looks like one."""
    lines = dict(enumerate(source.text.splitlines(), source.first_line))
    found: list[Expectation] = []
    for number, line in lines.items():
        if not _LOOKS_LIKE.search(line):
            continue
        parts = _EXPECTED.search(line)
        if parts is None:
            where = f"{source.name}:{number}:1"
            raise CompileError([Diagnostic(where, f"'{line.strip()}' is not an expectation")])
        severity, regex, place, text = parts.groups()
        at = _line(place, number, lines)
        found.append(Expectation(severity, at, text, _pattern(text, bool(regex)), number))
    return found


def _line(place: str | None, here: int, lines: dict[int, str]) -> int | None:
    if place is None:
        return here
    if place == "unknown":
        return None
    if place not in ("above", "below"):
        return here + int(place)
    step = 1 if place == "below" else -1
    line = here + step
    while line in lines and _EXPECTED.search(lines[line]):
        line += step
    return line


def _pattern(text: str, regex: bool) -> re.Pattern[str]:
    parts = re.split(r"\{\{(.*?)\}\}", text) if regex else [text]
    return re.compile("".join(p if i % 2 else re.escape(p) for i, p in enumerate(parts)))
