"""Compiled kernels on disk, found by the groups that they are made from: none is lowered again."""

import hashlib
import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import FunctionType

import numpy as np

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.module import ops
from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....dialects.core.sizes.dim import symbols_of
from ....dialects.core.sizes.parse import parse_size
from ....dialects.core.symbol_table import symbol_table
from ....dialects.core.tensor import Tensor
from ...cache import recall, remember
from ...program.program import Scratch
from ..kernels.kernel_module import Kernel, Phase
from ..registry import TABLE
from .bind_kernel import words_of

SUFFIX = ".kernel"
_ROOT = Path(__file__).parents[3]
_PACKAGE = __name__.partition(".")[0]


@dataclass(frozen=True)
class CompiledKernel:
    """Hold a kernel and its object code, and the text of what the words of its record are."""

    kernel: Kernel
    code: bytes
    record: tuple[str, ...] = ()

    def to_bytes(self) -> bytes:
        """Return a line of JSON and the object code."""
        kernel = self.kernel
        described = {
            "symbol": kernel.symbol,
            "record": self.record,
            "scratch": [
                [_texts(s.tensor.shape), s.tensor.dtype, s.private] for s in kernel.scratch
            ],
            "phases": [*map(_texts, kernel.phases)],
        }
        return json.dumps(described).encode() + b"\n" + self.code

    @staticmethod
    def from_bytes(data: bytes) -> "CompiledKernel":
        """Return the kernel that `to_bytes` wrote."""
        line, _, code = data.partition(b"\n")
        described = json.loads(line)
        record = tuple(described["record"])
        sizes = partial(_sizes, words_of(len(record)))
        scratch = (Scratch(Tensor(sizes(s), d), own) for s, d, own in described["scratch"])
        phases = (Phase(*sizes(numbers)) for numbers in described["phases"])
        kernel = Kernel(described["symbol"], tuple(scratch), tuple(phases), len(record))
        return CompiledKernel(kernel, code, record)


def _texts(sizes: Sequence[Size]) -> list[int | str]:
    return [str(size) if is_symbolic(size) else size for size in sizes]


def _sizes(words: Mapping[str, Size], texts: Sequence[int | str]) -> tuple[Size, ...]:
    return tuple(parse_size(text, words) if isinstance(text, str) else text for text in texts)


def recall_kernel(source: str) -> bytes | None:
    """Return a compiled kernel from the cache, or None; `source` is what `source_of` returns."""
    return recall(source, SUFFIX) if source else None


def remember_kernel(source: str, made: bytes) -> None:
    """Write a compiled kernel to the cache."""
    if source:
        remember(source, made, SUFFIX)


def source_of(group: tri.Group, structure: Hashable, recipe: str) -> str:
    """Return all that the compiled kernel of a group depends on, or "" where that is unknown.

    Ops and lowerings of other distributions may depend on code that no one lists here.
    """
    for op in ops(group.block):
        parts: list[Callable[..., object]] = [type(op)]
        if not op.terminator and not isinstance(op, (tri.Constant, tri.Pad)):
            parts.append(TABLE.lowering_of(op).function)
        if not all(map(is_own, parts)):
            return ""
    return "\n".join([compiler(), recipe, repr(structure), *_ranges(group)])


def is_own(code: object) -> bool:
    """Return whether a class or function, and all functions that it binds, are of Trivium."""
    if isinstance(code, partial):
        given = (*code.args, *code.keywords.values())
        return all(map(is_own, (code.func, *filter(callable, given))))
    if (wrapped := getattr(code, "__wrapped__", None)) is not None and not is_own(wrapped):
        return False
    # A function that wraps another one has the other one's `__module__`.
    module = code.__globals__["__name__"] if isinstance(code, FunctionType) else code.__module__
    return module.partition(".")[0] == _PACKAGE


def _ranges(group: tri.Group) -> list[str]:
    """Return the ranges of the symbols that a group depends on, by which it is lowered."""
    members = list(ops(group.block))
    names = {name for op in members for name in op.symbols}
    names |= {
        name
        for value in (*group.block.arguments, *(v for op in members for v in op.results))
        for name in tensor_of(value.type).symbols
    }
    table = symbol_table(group.operation.context)
    atoms = (symbols_of(table.sizes[name]).values() for name in sorted(names))
    return [f"{atom}: {atom.range}" for found in atoms for atom in found]


@cache
def compiler() -> str:
    """Return a digest of the code that lowers groups and prints kernels."""
    digest = hashlib.sha256(np.__version__.encode())
    for folder in ("dialects", "targets"):
        for path in sorted((_ROOT / folder).rglob("*.py")):
            digest.update(str(path.relative_to(_ROOT)).encode() + path.read_bytes())
    return digest.hexdigest()
