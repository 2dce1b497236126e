"""The input of `trivium-opt`: a model, IR, or the pieces between `// -----` lines of IR."""

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ...compiler.format import Format
from ...compiler.ir_files import load_weights
from ...compiler.source import formats, read_model
from ...dialects.core.errors import CompileError
from ...dialects.core.ir.bytecode import MAGIC
from ...dialects.core.ir.diagnostics import compile_error
from ...dialects.core.ir.parser import text_of_ir
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...dialects.core.tensor import Bindings
from ...targets.options import CompileOptions

STDIN = "-"
IR = "mlir"
"""The format that is parsed here, piece by piece."""

SEPARATOR = "// -----"


@dataclass(frozen=True)
class Source:
    """Hold one piece of a file of IR, which starts at `first_line` of it.

    `data` is None when the piece is the whole file, which MLIR then reads by itself: so locations
    name the file. Those of other pieces name `-`, and `place` puts the name in its place. Only a
    whole file has weights beside it.
    """

    name: str
    text: str
    first_line: int = 1
    data: str | None = None
    is_file: bool = False

    def parse(self) -> Module:
        """Parse the piece in the current context; raises CompileError with MLIR's words."""
        try:
            if self.data is None:
                module = ir.Module.parseFile(self.name)
            else:
                module = ir.Module.parse("\n" * (self.first_line - 1) + self.data)
            return Module(module, load_weights(self.name) if self.is_file else {})
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


@dataclass(frozen=True)
class ModelSource(Source):
    """Name a model or a package, with sizes for the symbolic dims of the model."""

    shapes: Bindings = field(default_factory=dict[str, int | tuple[int, ...]])

    def parse(self) -> Module:
        """Import the model in the current context; raises CompileError and PackageError."""
        return read_model(self.name, CompileOptions(shapes=self.shapes))


def read(name: str, *, split: bool, shapes: Bindings) -> list[Source]:
    """Read a file, or standard input for `-`; raises CompileError when there is none."""
    models = [each for kind, each in formats().items() if kind != IR]
    if Path(name).suffix in _suffixes(models):
        return [ModelSource(name, "", shapes=shapes)]
    if shapes:
        raise CompileError(f"'{name}' is IR: its shapes are static, leave --shape away")
    try:
        data = sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()
    except OSError as error:
        raise CompileError(f"cannot open '{name}': {error.strerror}") from None
    text = text_of_ir(data, name, _suffixes(each for each in models if each.reads))
    if data.startswith(MAGIC):
        return [Source(name, "", data=text, is_file=name != STDIN)]
    if split:
        return _split(name, text)
    if name == STDIN:
        return [Source(name, text, data=text)]
    return [Source(name, text, is_file=True)]


def _suffixes(models: Iterable[Format]) -> tuple[str, ...]:
    return tuple(sorted(end for each in models for end in each.suffixes))


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
