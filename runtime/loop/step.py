"""Steps that do a body again and again."""

import ctypes
from collections.abc import Callable, Mapping, Sequence
from ctypes import memmove
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

from ..contents import ABSENT, Contents
from ..errors import PackageError
from ..loader import Loader
from ..memory import Bases, allocate
from ..nested import (
    Body,
    Move,
    Spans,
    bind_body,
    check_elements,
    check_moves,
    check_sizes,
    checked_buffer,
    copy_spans,
    locate,
    written_buffer,
)
from ..sizes.size_expressions import Size
from ..state import SessionState
from ..step import Bind, Run, Step

UNLIMITED = (1 << 63) - 1

UNKNOWN = -1
"""The number of iterations of a loop that decides it at run time."""


@dataclass(frozen=True, kw_only=True)
class LoopStep(Step):
    """Do a body as often as `iterations` says, or else the trip count and the condition.

    These are the first two operands; either may be absent. `first` is moved before the first
    iteration. In each one, its number is written to `number`, an element along the first axis of
    each source of `elements` is moved to its target, the body runs, what `outputs` has is moved to
    elements of its targets, and then the moves of the body are done all at once. `next` is the
    condition of the next iteration.
    """

    kind: ClassVar[str] = "loop"
    lists_buffers: ClassVar[bool] = False

    iterations: Size
    number: int
    next: int
    body: Body
    first: tuple[Move, ...] = ()
    elements: tuple[Move, ...] = ()
    outputs: tuple[Move, ...] = ()

    def inner(self) -> Mapping[str, tuple[Step, ...]]:
        return {"body.steps": self.body.steps}

    def check(self, contents: Contents, where: str) -> None:
        super().check(contents, where)
        if self.iterations < UNKNOWN:
            raise PackageError(
                f"'{where}.iterations' is {self.iterations}, must be {UNKNOWN} or more"
            )
        if len(self.operands) < 2:
            raise PackageError(f"'{where}' is a loop, must have a trip count and a condition")
        limit, going = self.operands[:2]
        if (going == ABSENT) != (self.next == ABSENT):
            raise PackageError(f"'{where}' has one of two conditions, must have both or none")
        if self.iterations == UNKNOWN and limit == going == ABSENT:
            raise PackageError(f"'{where}' never ends")
        written_buffer(self.number, contents, f"{where}.number")
        for name, index, size in (
            ("operands[0]", limit, 8),
            ("operands[1]", going, 1),
            ("number", self.number, 8),
            ("next", self.next, 1),
        ):
            if index != ABSENT:
                _check_size(contents, index, size, f"{where}.{name}")
        check_moves(self.first, contents, f"{where}.first")
        check_moves(self.body.moves, contents, f"{where}.body.moves")
        sized = contents, self.iterations
        check_elements(self.elements, *sized, f"{where}.elements", whole="source")
        check_elements(self.outputs, *sized, f"{where}.outputs", whole="target")
        if self.body.fault:
            raise PackageError(f"'{where}' has a body with a fault, must have one that runs")

    def load(self, loader: Loader) -> Bind:
        binds = [step.load(loader) for step in self.body.steps]
        contents = loader.contents

        def bind(state: SessionState) -> Run:
            check_sizes(state.bases, (*self.first, *self.body.moves))
            count = state.values(self.iterations)
            check_sizes(state.bases, self.elements, sources=count)
            check_sizes(state.bases, self.outputs, targets=count)
            bound = bind_body(contents, self.body.steps, binds, state)
            return partial(_run, count, bound, _Memory.of(self, contents, state.bases))

        return bind

    def operation(self, contents: Contents) -> str:
        times = "" if self.iterations == UNKNOWN else f" {self.iterations} times"
        return f"{len(self.body.steps)} steps{times}"

    @classmethod
    def summary(cls, steps: Sequence[Step]) -> str:
        return f"{len(steps)} loop{'s' * (len(steps) != 1)}"


class _Memory(NamedTuple):
    """Record where a loop finds, in each run, what decides it and what it copies."""

    limit: Callable[[], int] | None
    going: Callable[[], int] | None
    again: Callable[[], int] | None
    number: Callable[[], int]
    first: Callable[[], Spans]
    elements: Callable[[], Spans]
    outputs: Callable[[], Spans]
    ends: Callable[[], Spans]

    @staticmethod
    def of(step: LoopStep, contents: Contents, bases: Bases) -> "_Memory":
        limit, going, again = (
            None if index == ABSENT else bases.locator(index)
            for index in (*step.operands[:2], step.next)
        )
        return _Memory(
            limit,
            going,
            again,
            bases.locator(step.number),
            locate(bases, step.first),
            locate(bases, step.elements),
            locate(bases, step.outputs),
            _ends(step.body.moves, contents, bases),
        )


def _run(limit: int, bound: Sequence[Run], memory: _Memory) -> None:
    if limit == UNKNOWN:
        at = memory.limit
        limit = UNLIMITED if at is None else ctypes.c_int64.from_address(at()).value
    number = ctypes.c_int64.from_address(memory.number())
    going, again = _condition(memory.going), _condition(memory.again)
    elements, outputs, ends = memory.elements(), memory.outputs(), memory.ends()
    copy_spans(memory.first())
    iteration = 0
    while iteration < limit and (going is None or going.value):
        number.value = iteration
        for target, source, size in elements:
            memmove(target, source + iteration * size, size)
        for run in bound:
            run()
        for target, source, size in outputs:
            memmove(target + iteration * size, source, size)
        for target, source, size in ends:
            memmove(target, source, size)
        going = again
        iteration += 1


def _condition(at: Callable[[], int] | None) -> ctypes.c_ubyte | None:
    return None if at is None else ctypes.c_ubyte.from_address(at())


def _ends(moves: Sequence[Move], contents: Contents, bases: Bases) -> Callable[[], Spans]:
    """Return what says what is copied at the end of an iteration, all at once.

    What one move reads and another one writes is saved first.
    """
    crossing = _crossing(moves, contents)
    if not crossing:
        return locate(bases, moves)
    sizes = [bases.size_bytes(move.source) for move in crossing]
    arrays = [allocate(size, "what a loop carries") for size in sizes]
    located = [(bases.locator(move.source), bases.locator(move.target)) for move in crossing]
    others = locate(bases, [move for move in moves if move not in crossing])

    def spans() -> Spans:
        pairs = list(zip(arrays, located, strict=True))
        saved = [(array.ctypes.data, source(), array.size) for array, (source, _) in pairs]
        restored = [(target(), array.ctypes.data, array.size) for array, (_, target) in pairs]
        return [*saved, *others(), *restored]

    return spans


def _check_size(contents: Contents, index: int, size: int, where: str) -> None:
    found = checked_buffer(index, contents, where).size_bytes
    if found != size:
        raise PackageError(f"'{where}' has {found} bytes, must have {size}")


def _crossing(moves: Sequence[Move], contents: Contents) -> list[Move]:
    """Return the moves whose source is where another move puts something."""
    targets = {_place(contents, move.target): move for move in moves}
    found = ((move, targets.get(_place(contents, move.source))) for move in moves)
    return [move for move, other in found if other not in (None, move)]


def _place(contents: Contents, index: int) -> tuple[int, int]:
    buffer = contents.buffers[index]
    return buffer.base, buffer.offset
