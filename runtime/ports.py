"""Bind the arrays of a run to the inputs and the outputs of a session."""

from collections.abc import Mapping
from itertools import count
from typing import TYPE_CHECKING, Any

from .contents import FIRST_PORT, Contents
from .errors import RunError
from .memory import Bases, Bound
from .slots import Slot, by_name, check_known, is_on_device, overlap, wrong_names

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
        slots = tuple(map(Slot.of, (*contents.inputs, *contents.outputs), count(FIRST_PORT)))
        self.inputs = slots[: len(contents.inputs)]
        self.outputs = slots[len(contents.inputs) :]
        self._bases = bases
        self.devices = devices

    def bind(
        self, feeds: Mapping[str, object], outputs: Mapping[str, object]
    ) -> tuple[dict[str, Any], list[Bound]]:
        """Bind inputs and outputs; return the outputs by name, and the arrays that are bound.

        Outputs that are not in `outputs` are new numpy arrays.
        """
        given = by_name("outputs", outputs, self.outputs)
        arrays = self._take(by_name("feeds", feeds, self.inputs))
        if not given:
            results = {slot.name: slot.create() for slot in self.outputs}
            for slot in self.outputs:
                self._bases.bind(slot.base, results[slot.name])
            return results, arrays
        check_known("output", given, self.outputs)
        results: dict[str, Any] = {}
        for slot in self.outputs:
            results[slot.name] = given[slot.name] if slot.name in given else slot.create()
            array = self._adopt(slot, results[slot.name])
            if overlap(array, arrays):
                raise RunError(f"output '{slot.name}' shares memory with an input or an output")
            self._bases.bind(slot.base, array)
            arrays.append(array)
        return results, arrays

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
