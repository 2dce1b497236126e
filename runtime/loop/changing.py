"""What a loop carries with sizes that change from one iteration to the next."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

from ..contents import Contents
from ..errors import RunError
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


class CarriedMemory:
    """Know how each `next` of a loop becomes the `argument` of the iteration that follows.

    One in the place of its argument is there already. The arena of one that has its own is
    exchanged for that of the argument. What is anywhere else is copied to a spare arena.
    """

    def __init__(self, carried: Sequence[Carried], contents: Contents) -> None:
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
        sizes: Sequence[FoundSize],
        nodes: tuple[str, ...],
        memory: CarriedMemory,
        outside: SessionState,
    ) -> None:
        self._carried = carried
        self._sizes = sizes
        self._nodes = nodes
        self._memory = memory
        self._outside = outside
        self.state = outside
        if carried:
            self._enter(outside, [each.initial for each in carried])
            self._copy_initial()

    def advance(self, end: SessionState) -> None:
        """Begin the next iteration, where the one before ended in some state."""
        self._memory.advance(end)
        self._enter(end, [each.next for each in self._carried])

    def _enter(self, before: SessionState, sources: Sequence[int]) -> None:
        """Enter the stage of a body that takes tensors of the sizes of some buffers."""
        shape, size_bytes = before.bases.shape, before.bases.size_bytes
        sizes = {each.symbol: shape(sources[each.result])[each.index] for each in self._sizes}
        self.state = self._outside.enter(sizes, self._nodes)
        for each, source in zip(self._carried, sources, strict=True):
            size, room = size_bytes(source), self.state.bases.size_bytes(each.argument)
            if size != room:
                raise RunError(f"{size} bytes are carried to a buffer of {room}")

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
