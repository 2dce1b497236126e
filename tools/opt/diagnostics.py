"""Messages for the user, collected from wherever a tool meets them, and printed in one form."""

import re
from dataclasses import dataclass

from ...dialects.core.errors import CompileError
from ...dialects.core.ir.diagnostics import severity
from ...dialects.core.location import describe
from ...dialects.core.mlir import ir
from .source import Source

OPERATION_NOTE = "see current operation"


@dataclass(frozen=True)
class Message:
    """Describe a diagnostic: an error, a warning, a remark, or a note on the one before."""

    severity: str
    where: str
    text: str

    def render(self, source: Source) -> str:
        """Write the message as compilers do, with the line of the source that it is about."""
        where = source.place(self.where)
        head = f"{where}: {self.severity}: {self.text}".removeprefix(": ")
        excerpt = source.line(source.line_of(self.where) or 0)
        if not excerpt or self.severity == "note":
            return head
        column = int(where.rpartition(":")[2])
        return f"{head}\n{excerpt}\n{' ' * (column - 1)}^"


def messages(error: CompileError) -> list[Message]:
    """List the diagnostics of an error and their notes; a note may begin with its own place."""
    found: list[Message] = []
    for diagnostic in error.diagnostics:
        found.append(Message("error", diagnostic.where, diagnostic.message))
        for note in diagnostic.notes:
            place = re.match(r"(\S+:\d+:\d+): ", note)
            where = place[1] if place else diagnostic.where
            found.append(Message("note", where, note[place.end() :] if place else note))
    return found


class Listener:
    """Collect the diagnostics of MLIR in a context that are not raised as exceptions."""

    def __init__(self, context: ir.Context) -> None:
        self.heard: list[Message] = []
        context.attach_diagnostic_handler(self._hear)

    def _hear(self, info: ir.DiagnosticInfo) -> bool:
        for each in (info, *info.notes):
            message = Message(severity(each), describe(each.location), each.message)
            self.heard.append(message)
        return True
