"""Segments: programs that call kernels one after another, phase by phase, on all threads.

A segment is a table of calls (`call_table.py`) in constant memory, and a function that reads it.
Code for each call would take LLVM a millisecond a call, and longer the more there are. Where sizes
depend on symbols, the table is in the memory of a job, made by the run time from expressions.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from ....dialects.core.sizes.atoms import Size
from ....runtime.cpu.calls_one_by_one import words_of
from ....runtime.cpu.thread_pool import Job, Observed
from .call_table import CallTable, KernelCall, caller_of
from .threads import GRAIN


@dataclass(frozen=True)
class Segment:
    """Hold a program as text, its symbol, and the number of phases that threads can share.

    The number is 0 if no phase ever has work for two threads: one thread runs the program. `words`
    and `ranges` are the tables that a job needs where sizes depend on symbols; else they are empty.
    """

    symbol: str
    text: str
    phases: int
    words: tuple[Size, ...] = ()
    ranges: tuple[Size, ...] = ()


def segment(calls: Sequence[KernelCall], grain: int = GRAIN, symbol: str | None = None) -> Segment:
    """Return the program that makes calls in order, named by its content if no symbol is given.

    Its C type is `void(void *job, int64_t thread, int64_t run)`; a job is defined in
    `runtime.cpu.thread_pool`. `grain` is the least number of instructions in a chunk of a phase.
    """
    table = CallTable(calls, grain, _NAME)
    text = "\n".join(
        [
            _DECLARATIONS,
            *(f"llvm.func @{kernel}()" for kernel in table.kernels),
            *map(_caller, table.arities),
            *([] if table.symbolic else [_words(table.rows)]),
            _functions(table.functions),
            _program(len(calls), max(table.arities, default=0), table.symbolic),
        ]
    )
    words, ranges = (table.words, table.ranges) if table.symbolic else ((), ())
    content = f"{text}\n{words}\n{ranges}" if table.symbolic else text
    symbol = symbol or "s_" + hashlib.sha256(content.encode()).hexdigest()[:16]
    # No two objects define the same function.
    return Segment(symbol, text.replace(f"@{_NAME}", f"@{symbol}"), table.phases, words, ranges)


_NAME = "segment"

CLOCK = "clock_gettime"
"""The function of the system that an observed run calls after each kernel."""

_DECLARATIONS = f"""
llvm.func @share(!llvm.ptr, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, i64)
llvm.func @{CLOCK}(i32, !llvm.ptr) -> i32
"""


def _caller(arity: int) -> str:
    """Return a function that calls the kernel in a table with the pointers that follow there."""
    pointers = "".join(f", %p{i}" for i in range(1, arity + 1))
    types = ", ".join(["i64", "i64", "i64", *["!llvm.ptr"] * arity])
    loads = "".join(
        f"  %at{i} = llvm.getelementptr %table[{i}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr\n"
        f"  %p{i} = llvm.load %at{i} : !llvm.ptr -> !llvm.ptr\n"
        for i in range(arity + 1)
    )
    return (
        f"llvm.func @{caller_of(_NAME, arity)}"
        "(%table: !llvm.ptr, %phase: i64, %begin: i64, %end: i64) {\n"
        f"{loads}"
        f"  llvm.call %p0(%phase, %begin, %end{pointers}) : !llvm.ptr, ({types}) -> ()\n"
        "  llvm.return\n}"
    )


def _words(words: Sequence[Size]) -> str:
    size = len(words)
    content = f"dense<[{', '.join(map(str, words))}]> : tensor<{size}xi64>"
    type_ = f"!llvm.array<{size} x i64>"
    # A symbol of the object, because the runtime reads it to make calls one by one.
    return f"llvm.mlir.global constant @{words_of(_NAME)}({content}) : {type_}"


def _functions(names: Sequence[str]) -> str:
    type_ = f"!llvm.array<{len(names)} x ptr>"
    lines = [
        f"llvm.mlir.global private constant @{_NAME}_functions() : {type_} {{",
        f"  %f0 = llvm.mlir.poison : {type_}",
    ]
    for number, name in enumerate(names):
        lines += [
            f"  %a{number} = llvm.mlir.addressof @{name} : !llvm.ptr",
            f"  %f{number + 1} = llvm.insertvalue %a{number}, %f{number}[{number}] : {type_}",
        ]
    return "\n".join([*lines, f"  llvm.return %f{len(names)} : {type_}", "}"])


def _word(name: str, row: str, number: int, type_: str = "i64") -> str:
    """Return the lines that load a word of a row."""
    return (
        f"%at_{name} = llvm.getelementptr {row}[{number}] : (!llvm.ptr) -> !llvm.ptr, i64\n"
        f"  %{name} = llvm.load %at_{name} : !llvm.ptr -> {type_}"
    )


def _skip(name: str, row: str, words: int) -> str:
    return f"%{name} = llvm.getelementptr {row}[{words}] : (!llvm.ptr) -> !llvm.ptr, i64"


def _number(name: str, value: int) -> str:
    return f"%{name} = llvm.mlir.constant({value} : i64) : i64"


_ELEMENT = "(!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr"
_BYTE = "(!llvm.ptr, i64) -> !llvm.ptr, i8"


@dataclass(frozen=True)
class _Parts:
    """Hold the lines by which a program finds its tables, a base and the range of a phase.

    `inline` is the number of words of a phase in the row of its call.
    """

    tables: str
    start: str
    range: str
    inline: int


def _lines(*lines: str) -> str:
    return "\n  ".join(lines)


_CONSTANT_PARTS = _Parts(
    f"%words = llvm.mlir.addressof @{words_of(_NAME)} : !llvm.ptr",
    _lines(
        f"%at_start = llvm.getelementptr %bases[%base] : {_ELEMENT}",
        "%start = llvm.load %at_start : !llvm.ptr -> !llvm.ptr",
    ),
    _lines(_word("iterations", "%range", 0), _word("limit", "%range", 1)),
    2,
)

_JOB_PARTS = _Parts(
    _lines(
        _word("words", "%job", Job.WORDS, "!llvm.ptr"),
        _word("ranges", "%job", Job.RANGES, "!llvm.ptr"),
    ),
    _lines(
        '%is_record = llvm.icmp "slt" %base, %zero : i64',
        "%some_base = llvm.select %is_record, %zero, %base : i1, i64",
        f"%at_start = llvm.getelementptr %bases[%some_base] : {_ELEMENT}",
        "%other_start = llvm.load %at_start : !llvm.ptr -> !llvm.ptr",
        "%start = llvm.select %is_record, %words, %other_start : i1, !llvm.ptr",
    ),
    _lines(
        "%twice = llvm.add %chunks, %chunks : i64",
        "%here = llvm.getelementptr %ranges[%twice] : (!llvm.ptr, i64) -> !llvm.ptr, i64",
        _word("iterations", "%here", 0),
        _word("limit", "%here", 1),
    ),
    0,
)


def _program(calls: int, arity: int, symbolic: bool) -> str:
    """Return the function that reads the table of calls.

    The pointers of a call are in memory of a thread, the kernel first. Offsets have 64 bits. Where
    the job is observed, calls may be skipped, and the first thread notes when each is over. A job
    that names a row makes some calls from there on, and no others.
    """
    parts = _JOB_PARTS if symbolic else _CONSTANT_PARTS
    return f"""llvm.func @{_NAME}(%job: !llvm.ptr, %thread: i64, %run: i64) {{
  {_number("zero", 0)}
  {_number("one", 1)}
  {_number("every", calls)}
  {_number("size", arity + 1)}
  %table = llvm.alloca %size x !llvm.ptr : (i64) -> !llvm.ptr
  {_word("bases", "%job", Job.BASES, "!llvm.ptr")}
  {_word("others", "%job", Job.OWN, "!llvm.ptr")}
  {_word("bytes", "%job", Job.OWN_BYTES)}
  %before = llvm.sub %thread, %one : i64
  %skipped = llvm.mul %before, %bytes : i64
  %memory = llvm.getelementptr %others[%skipped] : {_BYTE}
  %other = llvm.icmp "ne" %thread, %zero : i64
  {parts.tables}
  {_word("named_count", "%job", Job.CALLS)}
  {_word("named_row", "%job", Job.FIRST)}
  %is_whole = llvm.icmp "eq" %named_count, %zero : i64
  %count = llvm.select %is_whole, %every, %named_count : i1, i64
  %named_words = llvm.inttoptr %named_row : i64 to !llvm.ptr
  %rows = llvm.select %is_whole, %words, %named_words : i1, !llvm.ptr
  %functions = llvm.mlir.addressof @{_NAME}_functions : !llvm.ptr
  {_word("watched", "%job", Job.OBSERVED)}
  %observing = llvm.icmp "ne" %watched, %zero : i64
  %observed = llvm.inttoptr %watched : i64 to !llvm.ptr
  %first_thread = llvm.icmp "eq" %thread, %zero : i64
  %timing = llvm.and %observing, %first_thread : i1
  %clock = llvm.mlir.constant({Observed.CLOCK_MONOTONIC} : i32) : i32
  {_number("stride", Observed.CALL_WORDS)}
  llvm.cond_br %timing, ^begin, ^call(%zero, %zero, %rows : i64, i64, !llvm.ptr)
^begin:
  %begun = llvm.call @{CLOCK}(%clock, %observed) : (i32, !llvm.ptr) -> i32
  llvm.br ^call(%zero, %zero, %rows : i64, i64, !llvm.ptr)
^call(%number: i64, %counter: i64, %row: !llvm.ptr):
  %left = llvm.icmp "slt" %number, %count : i64
  llvm.cond_br %left, ^kernel, ^end
^kernel:
  {_word("kernel", "%row", 0)}
  {_word("caller", "%row", 1)}
  {_word("arguments", "%row", 2)}
  {_word("phases", "%row", 3)}
  {_skip("first", "%row", 4)}
  {_skip("watches", "%observed", Observed.CALLS)}
  %watch_at = llvm.mul %number, %stride : i64
  %watch = llvm.getelementptr %watches[%watch_at] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  llvm.cond_br %observing, ^watch, ^bound
^watch:
  {_word("skips", "%watch", Observed.SKIPPED)}
  %made = llvm.icmp "eq" %skips, %zero : i64
  llvm.cond_br %made, ^bound, ^skip
^skip:
  {_number("argument_words", 3)}
  {_number("phase_words", parts.inline)}
  %of_arguments = llvm.mul %arguments, %argument_words : i64
  %of_phases = llvm.mul %phases, %phase_words : i64
  %of_call = llvm.add %of_arguments, %of_phases : i64
  %row_behind = llvm.getelementptr %first[%of_call] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %number_behind = llvm.add %number, %one : i64
  %counter_behind = llvm.add %counter, %phases : i64
  llvm.br ^call(%number_behind, %counter_behind, %row_behind : i64, i64, !llvm.ptr)
^bound:
  %at_function = llvm.getelementptr %functions[%kernel] : {_ELEMENT}
  %function = llvm.load %at_function : !llvm.ptr -> !llvm.ptr
  llvm.store %function, %table : !llvm.ptr, !llvm.ptr
  %at_calls = llvm.getelementptr %functions[%caller] : {_ELEMENT}
  %calls = llvm.load %at_calls : !llvm.ptr -> !llvm.ptr
  llvm.br ^argument(%one, %first : i64, !llvm.ptr)
^argument(%slot: i64, %place: !llvm.ptr):
  %more = llvm.icmp "sle" %slot, %arguments : i64
  llvm.cond_br %more, ^bind, ^phase(%zero, %counter, %place : i64, i64, !llvm.ptr)
^bind:
  {_word("base", "%place", 0)}
  {_word("offset", "%place", 1)}
  {_word("own", "%place", 2)}
  {parts.start}
  %shared = llvm.getelementptr %start[%offset] : {_BYTE}
  %mine = llvm.getelementptr %memory[%own] : {_BYTE}
  %private = llvm.icmp "sge" %own, %zero : i64
  %apart = llvm.and %private, %other : i1
  %pointer = llvm.select %apart, %mine, %shared : i1, !llvm.ptr
  %at_slot = llvm.getelementptr %table[%slot] : {_ELEMENT}
  llvm.store %pointer, %at_slot : !llvm.ptr, !llvm.ptr
  %next_slot = llvm.add %slot, %one : i64
  {_skip("next_place", "%place", 3)}
  llvm.br ^argument(%next_slot, %next_place : i64, !llvm.ptr)
^phase(%phase: i64, %chunks: i64, %range: !llvm.ptr):
  %work = llvm.icmp "slt" %phase, %phases : i64
  %next_call = llvm.add %number, %one : i64
  llvm.cond_br %work, ^share, ^over
^over:
  llvm.cond_br %timing, ^note, ^call(%next_call, %chunks, %range : i64, i64, !llvm.ptr)
^note:
  {_skip("end", "%watch", Observed.END)}
  %noted = llvm.call @{CLOCK}(%clock, %end) : (i32, !llvm.ptr) -> i32
  llvm.br ^call(%next_call, %chunks, %range : i64, i64, !llvm.ptr)
^share:
  {parts.range}
  llvm.call @share(%job, %run, %chunks, %iterations, %limit, %calls, %table, %phase)
      : (!llvm.ptr, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, i64) -> ()
  %next_phase = llvm.add %phase, %one : i64
  %next_chunks = llvm.add %chunks, %one : i64
  {_skip("next_range", "%range", parts.inline)}
  llvm.br ^phase(%next_phase, %next_chunks, %next_range : i64, i64, !llvm.ptr)
^end:
  llvm.return
}}
"""
