"""Loops over the depth of a product: one loop, so that loads can be pipelined."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ....dialects.core.sizes.limits import at_least
from ....dialects.core.tensor import Shape
from .loop import loop
from .value import Value, arange, block_size, full, scalar

SINGLE = ""
"""The name of the block in loops over single elements of the depth."""

Step = Callable[[Sequence[Value], list[Value]], list[Value]]
"""Map the indices of one step along the depth, and the sums before it, to the sums after it."""


@dataclass(frozen=True)
class Part:
    """Name a part of a depth: each `count`-th step, from step number `index` on."""

    index: Value
    count: int


class Depth(Protocol):
    """The dimensions that products are summed over."""

    @property
    def size(self) -> int:
        """Count the products of a sum."""
        ...

    @property
    def width(self) -> int:
        """Return the largest useful size of a block."""
        ...

    def walk(self, block: str, part: Part, sums: Sequence[Value], step: Step) -> list[Value]:
        """Emit a loop over a part, in steps of a block size, or of one element."""
        ...


@dataclass(frozen=True)
class FlatDepth:
    """Walk a depth by one index."""

    size: int

    @property
    def width(self) -> int:
        return self.size

    def walk(self, block: str, part: Part, sums: Sequence[Value], step: Step) -> list[Value]:
        size, places = _block(block)

        def body(k: Value, *carried: Value) -> list[Value]:
            return step([(places + k).named("depth")], list(carried))

        first = part.index if part.count == 1 else part.index * size
        return loop(first, self.size, size * part.count, sums, body, name="k")


@dataclass(frozen=True)
class WindowDepth:
    """Walk the channels for each tap of a window; the indices are the channel, then the tap's.

    Where channels are few, one index walks both, so that blocks are full.
    """

    channels: int
    taps: Shape

    @property
    def size(self) -> int:
        return self.channels * math.prod(self.taps)

    @property
    def width(self) -> int:
        return self.size if self.is_flat else self.channels

    @property
    def is_flat(self) -> bool:
        """Return whether one index walks channels and taps."""
        few = at_least(FEW_CHANNELS - 1, self.channels) is True
        return few and math.prod(self.taps) > 1

    def walk(self, block: str, part: Part, sums: Sequence[Value], step: Step) -> list[Value]:
        if self.is_flat:
            flat = FlatDepth(self.size)
            return flat.walk(block, part, sums, lambda k, carried: step(self._split(*k), carried))
        size, places = _block(block)
        steps = ((size + (self.channels - 1)) / size).named("channel_steps")
        count = (steps * math.prod(self.taps)).named("steps")

        def body(i: Value, *carried: Value) -> list[Value]:
            tap = i / steps
            first = (i.remainder(steps) * size).named("channel_start")
            channel = (places + first).named("channel")
            return step([channel, *self._places(tap)], list(carried))

        return loop(part.index, count, part.count, sums, body)

    def _split(self, depth: Value) -> list[Value]:
        """Return the channel and the tap: beyond the depth, the channel is beyond the last."""
        taps = math.prod(self.taps)
        return [(depth / taps).named("channel"), *self._places(depth.remainder(taps))]

    def _places(self, tap: Value) -> list[Value]:
        """Return where a tap is in the window."""
        places = unravel(tap.named("tap"), self.taps)
        return [place.named(f"tap_{i}") for i, place in enumerate(places)]


FEW_CHANNELS = 16
"""Below so many channels, which is the least depth of `tile.dot`, taps are walked with them."""


def _block(block: str) -> tuple[Value, Value]:
    """Return a block size and the indices in a block."""
    if block == SINGLE:
        return scalar(1), full(0, "i32", (1,))
    return block_size(block), arange(block)


def unravel(index: Value, shape: Shape) -> list[Value]:
    """Return the index along each dimension of an index that walks all, the last one fastest."""
    indices: list[Value] = []
    for axis in range(len(shape)):
        inner = math.prod(shape[axis + 1 :])
        part = index / inner
        if axis:
            part = scalar(0) if shape[axis] == 1 else part.remainder(shape[axis])
        indices.append(part)
    return indices
