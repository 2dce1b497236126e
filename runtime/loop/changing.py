"""What a loop carries with sizes that change from one iteration to the next."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

from ..contents import Contents
from ..errors import RunError
from ..sizes.size_expressions import Size
from ..state import SessionState
from ..step import FoundSize


@dataclass(frozen=True)
class Carried:
    """Name the buffers of something that a loop carries with sizes that change.

    A body takes what is in `argument`: that of `initial` at first, then what `next` was. At the end
    it is copied to `result`. The argument begins an arena of its own, one of the `carried_arenas`.
    """

    initial: int
    argument: int
    next: int
    result: int


class CarriedSizes:
    """Know the sizes of what a body takes, and which must agree, from buffers that it is taken of.

    What is an axis of one of these is a number, or an expression in the state of the buffers.
    """

    def __init__(
        self,
        carried: Sequence[Carried],
        sizes: Sequence[FoundSize],
        sources: Sequence[int],
        contents: Contents,
    ) -> None:
        shapes = [contents.buffers[source].shape for source in sources]
        self._found = [(each.symbol, shapes[each.result][each.index]) for each in sizes]
        known = {*self._found}
        taken = (contents.buffers[each.argument].shape for each in carried)
        pairs = (
            pair for each in zip(taken, shapes, strict=True) for pair in zip(*each, strict=True)
        )
        self._others = [pair for pair in pairs if pair not in known and not _is_number(*pair)]

    def found(self, state: SessionState) -> dict[str, int]:
        """Return the sizes that a body finds, where the buffers are in some state."""
        values = state.values
        return {symbol: values(size) for symbol, size in self._found}

    def check(self, before: SessionState, begun: SessionState) -> None:
        """Raise RunError unless all sizes of what is taken are those of the buffers."""
        for taken, given in self._others:
            size, room = before.values(given), begun.values(taken)
            if size != room:
                raise RunError(f"a tensor with {size} along an axis is carried to one with {room}")


def _is_number(one: Size, other: Size) -> bool:
    """Return whether two sizes are the same number."""
    return type(one) is int and one == other


class CarriedMemory:
    """Know how each `next` of a loop becomes the `argument` of the iteration that follows.

    One in the place of its argument is there already. The arena of one that has its own is
    exchanged for that of the argument. What is anywhere else is copied to a spare arena. Sizes are
    those of what a body takes: `first_sizes` those of the first iteration, `sizes` of all others.
    """

    def __init__(
        self, carried: Sequence[Carried], sizes: Sequence[FoundSize], contents: Contents
    ) -> None:
        initial, next_ = [each.initial for each in carried], [each.next for each in carried]
        self.first_sizes = CarriedSizes(carried, sizes, initial, contents)
        self.sizes = CarriedSizes(carried, sizes, next_, contents)
        arguments = [contents.buffers[each.argument] for each in carried]
        ends = [contents.buffers[each.next] for each in carried]
        taken, made = [each.base for each in arguments], [each.base for each in ends]
        self.exchanged: list[tuple[int, int]] = []
        self.copied: list[tuple[int, int]] = []
        for each, argument, end in zip(carried, arguments, ends, strict=True):
            if (argument.base, argument.offset) == (end.base, end.offset):
                continue
            is_own = contents.is_carried(end.base) and made.count(end.base) == 1
            is_inside = contents.stage_of(end.base) >= contents.stage_of(argument.base)
            if is_own and is_inside and end.base not in taken and end.offset == 0:
                self.exchanged.append((argument.base, end.base))
            else:
                self.copied.append((argument.base, each.next))

    def advance(self, end: SessionState) -> None:
        """Make what a body has returned in a state what the next one takes."""
        bases = end.bases
        for base, source in self.copied:
            size = bases.size_bytes(source)
            ctypes.memmove(bases.spare(base, size), bases.locator(source)(), size)
        for base, other in self.exchanged:
            bases.exchange(base, other)
        for base, _ in self.copied:
            bases.use_spare(base)


class Changing:
    """Hold what a loop carries with sizes that change, in the stage that its body begins."""

    def __init__(
        self,
        carried: Sequence[Carried],
        nodes: tuple[str, ...],
        memory: CarriedMemory,
        outside: SessionState,
    ) -> None:
        self._carried = carried
        self._nodes = nodes
        self._memory = memory
        self._outside = outside
        self.state = outside
        if carried:
            self._enter(outside, memory.first_sizes)
            self._copy_initial()

    def advance(self, end: SessionState) -> None:
        """Begin the next iteration, where the one before ended in some state."""
        self._memory.advance(end)
        self._enter(end, self._memory.sizes)

    def _enter(self, before: SessionState, sizes: CarriedSizes) -> None:
        self.state = self._outside.enter(sizes.found(before), self._nodes)
        sizes.check(before, self.state)

    def _copy_initial(self) -> None:
        outside, bases = self._outside.bases, self.state.bases
        for each in self._carried:
            target, source = bases.locator(each.argument)(), outside.locator(each.initial)()
            ctypes.memmove(target, source, bases.size_bytes(each.argument))

    def shapes(self) -> dict[int, tuple[int, ...]]:
        """Return the shapes of the results, by their buffers."""
        bases = self.state.bases
        return {each.result: bases.shape(each.argument) for each in self._carried}

    def parts(self) -> dict[int, tuple[int, int]]:
        """Return where the results are, and how many bytes, by their buffers."""
        bases = self.state.bases
        return {
            each.result: (bases.locator(each.argument)(), bases.size_bytes(each.argument))
            for each in self._carried
        }
