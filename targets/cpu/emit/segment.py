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
from .llvm_lines import load_word, number, skip_words
from .row_functions import (
    CONCURRENT,
    COUNTER,
    JOB,
    ROW,
    THREAD,
    WORDS,
    bind_function,
    bind_row,
    concurrent_function,
    next_phase,
    read_row,
)
from .share_phases import GRAIN
from .table_text import CONSTANT_PARTS, JOB_PARTS, NAME, Parts


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
    table = CallTable(calls, grain, NAME)
    parts = JOB_PARTS if table.symbolic else CONSTANT_PARTS
    arity = max(table.arities, default=0)
    text = "\n".join(
        [
            _DECLARATIONS,
            *(f"llvm.func @{kernel}()" for kernel in table.kernels),
            *map(_caller, table.arities),
            *([] if table.symbolic else [_words(table.rows)]),
            _functions(table.functions),
            _concurrent(table.concurrent),
            bind_function(parts),
            concurrent_function(arity, parts),
            _program(len(calls), arity, parts),
        ]
    )
    words, ranges = (table.words, table.ranges) if table.symbolic else ((), ())
    content = f"{text}\n{words}\n{ranges}" if table.symbolic else text
    symbol = symbol or "s_" + hashlib.sha256(content.encode()).hexdigest()[:16]
    # No two objects define the same function.
    return Segment(symbol, text.replace(f"@{NAME}", f"@{symbol}"), table.phases, words, ranges)


CLOCK = "clock_gettime"
"""The function of the system that an observed run calls after each kernel."""

