"""Bind the arrays of a run to the inputs and the outputs of a session."""

from collections.abc import Mapping
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from .carried_state import CarriedState
from .contents import FIRST_PORT, Contents
from .errors import RunError
from .memory import Bases, Bound
from .slots import Slot, by_name, check_known, is_on_device, overlap, wrong_names

if TYPE_CHECKING:
    from .gpu.ports import DevicePorts


class BoundRun(NamedTuple):
    """Hold the arrays of a run: the results by name, and all that are bound or given.

    `copies` are to be made after the steps: outputs that are state, to arrays of the caller.
    """

    results: dict[str, Any]
    arrays: list[Bound]
    copies: list[tuple[Bound, Bound]]


class Ports:
    """Know the inputs and the outputs of a session, and bind the arrays of each run to them.

    `devices` takes arrays that are on a GPU, None where the package has nothing for one. `carried`
    has the arrays of inputs and outputs that are state.
    """

    def __init__(
        self,
        contents: Contents,
        bases: Bases,
        devices: "DevicePorts | None",
    ) -> None:
        slots = tuple(map(Slot.of, (*contents.inputs, *contents.outputs), count(FIRST_PORT)))
        self.inputs = slots[: len(contents.inputs)]
        self.outputs = slots[len(contents.inputs) :]
        self._bases = bases
        self.devices = devices
        self.carried = CarriedState()

    def bind(self, feeds: Mapping[str, object], outputs: Mapping[str, object]) -> BoundRun:
        """Bind inputs and outputs; those that are state, and not given, to the arrays of state.

        Other outputs that are not in `outputs` are new numpy arrays.
        """
        given = by_name("outputs", outputs, self.outputs)
        feeds, carried = by_name("feeds", feeds, self.inputs), self.carried
        arrays = self._take({**carried.turn.inputs, **feeds} if carried.pairs else feeds)
        check_known("output", given, self.outputs)
        run = BoundRun({}, arrays, [])
        for slot in self.outputs:
            is_state = slot.name in carried.outputs
            array = self._adopt(slot, carried.target(slot)) if is_state else None
            if slot.name in given:
                run.results[slot.name] = given[slot.name]
                target = self._adopt(slot, given[slot.name])
                if overlap(target, arrays):
                    raise RunError(f"output '{slot.name}' shares memory with an input or an output")
                arrays.append(target)
                if array is not None:
                    run.copies.append((target, array))
                array = target if array is None else array
            elif array is None:
                array = run.results[slot.name] = slot.create()
            self._bases.bind(slot.base, array)
        return run

    def _take(self, feeds: Mapping[str, object]) -> list[Bound]:
        if len(feeds) != len(self.inputs) or any(s.name not in feeds for s in self.inputs):
            raise wrong_names(feeds, self.inputs)
        arrays: list[Bound] = []
        for slot in self.inputs:
            value = feeds[slot.name]
            if not is_on_device(value):
                array = slot.take(value)
            elif self.devices is None:
                raise _on_no_device("input", slot)
            else:
                array = self.devices.take(slot, value)
            self._bases.bind(slot.base, array)
            arrays.append(array)
        return arrays

    def _adopt(self, slot: Slot, value: object) -> Bound:
        if not is_on_device(value):
            return slot.adopt(value)
        if self.devices is None:
            raise _on_no_device("output", slot)
        return self.devices.adopt(slot, value)


def _on_no_device(role: str, slot: Slot) -> RunError:
    return RunError(
        f"{role} '{slot.name}' is on a GPU, the package has nothing for one: copy it to the host, "
        "or compile the model again with --target gpu"
    )
