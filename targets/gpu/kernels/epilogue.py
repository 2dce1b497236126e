"""`Epilogue`: stores a kernel's results, through the elementwise ops that follow the anchor."""

import math
from collections.abc import Callable, Sequence

from ....dialects.core.sizes.dim import highest
from ....dialects.core.sizes.substitution import likely
from ....dialects.core.tensor import Shape
from ...kernels.epilogue import GroupEpilogue
from ..registry import TABLE
from .buffer import Argument, Buffer
from .builder import KernelBuilder
from .coordinates import Axis, Coordinates
from .spread import in_a_row, spread
from .value import Value, full

Reader = Buffer | Callable[[list[Value]], Value]
"""The elements of a result: a buffer of its shape, or a function of the index per dimension."""


class Epilogue(GroupEpilogue[KernelBuilder, Buffer, Argument]):
    """Apply the ops that follow an anchor to tiles of its result, in any order of the tiles."""

    @property
    def order(self) -> tuple[int, ...]:
        """Return the dims of the result from the outermost to the innermost one in memory."""
        strides = next(iter(self.outputs.values())).strides
        return tuple(sorted(range(len(self.shape)), key=lambda dim: -likely(strides[dim])))

    def reshape(self, shape: Shape) -> "Epilogue":
        """View the result under a shape that splits dimensions, or inserts dimensions of size 1."""
        return self.viewed(shape, lambda leaf: leaf.split(shape), lambda out: out.split(shape))

    def store(self, number: Value | None, at: Coordinates | Sequence[Value]) -> None:
        """Apply the ops to a tile and store the results; elements out of bounds are not stored."""
        if not isinstance(at, Coordinates):
            at = Coordinates.of(self.shape, at)
        known = self.computed(TABLE, number, lambda leaf: leaf.load(at), full)
        for value, out in self.outputs.items():
            out.store(known[value], at)

    def emit_elementwise(
        self, read: Callable[[Coordinates], Value | None], sources: Sequence[Buffer] = ()
    ) -> None:
        """Add a grid over the elements; `read` loads from `sources` at the same coordinates."""
        if 0 in self.shape:
            return
        around = [*sources, *self.leaves.values(), *self.outputs.values()]
        at = spread(self.kernel, self.shape, self.order, around)
        self.store(read(at), at)

    def emit_ops(self) -> None:
        """Add a grid for a group of elementwise ops only."""
        self.emit_elementwise(lambda at: None)


def emit_indexed(
    kernel: KernelBuilder, epilogues: Sequence[Epilogue], readers: Sequence[Reader]
) -> None:
    """Add a grid in which each program stores a part of each result, from one reader each."""
    used = [
        (s, r) for s, r in zip(epilogues, readers, strict=True) if s.outputs and 0 not in s.shape
    ]
    if len(used) == 1:
        epilogue, reader = used[0]
        sources = [reader] if isinstance(reader, Buffer) else []
        epilogue.emit_elementwise(lambda at: _read(reader, at), sources)
        return
    largest = highest(1, *(math.prod(epilogue.shape) for epilogue, _ in used))
    index = in_a_row(kernel, largest)
    for epilogue, reader in used:
        at = Coordinates(epilogue.shape, (Axis(epilogue.order, index),))
        epilogue.store(_read(reader, at), at)


def _read(reader: Reader, at: Coordinates) -> Value:
    return reader.load(at) if isinstance(reader, Buffer) else reader(at.indices())
