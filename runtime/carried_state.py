"""The state of a model: outputs of a run that are inputs of the next one, without a copy."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import RunError
from .memory import address_of, allocate
from .slots import Slot, check_known, is_on_device, quote

if TYPE_CHECKING:
    from .gpu.array import DeviceArray

Value: TypeAlias = "NDArray[Any] | DeviceArray"
CreateBuffer: TypeAlias = Callable[[Slot, Sequence[Slot]], Value]
"""Return memory that a run writes an output to, and the next one reads as the inputs."""


@dataclass(frozen=True)
class StatePair:
    """Name an output that becomes one or more inputs; runs write two buffers of it in turns."""

    output: Slot
    inputs: tuple[Slot, ...]
    buffers: tuple[Value, Value]


@dataclass(frozen=True)
class Turn:
    """Hold the arrays of one run: those that it reads, by input, and that it writes, by output.

    `bindings` are the same for a run that takes numpy arrays alone: base, array and address.
    """

    inputs: Mapping[str, Value]
    outputs: Mapping[str, Value]
    bindings: tuple[tuple[int, NDArray[Any], int], ...]


class CarriedState:
    """Hold all state of a session.

    `turn` has the arrays of the next run. Its values are replaced when a run has succeeded.
    """

    def __init__(
        self,
        pairs: Sequence[StatePair] = (),
        initial: Mapping[str, NDArray[Any]] | None = None,
        values: Mapping[str, Value] | None = None,
    ) -> None:
        """Begin with `values`, by input; without them with `initial`, which `reset` returns to."""
        self.pairs = tuple(pairs)
        self.initial = dict(initial or {})
        self.slots = [slot for pair in pairs for slot in pair.inputs]
        self.outputs = frozenset(pair.output.name for pair in pairs)
        self._start(self.initial if values is None else values)

    def advance(self) -> None:
        """Make what the run has written the input of the next one."""
        self.turn = self._even if self.turn is self._odd else self._odd

    def reset(self) -> None:
        """Return to the initial values."""
        self._start(self.initial)

    def load(self, values: Mapping[str, NDArray[Any]]) -> None:
        """Replace the value of each input."""
        self._start(values)

    def value(self, name: str) -> NDArray[Any]:
        """Return a copy of what the next run takes for an input."""
        value = self.turn.inputs[name]
        return value.copy() if isinstance(value, np.ndarray) else value.numpy()

    def renewed(self, create: CreateBuffer) -> "CarriedState":
        """Return the same state at its initial values, in buffers of its own."""
        pairs = [_pair(pair.output, pair.inputs, create) for pair in self.pairs]
        return CarriedState(pairs, self.initial)

    def _start(self, values: Mapping[str, Value]) -> None:
        # Initial values are never written, so that `reset` copies nothing.
        first = {pair.output.name: _other(pair, values) for pair in self.pairs}
        second = {
            pair.output.name: next(b for b in pair.buffers if b is not first[pair.output.name])
            for pair in self.pairs
        }
        self.turn = self._turn(values, first)
        self._odd = self._turn(self._carried(first), second)
        self._even = self._turn(self._carried(second), first)

    def _carried(self, outputs: Mapping[str, Value]) -> dict[str, Value]:
        return {s.name: outputs[pair.output.name] for pair in self.pairs for s in pair.inputs}

    def _turn(self, inputs: Mapping[str, Value], outputs: Mapping[str, Value]) -> Turn:
        bound = [(slot.base, inputs[slot.name]) for slot in self.slots]
        bound += [(pair.output.base, outputs[pair.output.name]) for pair in self.pairs]
        in_process = [(base, array) for base, array in bound if isinstance(array, np.ndarray)]
        bindings = tuple((base, array, address_of(array)) for base, array in in_process)
        return Turn(dict(inputs), dict(outputs), bindings)


def _other(pair: StatePair, values: Mapping[str, Value]) -> Value:
    """Return a buffer of a pair that none of its inputs is in."""
    taken = [values[slot.name] for slot in pair.inputs]
    return next(b for b in pair.buffers if all(b is not value for value in taken))


def add_pairs(
    state: CarriedState,
    pairs: object,
    initial: object,
    ports: tuple[Sequence[Slot], Sequence[Slot]],
    create: CreateBuffer,
) -> CarriedState:
    """Return a state with further pairs, given by name; raise RunError for those that do not fit.

    `ports` are all inputs and outputs of the session.
    """
    listed = _listed(pairs, *ports, state)
    slots = [slot for _, inputs in listed for slot in inputs]
    started = _initial(initial, slots)
    made = [_pair(output, inputs, create) for output, inputs in listed]
    values = {**state.turn.inputs, **started}
    return CarriedState([*state.pairs, *made], state.initial | started, values)


def zeros(slot: Slot) -> NDArray[Any]:
    """Return zeroed memory for a port."""
    size = int(np.prod(slot.shape, dtype=object)) * slot.dtype.itemsize
    return allocate(size, f"the state of '{slot.name}'").view(slot.dtype).reshape(slot.shape)


def _pair(output: Slot, inputs: tuple[Slot, ...], create: CreateBuffer) -> StatePair:
    return StatePair(output, inputs, (create(output, inputs), create(output, inputs)))


def _listed(
    pairs: object, inputs: Sequence[Slot], outputs: Sequence[Slot], state: CarriedState
) -> list[tuple[Slot, tuple[Slot, ...]]]:
    """Return the ports of pairs that are given by name, all checked."""
    if not isinstance(pairs, Mapping):
        raise RunError(
            f"the pairs are of type {type(pairs).__name__}, must be a dictionary from outputs to "
            "inputs"
        )
    given = cast("Mapping[str, object]", pairs)
    check_known("output", given, outputs)
    bound = {slot.name: pair.output.name for pair in state.pairs for slot in pair.inputs}
    listed: list[tuple[Slot, tuple[Slot, ...]]] = []
    for output in (slot for slot in outputs if slot.name in given):
        names = _names(output.name, given[output.name])
        if output.name in state.outputs:
            before = quote(name for name, owner in bound.items() if owner == output.name)
            raise RunError(
                f"output '{output.name}' cannot become input {quote(names)}, it becomes {before} "
                "already: unbind_state() first"
            )
        for name in names:
            if name in bound:
                raise RunError(
                    f"output '{output.name}' cannot become input '{name}', which output "
                    f"'{bound[name]}' becomes already"
                )
            bound[name] = output.name
        listed.append((output, tuple(_input(output, name, inputs) for name in names)))
    return listed


def _names(output: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    names = cast("Sequence[object]", value) if isinstance(value, list | tuple) else ()
    if names and all(isinstance(name, str) for name in names):
        return tuple(cast("Sequence[str]", names))
    raise RunError(f"output '{output}' becomes {value!r}, must become an input or several, by name")


def _input(output: Slot, name: str, inputs: Sequence[Slot]) -> Slot:
    """Return the input that an output becomes, if it fits."""
    why = f"output '{output.name}' cannot become input '{name}'"
    slot = next((slot for slot in inputs if slot.name == name), None)
    if slot is None:
        raise RunError(f"{why}: the inputs are {quote(slot.name for slot in inputs)}")
    if (slot.shape, slot.dtype) != (output.shape, output.dtype):
        raise RunError(
            f"{why}: it is {output.dtype}{list(output.shape)}, must be {slot.dtype}"
            f"{list(slot.shape)}"
        )
    return slot


def _initial(initial: object, slots: Sequence[Slot]) -> dict[str, NDArray[Any]]:
    """Return what each input begins with: a copy of what is given by name, or zeros."""
    if not isinstance(initial, Mapping):
        raise RunError(
            f"initial is of type {type(initial).__name__}, must be a dictionary of arrays by input"
        )
    given = cast("Mapping[str, object]", initial)
    for name in given:
        if all(slot.name != name for slot in slots):
            raise RunError(
                f"initial has '{name}', which no output becomes; those that one does are "
                f"{quote(slot.name for slot in slots)}"
            )
    return {s.name: owned(s, given[s.name]) if s.name in given else zeros(s) for s in slots}


def owned(slot: Slot, value: ArrayLike | object) -> NDArray[Any]:
    """Return a copy of a value for an input, which must fit."""
    if is_on_device(value):
        raise RunError(f"the state of '{slot.name}' is given on a GPU: copy it to the host")
    return np.array(slot.take(value), order="C")
