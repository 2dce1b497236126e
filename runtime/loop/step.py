"""Steps that do a body again and again."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from ctypes import memmove
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, cast

from ..binding import BodyRun, ReboundBody, body_run, finds_sizes
from ..contents import ABSENT, Contents
from ..errors import PackageError
from ..kinds import LEFT_OUT
from ..loader import Loader
from ..memory import Bases
from ..nested import (
    Body,
    Move,
    check_elements,
    check_moves,
    check_ranks,
    check_sizes,
    checked_buffer,
    copy_spans,
    locate,
    written_buffer,
)
from ..sizes.size_expressions import Size
from ..state import SessionState
from ..step import AFTER, BEFORE, END, START, Bind, FoundSize, Run, Step, Store, Use
from .changing import Carried, CarriedMemory, Changing
from .gathered import Gathered, store_parts
from .memory import UNKNOWN, EndMemory, LoopMemory, moves_at_once


@dataclass(frozen=True, kw_only=True)
class LoopStep(Step):
    """Do a body as often as `iterations` says, or else the trip count and the condition.

    These are the first two operands; either may be absent. `first` is moved before the first
    iteration. In each one, its number is written to `number`, an element along the first axis of
    each source of `elements` is moved to its target, the body runs, what `outputs` has is moved to
    elements of its targets, and then the moves of the body are done all at once. `next` is the
    condition of the next iteration.

    Each iteration finds `carried_sizes` in the shapes of what is `carried` with sizes that change;
    the `result` of such a size is a number of these. What `gathered` has is put out as often as the
    body runs, which nobody knows: it is copied to its targets at the end. The last of these,
    `joined` in number, are joined along their first axis.
    """

    kind: ClassVar[str] = "loop"
    lists_buffers: ClassVar[bool] = False
    finds_sizes: ClassVar[bool] = True

    iterations: Size
    number: int
    next: int
    body: Body
    first: tuple[Move, ...] = ()
    elements: tuple[Move, ...] = ()
    outputs: tuple[Move, ...] = ()
    carried: tuple[Carried, ...] = field(default=(), metadata=LEFT_OUT)
    carried_sizes: tuple[FoundSize, ...] = field(default=(), metadata=LEFT_OUT)
    gathered: tuple[Move, ...] = field(default=(), metadata=LEFT_OUT)
    joined: int = field(default=0, metadata=LEFT_OUT)

    @property
    def finds_inside(self) -> tuple[FoundSize, ...]:
        return self.carried_sizes

    @property
    def taken(self) -> tuple[int, ...]:
        return tuple(each.argument for each in self.carried)

    def uses(self) -> Iterator[Use]:
        for move in (*self.first, *self.elements):
            yield Use(move.source, BEFORE)
            yield Use(move.target, BEFORE)
        yield Use(self.number, BEFORE)
        if self.next != ABSENT:
            yield Use(self.next, END, "body.steps")
        for move in (*self.outputs, *self.body.moves):
            yield Use(move.source, END, "body.steps")
            yield Use(move.target, BEFORE)
        for each in self.carried:
            yield Use(each.initial, BEFORE)
            yield Use(each.argument, START, "body.steps")
            yield Use(each.next, END, "body.steps")
            yield Use(each.result, AFTER)
        for move in self.gathered:
            yield Use(move.source, END, "body.steps")
            yield Use(move.target, AFTER)

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
        self._check_changing(contents, where)
        if self.body.fault:
            raise PackageError(f"'{where}' has a body with a fault, must have one that runs")

    def _check_changing(self, contents: Contents, where: str) -> None:
        """Check what has sizes that change: how large it is, a run checks."""
        if self.carried and not self.carried_sizes:
            raise PackageError(f"'{where}' carries what changes, but its body finds no sizes")
        for i, each in enumerate(self.carried):
            at = f"{where}.carried[{i}]"
            checked_buffer(each.initial, contents, f"{at}.initial")
            checked_buffer(each.next, contents, f"{at}.next")
            written_buffer(each.argument, contents, f"{at}.argument")
            written_buffer(each.result, contents, f"{at}.result")
            buffers = (each.initial, each.argument, each.next, each.result)
            check_ranks(buffers, contents, at)
            dtypes = [contents.buffers[index].dtype for index in buffers]
            if len({*dtypes}) > 1:
                raise PackageError(f"'{at}' has buffers of types {dtypes}, must be of one type")
        check_moves(
            self.gathered, contents, f"{where}.gathered", [move.target for move in self.gathered]
        )
        if not 0 <= self.joined <= len(self.gathered):
            raise PackageError(
                f"'{where}.joined' is {self.joined}, must be from 0 to {len(self.gathered)}"
            )
        for move in self.gathered[len(self.gathered) - self.joined :]:
            check_ranks((move.source, move.target), contents, f"{where}.gathered")
        known = {*(each.result for each in self.carried), *(move.target for move in self.gathered)}
        if missing := sorted({self.results[each.result] for each in self.finds} - known):
            raise PackageError(
                f"'{where}' finds sizes of buffer {missing[0]}, which it never makes"
            )

    def load(self, loader: Loader) -> Bind:
        binds = [step.load(loader) for step in self.body.steps]
        contents = loader.contents
        carried = CarriedMemory(self.carried, self.carried_sizes, contents)
        changing = bool(self.carried or self.gathered) or finds_sizes(self.body.steps)

        def begin(state: SessionState) -> ReboundBody:
            return body_run(contents, self.body.steps, binds, state)

        def bind(state: SessionState) -> Run:
            check_sizes(state.bases, self.first)
            count = state.values(self.iterations)
            check_sizes(state.bases, self.elements, sources=count)
            if changing:
                run = partial(self._run_changing, count, contents, begin, carried, state)
                return cast("Run", run)
            check_sizes(state.bases, self.body.moves)
            check_sizes(state.bases, self.outputs, targets=count)
            memory = self._memory(state.bases), self._end_memory(contents, state.bases)
            return partial(_run, count, begin(state), *memory)

        return bind

    def _run_changing(
        self,
        limit: int,
        contents: Contents,
        begin: Callable[[SessionState], ReboundBody],
        carried: CarriedMemory,
        state: SessionState,
    ) -> tuple[dict[str, int], Store]:
        """Run a loop whose memory is another one in each iteration, or at the end of a body."""
        outside = state.bases
        memory = self._memory(outside)
        gathered = self._begin_gathering(contents, state)
        changing = Changing(self.carried, self.nodes, carried, state)
        count = limit
        limit, going, number = memory.begin(limit)
        elements = memory.elements()
        copy_spans(memory.first())
        body, at_end = begin(changing.state), None
        moves = (*self.body.moves, *self.outputs)
        read = [move.source for move in moves] + [self.next] * (self.next != ABSENT)
        is_fixed = _are_known(read, contents, state)
        iteration = 0
        while iteration < limit and going:
            number.value = iteration
            for target, source, size in elements:
                memmove(target, source + iteration * size, size)
            end = body()
            if at_end is None or not is_fixed:
                at_end = self._end_memory(contents, outside, end.bases)
                check_sizes(end.bases, self.body.moves, outside)
                check_sizes(end.bases, self.outputs, outside, targets=count)
            for target, source, size in at_end.outputs():
                memmove(target + iteration * size, source, size)
            for each in gathered:
                each.add(end.bases)
            going, spans = at_end.goes_on(), at_end.ends()
            if self.carried:
                changing.advance(end)
                body.enter(changing.state)
            copy_spans(spans)
            iteration += 1
        found = {**changing.shapes(), **{each.target: each.shape for each in gathered}}
        sizes = {each.symbol: found[self.results[each.result]][each.index] for each in self.finds}

        def store(after: SessionState) -> None:
            parts = {**changing.parts(), **{each.target: each.part for each in gathered}}
            store_parts(parts, after.bases)

        return sizes, store

    def _begin_gathering(self, contents: Contents, state: SessionState) -> list[Gathered]:
        """Return what gathers the outputs of a run of which nobody knows how many there are."""
        stacked = len(self.gathered) - self.joined
        return [
            Gathered(
                move,
                contents.buffers[move.target].shape,
                self.nodes,
                joined=number >= stacked,
                fixed=_are_known([move.source], contents, state),
            )
            for number, move in enumerate(self.gathered)
        ]

    def _memory(self, outside: Bases) -> LoopMemory:
        """Return where the loop finds what it begins with."""
        limit, going = (
            None if index == ABSENT else outside.locator(index) for index in self.operands[:2]
        )
        return LoopMemory(
            limit,
            going,
            outside.locator(self.number),
            locate(outside, self.first),
            locate(outside, self.elements),
        )

    def _end_memory(
        self, contents: Contents, outside: Bases, end: Bases | None = None
    ) -> EndMemory:
        """Return where the loop finds what it copies; `end` is the memory at the end of a body."""
        end = outside if end is None else end
        return EndMemory(
            None if self.next == ABSENT else end.locator(self.next),
            locate(end, self.outputs, outside),
            moves_at_once(self.body.moves, contents, end, outside),
        )

    def operation(self, contents: Contents) -> str:
        times = "" if self.iterations == UNKNOWN else f" {self.iterations} times"
        return f"{len(self.body.steps)} steps{times}"

    @classmethod
    def summary(cls, steps: Sequence[Step]) -> str:
        return f"{len(steps)} loop{'s' * (len(steps) != 1)}"


def _run(limit: int, body: BodyRun, memory: LoopMemory, at_end: EndMemory) -> None:
    """Run a loop whose memory is the same in all iterations."""
    limit, going, number = memory.begin(limit)
    elements, outputs, ends = memory.elements(), at_end.outputs(), at_end.ends()
    copy_spans(memory.first())
    iteration = 0
    while iteration < limit and going:
        number.value = iteration
        for target, source, size in elements:
            memmove(target, source + iteration * size, size)
        body()
        for target, source, size in outputs:
            memmove(target + iteration * size, source, size)
        going = at_end.goes_on()
        copy_spans(ends)
        iteration += 1


def _are_known(indices: Sequence[int], contents: Contents, state: SessionState) -> bool:
    """Return whether buffers have sizes and offsets that a state knows: the same in each body."""
    buffers = (contents.buffers[index] for index in indices)
    return all(state.values.knows(*each.shape, each.offset) for each in buffers)


def _check_size(contents: Contents, index: int, size: int, where: str) -> None:
    found = checked_buffer(index, contents, where).size_bytes
    if found != size:
        raise PackageError(f"'{where}' has {found} bytes, must have {size}")
