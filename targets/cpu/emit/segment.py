"""Segments: programs that call kernels one after another, phase by phase, on all threads."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from ....runtime.team import Job
from ...program import Place
from ..kernels.phases import Phase
from .threads import GRAIN


@dataclass(frozen=True)
class KernelCall:
    """Call a kernel with pointers to these places."""

    symbol: str
    arguments: tuple[Place, ...]
    phases: tuple[Phase, ...]


@dataclass(frozen=True)
class Segment:
    """Hold a program as text, its symbol, and the number of phases that threads can share.

    The number is 0 if no phase has work for two threads: one thread runs the program.
    """

    symbol: str
    text: str
    phases: int


def segment(calls: Sequence[KernelCall], grain: int = GRAIN, symbol: str | None = None) -> Segment:
    """Return the program that makes calls in order, named by its content if no symbol is given.

    Its C type is `void(void *job, int64_t thread, int64_t run)`; `runtime.team` defines the job.
    `grain` is the least number of instructions in a chunk of a phase.
    """
    arity = {call.symbol: len(call.arguments) for call in calls}
    lines = [
        _DECLARATIONS,
        *(_unpacked(symbol, count) for symbol, count in sorted(arity.items())),
        "llvm.func @segment(%job: !llvm.ptr, %thread: i64, %run: i64) {",
        _prologue(max(arity.values(), default=0)),
        *_load_bases(sorted({place.base for call in calls for place in call.arguments})),
    ]
    limits: list[int] = []
    for number, call in enumerate(calls):
        lines += _arguments(number, call)
        for phase, described in enumerate(call.phases):
            limit = max(1, min(described.iterations, described.work // grain))
            lines += _share(number, phase, described.iterations, limit, len(limits))
            limits.append(limit)
    phases = len(limits) if max(limits, default=1) > 1 else 0
    text = "\n".join([*lines, "  llvm.return", "}", ""])
    symbol = symbol or "s_" + hashlib.sha256(text.encode()).hexdigest()[:16]
    # Segments may call the same kernels, and no two objects define the same function.
    text = text.replace("@segment(", f"@{symbol}(", 1).replace("@call_", f"@{symbol}_call_")
    return Segment(symbol, text, phases)


_DECLARATIONS = "llvm.func @share(!llvm.ptr, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, i64)"


def _unpacked(symbol: str, arity: int) -> str:
    """Return a function that calls a kernel with the pointers in a table."""
    numbers = range(arity)
    pointers = "".join(f", %p{i}" for i in numbers)
    types = "".join(", !llvm.ptr" for _ in numbers)
    loads = "".join(
        f"  %at{i} = llvm.getelementptr %table[{i}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr\n"
        f"  %p{i} = llvm.load %at{i} : !llvm.ptr -> !llvm.ptr\n"
        for i in numbers
    )
    return (
        f"llvm.func @{symbol}(i64, i64, i64{types})\n"
        f"llvm.func @call_{symbol}"
        "(%table: !llvm.ptr, %phase: i64, %begin: i64, %end: i64) {\n"
        f"{loads}"
        f"  llvm.call @{symbol}(%phase, %begin, %end{pointers}) : (i64, i64, i64{types}) -> ()\n"
        "  llvm.return\n}"
    )


def _prologue(arity: int) -> str:
    """Find the bases, and the memory that this thread has for itself."""
    return f"""
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %size = llvm.mlir.constant({max(1, arity)} : i64) : i64
  %table = llvm.alloca %size x !llvm.ptr : (i64) -> !llvm.ptr
  %at_bases = llvm.getelementptr %job[{Job.BASES}] : (!llvm.ptr) -> !llvm.ptr, i64
  %bases = llvm.load %at_bases : !llvm.ptr -> !llvm.ptr
  %at_own = llvm.getelementptr %job[{Job.OWN}] : (!llvm.ptr) -> !llvm.ptr, i64
  %others = llvm.load %at_own : !llvm.ptr -> !llvm.ptr
  %at_size = llvm.getelementptr %job[{Job.OWN_BYTES}] : (!llvm.ptr) -> !llvm.ptr, i64
  %bytes = llvm.load %at_size : !llvm.ptr -> i64
  %before = llvm.sub %thread, %one : i64
  %offset = llvm.mul %before, %bytes : i64
  %own = llvm.getelementptr %others[%offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %caller = llvm.icmp "eq" %thread, %zero : i64"""


def _load_bases(bases: Sequence[int]) -> list[str]:
    lines: list[str] = []
    for base in bases:
        at = f"llvm.getelementptr %bases[{base}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr"
        lines += [
            f"  %at{base} = {at}",
            f"  %b{base} = llvm.load %at{base} : !llvm.ptr -> !llvm.ptr",
        ]
    return lines


def _arguments(number: int, call: KernelCall) -> list[str]:
    """Put the pointers for a kernel into the table; a thread may have some memory of its own."""
    lines: list[str] = []
    for index, place in enumerate(call.arguments):
        name = f"%p{number}_{index}"
        lines += _offset_pointer(name, f"%b{place.base}", place.offset)
        if place.own is not None:
            lines += [
                *_offset_pointer(f"{name}_own", "%own", place.own),
                f"  {name}_mine = llvm.select %caller, {name}, {name}_own : i1, !llvm.ptr",
            ]
            name += "_mine"
        slot = f"llvm.getelementptr %table[{index}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr"
        lines += [
            f"  %t{number}_{index} = {slot}",
            f"  llvm.store {name}, %t{number}_{index} : !llvm.ptr, !llvm.ptr",
        ]
    lines.append(f"  %f{number} = llvm.mlir.addressof @call_{call.symbol} : !llvm.ptr")
    return lines


def _offset_pointer(name: str, base: str, offset: int) -> list[str]:
    """Compute `base` plus a byte offset of 64 bits: a literal index of getelementptr has 32."""
    return [
        f"  {name}_offset = llvm.mlir.constant({offset} : i64) : i64",
        f"  {name} = llvm.getelementptr {base}[{name}_offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8",
    ]


def _share(number: int, phase: int, iterations: int, limit: int, counter: int) -> list[str]:
    """Do one phase of a kernel together, in `limit` chunks at most."""
    values = {"c": counter, "n": iterations, "l": limit, "q": phase}
    names = [f"%{letter}{number}_{phase}" for letter in values]
    return [
        *(
            f"  {name} = llvm.mlir.constant({value} : i64) : i64"
            for name, value in zip(names, values.values(), strict=True)
        ),
        f"  llvm.call @share(%job, %run, {', '.join(names[:3])}, %f{number}, %table, {names[3]})"
        " : (!llvm.ptr, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, i64) -> ()",
    ]
