"""The input of a tool: a file, or the pieces between `// -----` lines of one."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from ..dialects.core.bytecode import MAGIC
from ..dialects.core.diagnostics import compile_error
from ..dialects.core.errors import CompileError
from ..dialects.core.ir_file import text_of_ir
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module

STDIN = "-"
SEPARATOR = "// -----"


@dataclass(frozen=True)
class Source:
    """Hold one piece of a file of IR, which starts at `first_line` of it.

    `data` is None when the piece is the whole file, which MLIR then reads by itself: so locations
    name the file. Those of other pieces name `-`, and `place` puts the name in its place.
    """

    name: str
    text: str
    first_line: int = 1
    data: str | None = None

    def parse(self) -> Module:
        """Parse the piece in the current context; raises CompileError with MLIR's words."""
        try:
            if self.data is None:
                return Module(ir.Module.parseFile(self.name))
            padding = "\n" * (self.first_line - 1)
            return Module(ir.Module.parse(padding + self.data))
        except ir.MLIRError as error:
            raise compile_error(error) from None

    def place(self, where: str) -> str:
        """Name the file in a place that a message names: `-:3:8` is `model.mlir:3:8`."""
        return f"{self.name}{where[1:]}" if where.startswith(f"{STDIN}:") else where

    def line_of(self, where: str) -> int | None:
        """Return the line of a place when it is in this file."""
        found = re.fullmatch(r"(.*):(\d+):\d+", self.place(where), re.DOTALL)
        return int(found[2]) if found and found[1] == self.name else None

    def line(self, number: int) -> str:
        """Return the text of a line by its number in the file, empty when it is not here."""
        lines = self.text.splitlines()
        index = number - self.first_line
        return lines[index] if 0 <= index < len(lines) else ""


def read(name: str, *, split: bool) -> list[Source]:
    """Read a file, or standard input for `-`; raises CompileError when there is none."""
    try:
        data = sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()
    except OSError as error:
        raise CompileError(f"cannot open '{name}': {error.strerror}") from None
    text = text_of_ir(data, name)
    if data.startswith(MAGIC):
        return [Source(name, "", data=text)]
    if split:
        return _split(name, text)
    return [Source(name, text, data=None if name != STDIN else text)]


def _split(name: str, text: str) -> list[Source]:
    pieces: list[list[str]] = [[]]
    starts = [1]
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        if line.rstrip() == SEPARATOR:
            pieces.append([])
            starts.append(number + 1)
        else:
            pieces[-1].append(line)
    joined = ["".join(piece) for piece in pieces]
    return [Source(name, t, start, data=t) for t, start in zip(joined, starts, strict=True)]
