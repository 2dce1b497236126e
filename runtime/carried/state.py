"""The state of a model: outputs of a run that are inputs of the next one, without a copy."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from ..frozen import Frozen
from ..memory import address_of, allocate
from ..slots import Slot

if TYPE_CHECKING:
    from ..gpu.array import DeviceArray

Value: TypeAlias = "NDArray[Any] | DeviceArray"

Shape: TypeAlias = tuple[int, ...]

Binding: TypeAlias = tuple[int, NDArray[Any], int]
"""A base, its array, and where that is."""


class StatePair(Frozen):
    """Name an output that becomes one or more inputs; a run updates one of them in place."""

    output: Slot
    inputs: tuple[Slot, ...]
    in_place: bool = False


CreateBuffer: TypeAlias = Callable[[StatePair], Value]
"""Return memory that a run writes an output to, and the next one reads as the inputs."""


def zeros(slot: Slot) -> NDArray[Any]:
    """Return zeroed memory for a port."""
    size = math.prod(slot.shape) * slot.dtype.itemsize
    return allocate(size, f"the state of '{slot.name}'").view(slot.dtype).reshape(slot.shape)


def zeros_of(pair: StatePair) -> NDArray[Any]:
    """Return memory of the process for a pair."""
    return zeros(pair.output)


class Turn(Frozen):
    """Hold the arrays of one run: those that it reads, by input, and that it writes, by output.

    `bindings` are the same for a run that takes numpy arrays alone.
    """

    inputs: Mapping[str, Value]
    outputs: Mapping[str, Value]
    bindings: tuple[Binding, ...]


def bindings_of(values: Iterable[tuple[int, Value]]) -> list[Binding]:
    """Return what binds bases to those of some values that are in the process."""
    in_process = [(base, array) for base, array in values if isinstance(array, np.ndarray)]
    return [(base, array, address_of(array)) for base, array in in_process]


class CarriedState:
    """Hold all state of a session: each output is written to two buffers in turns.

    `turn` is replaced when a run has succeeded. What a run updates in place is in one buffer, which
    is as a failed run has left it.
    """

    def __init__(
        self,
        pairs: Sequence[StatePair] = (),
        create: CreateBuffer = zeros_of,
        initial: Mapping[str, NDArray[Any]] | None = None,
        values: Mapping[str, Value] | None = None,
    ) -> None:
        """Begin with `values`, by input; without them with `initial`, which `reset` returns to.

        What is updated in place begins with zeros where neither has it.
        """
        self.pairs = tuple(pairs)
        self.initial = dict(initial or {})
        self.exchanged = [pair for pair in pairs if not pair.in_place]
        self._updated = [pair for pair in pairs if pair.in_place]
        self._create = create
        self._kept: dict[str, Value] = {}
        listed = (*self.exchanged, *self._updated)
        self.slots = [slot for pair in listed for slot in pair.inputs]
        self.outputs = frozenset(pair.output.name for pair in pairs)
        self._allocate(create)
        self.load(self.initial if values is None else values)

    @property
    def turn(self) -> Turn:
        """Return the arrays of the next run."""
        return self._now

    @property
    def shapes(self) -> Sequence[Shape]:
        """Return the shapes of what the next run reads, as `slots` has its inputs."""
        return [cast("Shape", self.turn.inputs[slot.name].shape) for slot in self.slots]

    def bind(self, shapes: Sequence[Shape], sizes: Sequence[int]) -> Sequence[Binding]:
        """Return what binds the next run, which writes outputs of some shapes and bytes."""
        return self.turn.bindings

    def target(self, slot: Slot) -> Value:
        """Return where the next run writes an output, whose sizes are numbers."""
        return self.turn.outputs[slot.name]

    def advance(self) -> None:
        """Make what the run has written the input of the next one."""
        self._now = self._even if self._now is self._odd else self._odd

    def reset(self) -> None:
        """Return to the initial values, which are never written.

        So nothing is copied but what is updated in place.
        """
        self.load(self.initial)

    def load(self, values: Mapping[str, Value]) -> None:
        """Replace the value of each input."""
        self._load_updated(values)
        first, second = self._buffers
        self._now = self._turn_of(values, first)
        self._odd = self._turn_of(self._carried(first), second)
        self._even = self._turn_of(self._carried(second), first)

    def trim(self) -> None:
        """Free memory that holds no value."""

    def value(self, name: str) -> NDArray[Any]:
        """Return a copy of what the next run takes for an input."""
        value = self.turn.inputs[name]
        return value.copy() if isinstance(value, np.ndarray) else value.numpy()

    def renewed(self, create: CreateBuffer) -> "CarriedState":
        """Return the same state at its initial values, in buffers of its own."""
        return type(self)(self.pairs, create, self.initial)

    def _allocate(self, create: CreateBuffer) -> None:
        first, second = ({p.output.name: create(p) for p in self.exchanged} for _ in range(2))
        self._buffers: tuple[dict[str, Value], dict[str, Value]] = first, second

    def _load_updated(self, values: Mapping[str, Value]) -> None:
        """Give what is updated in place memory of its own: a copy of a value, or zeros."""
        self._kept = {}
        for pair in self._updated:
            (slot,) = pair.inputs
            value = values.get(slot.name)
            kept = self._create(pair) if value is None else np.array(value, order="C")
            self._kept[slot.name] = kept

    def _carried(self, outputs: Mapping[str, Value]) -> dict[str, Value]:
        return {s.name: outputs[pair.output.name] for pair in self.exchanged for s in pair.inputs}

    def _turn_of(self, inputs: Mapping[str, Value], outputs: Mapping[str, Value]) -> Turn:
        inputs = {**inputs, **self._kept}
        bound = [(slot.base, inputs[slot.name]) for slot in self.slots]
        bound += [(pair.output.base, outputs[pair.output.name]) for pair in self.exchanged]
        return Turn(inputs, outputs, tuple(bindings_of(bound)))
