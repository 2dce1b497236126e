"""The table of the calls of a segment, in words of 64 bits.

Each call is a row: the number of the kernel and of its caller among the functions, the counts of
arguments and of phases, then of each argument its base, its offset and the offset in the memory of
a thread (-1 without), of each phase its iterations, the most chunks that it has, and its steps.

Where sizes depend on symbols, iterations and chunks are in a table of their own, the chunks as the
work is worth them: the runtime limits them by the iterations. The rows are then followed by the
records of kernels: an argument whose base is `RECORD` is at an offset in this table.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....dialects.core.sizes.dim import highest, lowest
from ....runtime.cpu.calls_one_by_one import ARGUMENT, HEADER, PHASE
from ...program.program import Place
from ..kernels.kernel_module import Phase

RECORD = -1
"""The base of a record: the table of words itself."""


@dataclass(frozen=True)
class KernelCall:
    """Call a kernel with pointers to these places, and one to its record where it has one.

    It is the first of `concurrent` calls that may be made at the same time, each by one thread.
    """

    symbol: str
    arguments: tuple[Place, ...]
    phases: tuple[Phase, ...]
    record: tuple[Size, ...] = ()
    concurrent: int = 1


class CallTable:
    """Number the functions of a program, and list the words of its calls.

    `name` is the begin of the names of the functions that call kernels.
    """

    def __init__(self, calls: Sequence[KernelCall], grain: int, name: str) -> None:
        self._name = name
        self.symbolic = any(map(_is_symbolic, calls))
        self.kernels = sorted({call.symbol for call in calls})
        self.concurrent = [call.concurrent for call in calls]
        self.arities = sorted({_arity(call) for call in calls})
        self.functions = [*self.kernels, *(caller_of(name, arity) for arity in self.arities)]
        self.ranges: tuple[Size, ...] = tuple(
            word
            for call in calls
            for phase in call.phases
            for word in (phase.iterations, _most_chunks(phase, grain), phase.steps)
        )
        self._records: dict[tuple[Size, ...], int] = {}
        self._end = sum(HEADER + ARGUMENT * _arity(call) for call in calls)
        self._numbers = {name: number for number, name in enumerate(self.functions)}
        self.rows = self._rows(calls)

    @property
    def words(self) -> tuple[Size, ...]:
        """Return the rows and the records behind them."""
        return (*self.rows, *(size for record in self._records for size in record))

    @property
    def phases(self) -> int:
        """Return the number of phases; 0 where two threads never have work at the same time."""
        limits = (*self.ranges[1::PHASE], *self.concurrent)
        alone = not any(is_symbolic(limit) or limit > 1 for limit in limits)
        return 0 if alone else len(self.ranges) // PHASE

    def _rows(self, calls: Sequence[KernelCall]) -> list[Size]:
        rows: list[Size] = []
        first = 0
        for call in calls:
            arity = _arity(call)
            caller = self._numbers[caller_of(self._name, arity)]
            rows += [self._numbers[call.symbol], caller, arity, len(call.phases)]
            for place in call.arguments:
                rows += [place.base, place.offset, -1 if place.own is None else place.own]
            if call.record:
                rows += [RECORD, 8 * self._place(call.record), -1]
            if not self.symbolic:
                last = first + PHASE * len(call.phases)
                rows += self.ranges[first:last]
                first = last
        return rows

    def _place(self, record: tuple[Size, ...]) -> int:
        """Return the position of a record in the table; equal ones are there once."""
        if record not in self._records:
            self._records[record] = self._end
            self._end += len(record)
        return self._records[record]


def _is_symbolic(call: KernelCall) -> bool:
    """Return whether anything of a call depends on symbols."""
    sizes = [size for place in call.arguments for size in (place.offset, place.own)]
    sizes += [size for phase in call.phases for size in phase]
    return bool(call.record) or any(size is not None and is_symbolic(size) for size in sizes)


def _arity(call: KernelCall) -> int:
    return len(call.arguments) + bool(call.record)


def _most_chunks(phase: Phase, grain: int) -> Size:
    chunks = phase.work // grain
    limited = highest(1, lowest(phase.iterations, chunks))
    return chunks if is_symbolic(limited) else limited


def caller_of(name: str, arity: int) -> str:
    """Return the name of the function that calls kernels with some number of pointers."""
    return f"{name}_call_{arity}"
