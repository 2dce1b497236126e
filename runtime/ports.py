"""Bind the arrays of a run to the inputs and the outputs of a session."""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from .contents import FIRST_PORT, Contents
from .errors import RunError
from .memory import Bases, Bound
from .slots import Slot, by_name, check_known, is_on_device, overlap, wrong_names
from .symbols import spelled_ports

if TYPE_CHECKING:
    from .gpu.ports import DevicePorts


class Ports:
    """Know the inputs and the outputs of a session, and bind the arrays of each run to them.

    `devices` takes arrays that are on a GPU, None where the package has nothing for one.
    """

    def __init__(
        self,
        contents: Contents,
        bases: Bases,
        devices: "DevicePorts | None",
    ) -> None:
        ports = spelled_ports((*contents.inputs, *contents.outputs), contents.symbols)
        slots = tuple(map(Slot.of, ports, count(FIRST_PORT)))
        self.inputs = slots[: len(contents.inputs)]
        self.outputs = slots[len(contents.inputs) :]
        self._bases = bases
        self.devices = devices

    def give(
        self, outputs: Mapping[str, object], slots: Sequence[Slot], arrays: Sequence[Bound]
    ) -> tuple[dict[str, Any], list[Bound]]:
        """Bind outputs to slots; return them by name, and all arrays that are bound.

        Those that are not in `outputs` are new numpy arrays. `arrays` are those of the inputs.
        """
        given = by_name("outputs", outputs, slots)
        if not given:
            results = {slot.name: slot.create() for slot in slots}
            for slot in slots:
                self._bases.bind(slot.base, results[slot.name])
            return results, list(arrays)
        check_known("output", given, slots)
        arrays = list(arrays)
        results: dict[str, Any] = {}
        for slot in slots:
            results[slot.name] = given[slot.name] if slot.name in given else slot.create()
            array = self._adopt(slot, results[slot.name])
            if overlap(array, arrays):
                raise RunError(f"output '{slot.name}' shares memory with an input or an output")
            self._bases.bind(slot.base, array)
            arrays.append(array)
        return results, arrays

    def take(self, given: Mapping[str, object]) -> list[Bound]:
        """Bind inputs; return the arrays that are bound."""
        feeds = by_name("feeds", given, self.inputs)
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
