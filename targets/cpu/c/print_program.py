"""Print a program: for each call of a kernel a function, and one that shares their phases.

`share` and `struct job` are in the file that the program becomes a part of, as is `base`: the
addresses of the arena, of the constants, and of inputs and outputs. `first` is the number of the
first phase among those of all programs.
"""

import hashlib
from collections.abc import Sequence

from ....dialects.core.errors import CompileError, Diagnostic
from ....dialects.core.sizes.dim import symbols_of
from ...program.program import Place
from ..emit.call_table import CallTable, KernelCall
from ..emit.segment import Segment

_NAME = "program"

_CHANGING = "sizes {} change from run to run, which those of code in C do not"
_ADVICE = (
    "give each size of an input a number: --shape N=1",
    "cut the model (--outputs) before nodes that find sizes as they run, such as NonZero",
)


def print_program(calls: Sequence[KernelCall], grain: int) -> Segment:
    """Return the program that makes calls in order, named by its content, with all its phases.

    Raises CompileError for calls whose sizes change from run to run.
    """
    table = CallTable(calls, grain, _NAME)
    if table.symbolic:
        sizes = (*table.words, *table.ranges)
        names = sorted({name for size in sizes for name in symbols_of(size)})
        raise CompileError([Diagnostic("", _CHANGING.format(", ".join(names)), _ADVICE)])
    known: dict[str, str] = {}
    functions: list[str] = []
    steps: list[str] = []
    ranges = iter(zip(table.ranges[::2], table.ranges[1::2], strict=True))
    for call in calls:
        body = _body(call)
        if body not in known:
            known[body] = f"@call_{len(known)}"
            functions.append(_function(known[body], call, body))
        for phase in range(len(call.phases)):
            iterations, limit = next(ranges)
            number = len(steps)
            given = f"first + {number}, {iterations}, {limit}, {known[body]}, {phase}"
            steps.append(f"  share(job, thread, run, {given});")
    head = "static void @(struct job *job, int thread, i64 run, int first) {"
    unused = "  (void)job, (void)thread, (void)run, (void)first;"
    text = "\n".join([*functions, head, *(steps or [unused]), "}"])
    symbol = "s_" + hashlib.sha256(text.encode()).hexdigest()[:16]
    text = text.replace("@call_", f"{symbol}_call_").replace("@(", f"{symbol}(")
    return Segment(symbol, text, len(steps))


def _function(name: str, call: KernelCall, body: str) -> str:
    unused = "" if any(place.own is not None for place in call.arguments) else "  (void)own;\n"
    return (
        f"static void {name}(char *const *base, char *own, i64 phase, i64 begin, i64 end) {{\n"
        f"{unused}{body}\n}}"
    )


def _body(call: KernelCall) -> str:
    places = "".join(f",\n      {_place(place)}" for place in call.arguments)
    return f"  {call.symbol}(phase, begin, end{places});"


def _place(place: Place) -> str:
    """Return the address of a place, which each thread but the first may have for itself."""
    shared = f"base[{place.base}] + {place.offset}"
    text = shared if place.own is None else f"own ? own + {place.own} : {shared}"
    return f"(void *)({text})"
