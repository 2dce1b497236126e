"""The lines of a program in MLIR's LLVM dialect that read the table of calls (`call_table.py`)."""

from collections.abc import Iterator
from dataclasses import dataclass

from ....runtime.cpu.calls_one_by_one import PHASE, words_of
from ....runtime.cpu.thread_pool import Job
from .llvm_lines import load_word, number

NAME = "segment"
"""The symbol of a program while its text is made; names of all that belongs to it begin so."""


ELEMENT = "(!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr"
BYTE = "(!llvm.ptr, i64) -> !llvm.ptr, i8"


@dataclass(frozen=True)
class Parts:
    """Hold the lines by which a program finds its tables, a base and the range of a phase.

    `inline` is the number of words of a phase in the row of its call.
    """

    tables: str
    start: str
    range: str
    inline: int


def _lines(*lines: str) -> str:
    return "\n  ".join(lines)


def _range(row: str) -> Iterator[str]:
    names = ("iterations", "limit", "steps")
    return (load_word(name, row, at) for at, name in enumerate(names))


CONSTANT_PARTS = Parts(
    f"%words = llvm.mlir.addressof @{words_of(NAME)} : !llvm.ptr",
    _lines(
        f"%at_start = llvm.getelementptr %bases[%base] : {ELEMENT}",
        "%start = llvm.load %at_start : !llvm.ptr -> !llvm.ptr",
    ),
    _lines(*_range("%range")),
    PHASE,
)

JOB_PARTS = Parts(
    _lines(
        load_word("words", "%job", Job.WORDS, "!llvm.ptr"),
        load_word("ranges", "%job", Job.RANGES, "!llvm.ptr"),
    ),
    _lines(
        '%is_record = llvm.icmp "slt" %base, %zero : i64',
        "%some_base = llvm.select %is_record, %zero, %base : i1, i64",
        f"%at_start = llvm.getelementptr %bases[%some_base] : {ELEMENT}",
        "%other_start = llvm.load %at_start : !llvm.ptr -> !llvm.ptr",
        "%start = llvm.select %is_record, %words, %other_start : i1, !llvm.ptr",
    ),
    _lines(
        number("range_words", PHASE),
        "%words_before = llvm.mul %chunks, %range_words : i64",
        "%here = llvm.getelementptr %ranges[%words_before] : (!llvm.ptr, i64) -> !llvm.ptr, i64",
        *_range("%here"),
    ),
    0,
)
