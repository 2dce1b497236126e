"""Print a program: for each call of a kernel a function, and one that shares their phases.

`share` and `struct job` are in the file that the program becomes a part of. A job has the addresses
of the arena, of the constants, and of inputs and outputs; and numbers, where sizes are those of a
run: those of a program begin at the constant `SYMBOL_sizes`. `first` is the number of its first
phase among those of all programs.
"""

import hashlib
from collections.abc import Sequence

from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....runtime.cpu.calls_one_by_one import PHASE
from ...program.program import Place
from ..emit.call_table import CallTable, KernelCall
from ..emit.segment import Segment

_NAME = "program"


def print_program(calls: Sequence[KernelCall], grain: int) -> Segment:
    """Return the program that makes calls in order, named by its content, with all its phases.

    Where sizes depend on symbols, its words are the numbers that it reads, and its ranges follow.
    """
    table = CallTable(calls, grain, _NAME)
    numbers = _Numbers()
    known: dict[str, str] = {}
    functions: list[str] = []
    made: list[str] = []
    for call in calls:
        body = _body(call, numbers)
        if body not in known:
            known[body] = f"@call_{len(known)}"
            functions.append(_function(known[body], call, body))
        for phase in range(len(call.phases)):
            made.append(f"{known[body]}, {phase}")
    ranges = [_range(size, len(numbers.sizes) + i) for i, size in enumerate(table.ranges)]
    lines = (
        f"  share(job, thread, first + {number}, {', '.join(ranges[at : at + PHASE])}, {call});"
        for number, (at, call) in enumerate(zip(range(0, len(ranges), PHASE), made, strict=True))
    )
    head = "static void @(struct job *job, int thread, int first) {"
    unused = "  (void)job, (void)thread, (void)first;"
    text = "\n".join([*functions, head, *(lines if made else [unused]), "}"])
    words, listed = (tuple(numbers.sizes), table.ranges) if table.symbolic else ((), ())
    content = f"{text}\n{words}\n{listed}" if table.symbolic else text
    symbol = "s_" + hashlib.sha256(content.encode()).hexdigest()[:16]
    for each in ("call_", "sizes"):
        text = text.replace(f"@{each}", f"{symbol}_{each}")
    return Segment(symbol, text.replace("@(", f"{symbol}("), len(made), words, listed)


class _Numbers:
    """Number the sizes that a program reads: equal ones are there once."""

    def __init__(self) -> None:
        self.sizes: list[Size] = []
        self._places: dict[tuple[Size, ...], int] = {}

    def place(self, *sizes: Size) -> int:
        """Return where the first of some sizes is, which follow one another."""
        if sizes not in self._places:
            self._places[sizes] = len(self.sizes)
            self.sizes += sizes
        return self._places[sizes]

    def text(self, size: Size) -> str:
        return _read(self.place(size)) if is_symbolic(size) else str(size)


def _read(place: int) -> str:
    return f"job->size[@sizes + {place}]"


def _range(size: Size, place: int) -> str:
    return _read(place) if is_symbolic(size) else str(size)


def _function(name: str, call: KernelCall, body: str) -> str:
    unused = [] if call.arguments or call.record else ["job"]
    unused += [] if any(place.own is not None for place in call.arguments) else ["own"]
    line = f"  {', '.join(f'(void){each}' for each in unused)};\n" if unused else ""
    return (
        f"static void {name}(const struct job *job, char *own, i64 phase, i64 begin, i64 end) {{\n"
        f"{line}{body}\n}}"
    )


def _body(call: KernelCall, numbers: _Numbers) -> str:
    places = [_place(place, numbers) for place in call.arguments]
    if call.record:
        places.append(f"(void *)(job->size + @sizes + {numbers.place(*call.record)})")
    return f"  {call.symbol}(phase, begin, end{''.join(f',{_BREAK}{each}' for each in places)});"


_BREAK = "\n      "


def _place(place: Place, numbers: _Numbers) -> str:
    """Return the address of a place, which each thread but the first may have for itself."""
    shared = f"job->base[{place.base}] + {numbers.text(place.offset)}"
    text = shared if place.own is None else f"own ? own + {numbers.text(place.own)} : {shared}"
    return f"(void *)({text})"
