"""Steps that do a body again and again."""

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

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
    spans_of,
    written_buffer,
)
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

    iterations: int
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
            check_sizes(state.bases, self.elements, sources=self.iterations)
            check_sizes(state.bases, self.outputs, targets=self.iterations)
            bound = bind_body(contents, self.body.steps, binds, state)
            crossing = _crossing(self.body.moves, contents)
            sizes = [state.bases.size_bytes(move.source) for move in crossing]
            staging = [allocate(size, "what a loop carries") for size in sizes]
            return lambda: self._run(state.bases, bound, dict(zip(crossing, staging, strict=True)))

        return bind

    def _run(
        self, bases: Bases, bound: Sequence[Run], staging: Mapping[Move, NDArray[np.uint8]]
    ) -> None:
        number = ctypes.c_int64.from_address(bases.place(self.number).address)
        elements, outputs = spans_of(bases, self.elements), spans_of(bases, self.outputs)
        ends = self._ends(bases, staging)
        limit, going = self._limit(bases), self._condition(bases, self.operands[1])
        again = self._condition(bases, self.next)
        copy_spans(spans_of(bases, self.first))
        iteration = 0
        while iteration < limit and (going is None or going.value):
            number.value = iteration
            for target, source, size in elements:
                ctypes.memmove(target, source + iteration * size, size)
            for run in bound:
                run()
            for target, source, size in outputs:
                ctypes.memmove(target + iteration * size, source, size)
            copy_spans(ends)
            going = again
            iteration += 1

    def _ends(self, bases: Bases, staging: Mapping[Move, NDArray[np.uint8]]) -> Spans:
        """Return what is copied at the end of each iteration; first what others overwrite."""
        saved: Spans = []
        restored: Spans = []
        for move, array in staging.items():
            saved.append((array.ctypes.data, bases.place(move.source).address, array.size))
            restored.append((bases.place(move.target).address, array.ctypes.data, array.size))
        others = [move for move in self.body.moves if move not in staging]
        return [*saved, *spans_of(bases, others), *restored]

    def _limit(self, bases: Bases) -> int:
        if self.iterations != UNKNOWN:
            return self.iterations
        if self.operands[0] == ABSENT:
            return UNLIMITED
        return ctypes.c_int64.from_address(bases.place(self.operands[0]).address).value

    @staticmethod
    def _condition(bases: Bases, index: int) -> ctypes.c_ubyte | None:
        if index == ABSENT:
            return None
        return ctypes.c_ubyte.from_address(bases.place(index).address)

    def operation(self, contents: Contents) -> str:
        times = "" if self.iterations == UNKNOWN else f" {self.iterations} times"
        return f"{len(self.body.steps)} steps{times}"

    @classmethod
    def summary(cls, steps: Sequence[Step]) -> str:
        return f"{len(steps)} loop{'s' * (len(steps) != 1)}"


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
