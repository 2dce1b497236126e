"""Loops whose sizes change while they run: what they carry, and what they put out, has any size."""

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import RunError
from ..memory import Bases
from ..nested import Move, Spans, copy_spans
from ..sizes.size_expressions import Size
from ..state import SessionState
from ..step import FoundSize


@dataclass(frozen=True)
class Carried:
    """Name the buffers of something that a loop carries with sizes that change.

    A body takes what is in `argument`: that of `initial` at first, then what `next` was. At the end
    it is copied to `result`.
    """

    initial: int
    argument: int
    next: int
    result: int


class Changing:
    """Hold what a loop carries with sizes that change, in the stage that its body begins.

    The arena of this stage has two slots: what is carried goes from one to the other.
    """

    def __init__(
        self,
        carried: Sequence[Carried],
        sizes: Sequence[FoundSize],
        nodes: tuple[str, ...],
        outside: SessionState,
    ) -> None:
        self._carried = carried
        self._sizes = sizes
        self._nodes = nodes
        self._outside = outside
        self._slot = 0
        self.state = self._begin(outside, [each.initial for each in carried])

    def advance(self, end: SessionState) -> None:
        """Begin the next iteration, where the one before ended in some state."""
        self.state = self._begin(end, [each.next for each in self._carried])

    def _begin(self, before: SessionState, sources: Sequence[int]) -> SessionState:
        if not self._carried:
            return self._outside
        shapes = [before.bases.shape(source) for source in sources]
        places = [before.bases.locator(source)() for source in sources]
        sizes = {each.symbol: shapes[each.result][each.index] for each in self._sizes}
        self._slot = 1 - self._slot
        begun = self._outside.enter(sizes, self._nodes, self._slot)
        spans: Spans = []
        for each, source, place in zip(self._carried, sources, places, strict=True):
            size, room = before.bases.size_bytes(source), begun.bases.size_bytes(each.argument)
            if size != room:
                raise RunError(f"{size} bytes are carried to a buffer of {room}")
            spans.append((begun.bases.locator(each.argument)(), place, size))
        copy_spans(spans)
        return begun

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


class Gathered:
    """Gather what each iteration puts out, of which nobody knows how many there are.

    It is stacked, or joined along its first axis, of which each may have another size.
    """

    def __init__(
        self, move: Move, written: Sequence[Size], nodes: tuple[str, ...], *, joined: bool
    ) -> None:
        self.target = move.target
        self._nodes = nodes
        self._source = move.source
        self._joined = joined
        self._element: tuple[int, ...] | None = None
        self._written = written
        self._count = 0
        self._used = 0
        self._bytes: NDArray[np.uint8] = np.empty(0, np.uint8)

    def add(self, bases: Bases) -> None:
        """Add what an iteration has put out; raise RunError for one of another shape."""
        shape, size = bases.shape(self._source), bases.size_bytes(self._source)
        element = shape[1:] if self._joined else shape
        if self._element not in (None, element):
            raise RunError(
                f"{', '.join(self._nodes)}: error: puts out shape {element} after {self._element}, "
                "must be of one shape"
            )
        self._element = element
        self._count += shape[0] if self._joined else 1
        end = self._used + size
        if end > self._bytes.size:
            grown = np.empty(1 << (end - 1).bit_length(), np.uint8)
            grown[: self._used] = self._bytes[: self._used]
            self._bytes = grown
        if size:
            to = self._bytes.ctypes.data + self._used
            ctypes.memmove(to, bases.locator(self._source)(), size)
        self._used = end

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of all; where nothing was put out, sizes that are found are 0."""
        if self._element is not None:
            return (self._count, *self._element)
        return tuple(size if type(size) is int else 0 for size in self._written)

    @property
    def part(self) -> tuple[int, int]:
        """Return where all is, and how many bytes."""
        return self._bytes.ctypes.data, self._used


def store_parts(parts: Mapping[int, tuple[int, int]], bases: Bases) -> None:
    """Copy bytes to buffers; raise RunError for a buffer that is larger or smaller."""
    for target, (source, size) in parts.items():
        if (room := bases.size_bytes(target)) != size:
            raise RunError(f"a loop puts out {size} bytes for a buffer of {room}")
        if size:
            ctypes.memmove(bases.locator(target)(), source, size)
