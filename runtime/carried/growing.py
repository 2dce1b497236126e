"""State whose sizes change from run to run, such as a cache that each run makes longer."""

import math
from collections.abc import Mapping, Sequence
from operator import gt
from typing import Any

from numpy.typing import NDArray

from ..memory import address_of, allocate
from ..slots import Slot
from .state import Binding, CarriedState, CreateBuffer, Shape, StatePair, Turn, Value, bindings_of

_LEAST_BITS = 12


class _Blocks:
    """Hold a block for each pair, and what binds these as its inputs, and as its output."""

    def __init__(self, pairs: Sequence[StatePair]) -> None:
        self._pairs = pairs
        self.clear()

    def clear(self) -> None:
        """Free all memory."""
        self.rooms = [0] * len(self._pairs)
        self.blocks = [allocate(0)] * len(self._pairs)
        self._bind()

    def grow(self, sizes: Mapping[int, int]) -> None:
        """Replace the blocks of pairs that have fewer bytes."""
        for number, size in sizes.items():
            if size > self.rooms[number]:
                name = self._pairs[number].output.name
                self.rooms[number] = room = 1 << max(_LEAST_BITS, (size - 1).bit_length())
                self.blocks[number] = allocate(room, f"the state of '{name}'")
        self._bind()

    def view(self, number: int, shape: Shape) -> NDArray[Any]:
        """Return the value of a shape in the block of a pair."""
        dtype = self._pairs[number].output.dtype
        block = self.blocks[number][: math.prod(shape) * dtype.itemsize]
        return block.view(dtype).reshape(shape)

    def _bind(self) -> None:
        bound = [(p, b, address_of(b)) for p, b in zip(self._pairs, self.blocks, strict=True)]
        self.outputs: list[Binding] = [(p.output.base, b, address) for p, b, address in bound]
        self.inputs: list[Binding] = [(s.base, b, a) for p, b, a in bound for s in p.inputs]


class GrowingState(CarriedState):
    """Hold state in blocks of the process, each as large as a power of two.

    A block that is too small is replaced by a larger one, and nothing is copied: a run writes all
    of its outputs anew. A run is bound to whole blocks, which only move when they grow.
    """

    @property
    def turn(self) -> Turn:
        if self._turn is None:
            source = self._sides[1 - self._next]
            numbers = zip(self.slots, self._pair_of_slot, self._shapes, strict=False)
            views = {s.name: source.view(k, shape) for s, k, shape in numbers}
            self._turn = Turn({**views, **self._kept}, {}, ())
        return self._turn

    @property
    def shapes(self) -> Sequence[Shape]:
        return [*self._shapes, *self._kept_shapes]

    def bind(self, shapes: Sequence[Shape], sizes: Sequence[int]) -> Sequence[Binding]:
        side = self._sides[self._next]
        if any(map(gt, sizes, side.rooms)):
            side.grow(dict(enumerate(sizes)))
        self._written[:] = shapes
        return self._inputs + self._kept_inputs + side.outputs

    def target(self, slot: Slot) -> Value:
        side, number = self._sides[self._next], self._numbers[slot.name]
        size = math.prod(slot.shape) * slot.dtype.itemsize
        if size > side.rooms[number]:
            side.grow({number: size})
        self._written[number] = slot.shape
        return side.view(number, slot.shape)

    def advance(self) -> None:
        written = self._written
        self._shapes = [written[number] for number in self._pair_of_slot]
        self._inputs = self._sides[self._next].inputs
        self._turn = None
        self._next = 1 - self._next

    def load(self, values: Mapping[str, Value]) -> None:
        self._load_updated(values)
        slots = self.slots[: len(self._pair_of_slot)]
        given = {slot.name: values[slot.name] for slot in slots}
        self._turn: Turn | None = Turn({**given, **self._kept}, {}, ())
        self._shapes: Sequence[Shape] = [value.shape for value in given.values()]
        self._inputs = bindings_of((slot.base, given[slot.name]) for slot in slots)
        kept = [(slot.base, self._kept[slot.name]) for slot in self.slots[len(slots) :]]
        self._kept_shapes = [value.shape for _, value in kept]
        self._kept_inputs = bindings_of(kept)

    def trim(self) -> None:
        self._sides[self._next].clear()

    def _allocate(self, create: CreateBuffer) -> None:
        pairs = self.exchanged
        self._sides = _Blocks(pairs), _Blocks(pairs)
        self._next = 0
        self._numbers = {pair.output.name: number for number, pair in enumerate(pairs)}
        self._pair_of_slot = [number for number, p in enumerate(pairs) for _ in p.inputs]
        self._written: list[Shape] = [()] * len(pairs)
