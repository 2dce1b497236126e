"""Segments: native functions that call kernels one after another, from one table of bases."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from ..program import Place


@dataclass(frozen=True)
class KernelCall:
    """Call a kernel with pointers to these places."""

    symbol: str
    arguments: tuple[Place, ...]


def segment_text(calls: Sequence[KernelCall]) -> tuple[str, str]:
    """Return the symbol and the LLVM-dialect text of a function that makes calls in order.

    Its C type is `void(void **bases)`.
    """
    lines = [
        *_declarations(calls),
        "llvm.func @segment(%bases: !llvm.ptr) {",
        *_load_bases(sorted({place.base for call in calls for place in call.arguments})),
    ]
    for number, call in enumerate(calls):
        lines += _call(number, call)
    text = "\n".join([*lines, "  llvm.return", "}", ""])
    symbol = "s_" + hashlib.sha256(text.encode()).hexdigest()[:16]
    return symbol, text.replace("@segment(", f"@{symbol}(", 1)


def _declarations(calls: Sequence[KernelCall]) -> list[str]:
    arity = {call.symbol: len(call.arguments) for call in calls}
    return [f"llvm.func @{s}({', '.join(['!llvm.ptr'] * n)})" for s, n in sorted(arity.items())]


def _load_bases(bases: Sequence[int]) -> list[str]:
    lines: list[str] = []
    for base in bases:
        at = f"llvm.getelementptr %bases[{base}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr"
        lines += [
            f"  %at{base} = {at}",
            f"  %b{base} = llvm.load %at{base} : !llvm.ptr -> !llvm.ptr",
        ]
    return lines


def _call(number: int, call: KernelCall) -> list[str]:
    lines: list[str] = []
    names: list[str] = []
    for index, place in enumerate(call.arguments):
        names.append(f"%p{number}_{index}")
        pointer = f"llvm.getelementptr %b{place.base}[{place.offset}]"
        lines.append(f"  {names[-1]} = {pointer} : (!llvm.ptr) -> !llvm.ptr, i8")
    types = ", ".join(["!llvm.ptr"] * len(names))
    return [*lines, f"  llvm.call @{call.symbol}({', '.join(names)}) : ({types}) -> ()"]