_DECLARATIONS = f"""
llvm.func @share(!llvm.ptr, i64, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, i64)
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
        f"llvm.func @{caller_of(NAME, arity)}"
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
    return f"llvm.mlir.global constant @{words_of(NAME)}({content}) : {type_}"


def _functions(names: Sequence[str]) -> str:
    type_ = f"!llvm.array<{len(names)} x ptr>"
    lines = [
        f"llvm.mlir.global private constant @{NAME}_functions() : {type_} {{",
        f"  %f0 = llvm.mlir.poison : {type_}",
    ]
    for at, name in enumerate(names):
        lines += [
            f"  %a{at} = llvm.mlir.addressof @{name} : !llvm.ptr",
            f"  %f{at + 1} = llvm.insertvalue %a{at}, %f{at}[{at}] : {type_}",
        ]
    return "\n".join([*lines, f"  llvm.return %f{len(names)} : {type_}", "}"])


def _concurrent(counts: Sequence[int]) -> str:
    """Return the table that says of each call how many, from it on, are made at the same time."""
    content = f"dense<{list(counts)}> : tensor<{len(counts)}xi64>"
    type_ = f"!llvm.array<{len(counts)} x i64>"
    return f"llvm.mlir.global private constant @{NAME}_counts({content}) : {type_}"


def _program(calls: int, arity: int, parts: Parts) -> str:
    """Return the function that reads the table of calls.

    The pointers of a call are in memory of a thread, the kernel first. Offsets have 64 bits. Where
    the job is observed, calls may be skipped, and the first thread notes when each is over. A job
    that names a row makes some calls from there on, and no others. Only all calls of a job that is
    not observed may be concurrent.
    """
    return f"""llvm.func @{NAME}(%job: !llvm.ptr, %thread: i64, %run: i64) {{
  {number("zero", 0)}
  {number("one", 1)}
  {number("every", calls)}
  {number("size", arity + 1)}
  {number("context_words", WORDS)}
  %table = llvm.alloca %size x !llvm.ptr : (i64) -> !llvm.ptr
  %context = llvm.alloca %context_words x i64 : (i64) -> !llvm.ptr
  {skip_words("context_job", "%context", JOB)}
  {skip_words("context_thread", "%context", THREAD)}
  {skip_words("context_row", "%context", ROW)}
  {skip_words("context_counter", "%context", COUNTER)}
  llvm.store %job, %context_job : !llvm.ptr, !llvm.ptr
  llvm.store %thread, %context_thread : i64, !llvm.ptr
  {parts.tables}
  {load_word("named_count", "%job", Job.CALLS)}
  {load_word("named_row", "%job", Job.FIRST)}
  %is_whole = llvm.icmp "eq" %named_count, %zero : i64
  %count = llvm.select %is_whole, %every, %named_count : i1, i64
  %named_words = llvm.inttoptr %named_row : i64 to !llvm.ptr
  %rows = llvm.select %is_whole, %words, %named_words : i1, !llvm.ptr
  %functions = llvm.mlir.addressof @{NAME}_functions : !llvm.ptr
  %counts = llvm.mlir.addressof @{NAME}_counts : !llvm.ptr
  {load_word("watched", "%job", Job.OBSERVED)}
  %observing = llvm.icmp "ne" %watched, %zero : i64
  %observed = llvm.inttoptr %watched : i64 to !llvm.ptr
  %first_thread = llvm.icmp "eq" %thread, %zero : i64
  %timing = llvm.and %observing, %first_thread : i1
  %clock = llvm.mlir.constant({Observed.CLOCK_MONOTONIC} : i32) : i32
  {number("stride", Observed.CALL_WORDS)}
  llvm.cond_br %timing, ^begin, ^call(%zero, %zero, %rows, %zero : i64, i64, !llvm.ptr, i64)
^begin:
  %begun = llvm.call @{CLOCK}(%clock, %observed) : (i32, !llvm.ptr) -> i32
  llvm.br ^call(%zero, %zero, %rows, %zero : i64, i64, !llvm.ptr, i64)
^call(%number: i64, %counter: i64, %row: !llvm.ptr, %made: i64):
  %left = llvm.icmp "slt" %number, %count : i64
  llvm.cond_br %left, ^kernel, ^end
^kernel:
  {read_row(parts)}
  {skip_words("watches", "%observed", Observed.CALLS)}
  %watch_at = llvm.mul %number, %stride : i64
  %watch = llvm.getelementptr %watches[%watch_at] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %is_made = llvm.icmp "ne" %made, %zero : i64
  %others_made = llvm.sub %made, %one : i64
  llvm.cond_br %is_made, ^skip(%others_made : i64), ^look
^look:
  llvm.cond_br %observing, ^watch, ^whole
^watch:
  {load_word("skips", "%watch", Observed.SKIPPED)}
  %wanted = llvm.icmp "eq" %skips, %zero : i64
  llvm.cond_br %wanted, ^bound, ^skip(%zero : i64)
^whole:
  llvm.cond_br %is_whole, ^count, ^bound
^count:
  %at_count = llvm.getelementptr %counts[%number] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %concurrent = llvm.load %at_count : !llvm.ptr -> i64
  %several = llvm.icmp "sgt" %concurrent, %one : i64
  llvm.cond_br %several, ^concurrent, ^bound
^concurrent:
  llvm.store %row, %context_row : !llvm.ptr, !llvm.ptr
  llvm.store %counter, %context_counter : i64, !llvm.ptr
  %make = llvm.mlir.addressof @{CONCURRENT} : !llvm.ptr
  llvm.call @share(%job, %thread, %run, %counter, %concurrent, %concurrent, %one, %make, %context,
                   %zero)
      : (!llvm.ptr, i64, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, i64) -> ()
  %all_others = llvm.sub %concurrent, %one : i64
  llvm.br ^skip(%all_others : i64)
^skip(%still_made: i64):
  %number_behind = llvm.add %number, %one : i64
  %counter_behind = llvm.add %counter, %phases : i64
  llvm.br ^call(%number_behind, %counter_behind, %row_behind, %still_made
      : i64, i64, !llvm.ptr, i64)
^bound:
  {bind_row()}
^phase(%phase: i64, %chunks: i64, %range: !llvm.ptr):
  %work = llvm.icmp "slt" %phase, %phases : i64
  %next_call = llvm.add %number, %one : i64
  llvm.cond_br %work, ^share, ^over
^over:
  llvm.cond_br %timing, ^note,
      ^call(%next_call, %chunks, %range, %zero : i64, i64, !llvm.ptr, i64)
^note:
  {skip_words("end", "%watch", Observed.END)}
  %noted = llvm.call @{CLOCK}(%clock, %end) : (i32, !llvm.ptr) -> i32
  llvm.br ^call(%next_call, %chunks, %range, %zero : i64, i64, !llvm.ptr, i64)
^share:
  {parts.range}
  llvm.call @share(%job, %thread, %run, %chunks, %iterations, %limit, %steps, %calls, %table,
                   %phase)
      : (!llvm.ptr, i64, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, i64) -> ()
  {next_phase(parts)}
^end:
  llvm.return
}}
"""
