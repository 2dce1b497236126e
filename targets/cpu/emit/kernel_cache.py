"""Compiled kernels on disk, found by the groups that they are made from: none is lowered again."""

import hashlib
import json
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from ....dialects import tri
from ....dialects.core.module import ops
from ....dialects.core.tensor import Tensor
from ...cache import recall, remember
from ...program import Scratch
from ..kernels.kernel_module import Kernel, Phase
from ..registry import TABLE

SUFFIX = ".kernel"
_ROOT = Path(__file__).parents[3]
_PACKAGE = __name__.partition(".")[0]


@dataclass(frozen=True)
class CompiledKernel:
    """Hold a kernel and its object code."""

    kernel: Kernel
    code: bytes

    def to_bytes(self) -> bytes:
        """Return a line of JSON and the object code."""
        kernel = self.kernel
        described = {
            "symbol": kernel.symbol,
            "scratch": [[s.tensor.shape, s.tensor.dtype, s.private] for s in kernel.scratch],
            "phases": [[phase.iterations, phase.work] for phase in kernel.phases],
        }
        return json.dumps(described).encode() + b"\n" + self.code

    @staticmethod
    def from_bytes(data: bytes) -> "CompiledKernel":
        """Return the kernel that `to_bytes` wrote."""
        line, _, code = data.partition(b"\n")
        described = json.loads(line)
        scratch = (Scratch(Tensor(tuple(s), d), own) for s, d, own in described["scratch"])
        phases = (Phase(*numbers) for numbers in described["phases"])
        return CompiledKernel(Kernel(described["symbol"], tuple(scratch), tuple(phases)), code)


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
        if any(part.__module__.partition(".")[0] != _PACKAGE for part in parts):
            return ""
    return "\n".join([_compiler(), recipe, repr(structure)])


@cache
def _compiler() -> str:
    """Return a digest of the code that lowers groups."""
    digest = hashlib.sha256(np.__version__.encode())
    for folder in ("dialects", "targets"):
        for path in sorted((_ROOT / folder).rglob("*.py")):
            digest.update(str(path.relative_to(_ROOT)).encode() + path.read_bytes())
    return digest.hexdigest()
