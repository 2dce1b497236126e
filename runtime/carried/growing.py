"""State whose sizes change from run to run, such as a cache that each run makes longer."""

import math
from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from ..memory import allocate
from ..slots import Slot
from .state import CarriedState, CreateBuffer, Turn, Value

_LEAST_BITS = 12


class GrowingState(CarriedState):
    """Hold state in blocks of the process, each as large as a power of two.

    A block that is too small is replaced by a larger one, and nothing is copied: a run writes all
    of its outputs anew.
    """

    def target(self, slot: Slot) -> Value:
        blocks = self._blocks[self._next]
        size = math.prod(slot.shape) * slot.dtype.itemsize
        if slot.name not in blocks or blocks[slot.name].size < size:
            capacity = 1 << max(_LEAST_BITS, (size - 1).bit_length())
            blocks[slot.name] = allocate(capacity, f"the state of '{slot.name}'")
        array = blocks[slot.name][:size].view(slot.dtype).reshape(slot.shape)
        self._written[slot.name] = array
        return array

    def advance(self) -> None:
        self.turn = Turn(self._carried(self._written), {}, ())
        self._next = 1 - self._next

    def load(self, values: Mapping[str, Value]) -> None:
        self.turn = Turn(dict(values), {}, ())
        self._written: dict[str, Value] = {}

    def trim(self) -> None:
        self._blocks[self._next].clear()

    def _allocate(self, create: CreateBuffer) -> None:
        self._blocks: tuple[dict[str, NDArray[Any]], ...] = ({}, {})
        self._next = 0
