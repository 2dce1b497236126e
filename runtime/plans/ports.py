"""Bind the arrays of a run to the inputs and the outputs of a session."""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..carried.in_place import Span, overlapping
from ..carried.state import CarriedState
from ..contents import FIRST_PORT, Contents
from ..errors import RunError
from ..memory import Bases, Bound, address_of
from ..sizes.symbols import spelled_ports
from ..sizes.values import Shapes
from ..slots import Slot, by_name, check_known, is_on_device, overlap, shape_of, wrong_names
from ..strings import Strings
from .kept_values import KeptValues

if TYPE_CHECKING:
    from ..gpu.ports import DevicePorts
    from ..observe.selection import Selection


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
    has the arrays of inputs and outputs that are state. `strings` knows text, where there is any.
    `updated` has the inputs that a run updates in place, by the outputs that are their new values.
    With a `selection`, there are the ports of a part of a run.
    """

    def __init__(
        self,
        contents: Contents,
        bases: Bases,
        devices: "DevicePorts | None",
        strings: Strings | None = None,
        selection: "Selection | None" = None,
    ) -> None:
        ports = spelled_ports((*contents.inputs, *contents.outputs), contents.symbols)
        slots = tuple(map(Slot.of, ports, count(FIRST_PORT)))
        self.inputs = slots[: len(contents.inputs)]
        self.outputs = slots[len(contents.inputs) :]
        if selection is not None:
            named = {slot.name: slot for slot in reversed(slots)}
            self.inputs = tuple(named[name] for name in selection.inputs)
            self.outputs = tuple(named[name] for name in selection.outputs)
        self._bases = bases
        self.devices = devices
        self._strings = strings
        self.carried = CarriedState()
        self.updated = contents.updated
        self._updated_inputs = frozenset(contents.updated.values())
        self.kept = KeptValues(contents.kept if selection is None else ())

    @property
    def updated_inputs(self) -> frozenset[str]:
        """Return the names of the inputs that a run updates in place."""
        return self._updated_inputs

    @property
    def unreturned(self) -> frozenset[str]:
        """Return the names of the outputs that are state, which a run does not return."""
        return self.carried.outputs.union(self.updated)

    def take(self, given: Mapping[str, object]) -> list[Bound]:
        """Bind inputs, those that are state and not given to its arrays; return all arrays."""
        state, feeds = self.carried.turn.inputs, self._named(given)
        if self._strings is not None:
            self._strings.forget()
        arrays: list[Bound] = []
        for slot in self.inputs:
            value = feeds[slot.name]
            if type(value) is np.ndarray and value is state.get(slot.name):
                array = value
            elif slot.name in self._updated_inputs:
                array = slot.adopt(value, "input")
            elif not is_on_device(value):
                array = slot.take(value)
                if self._strings is not None and slot.holds_text:
                    array = self._strings.handles(array)
            elif self.devices is None:
                raise _on_no_device("input", slot)
            else:
                array = self.devices.take(slot, value)
            self._bases.bind(slot.base, array)
            arrays.append(array)
        if self._updated_inputs & given.keys():
            self._check_apart(arrays)
        return arrays

    def _check_apart(self, arrays: Sequence[Bound]) -> None:
        """Raise RunError where an input that is updated shares memory with another one."""
        spans: list[Span] = []
        for slot, array in zip(self.inputs, arrays, strict=True):
            if isinstance(array, np.ndarray):
                start = address_of(array)
                is_written = slot.name in self._updated_inputs
                spans.append((start, start + array.nbytes, is_written, slot.name))
        if found := overlapping(spans):
            raise RunError(
                f"input '{found[0]}' shares memory with input '{found[1]}', must not: a run "
                "updates one of them in place"
            )

    def shaped(self, given: Mapping[str, object]) -> tuple[dict[str, object], Shapes]:
        """Return inputs as arrays without those that are state, and the shapes of all of them."""
        feeds: dict[str, object] = {}
        shapes: list[tuple[int, ...]] = []
        state = self.carried.turn.inputs
        named = self._named(given)
        for slot in self.inputs:
            value = named[slot.name]
            if value is state.get(slot.name):
                shapes.append(state[slot.name].shape)
                continue
            if slot.name in self._updated_inputs:
                value = slot.adopt(value, "input")
            elif not is_on_device(value):
                value = slot.take(value)
            feeds[slot.name] = value
            shapes.append(shape_of(value))
        return feeds, tuple(shapes)

    def _named(self, given: Mapping[str, object]) -> Mapping[str, object]:
        """Return the values of all inputs by name, of those too that are state and not given."""
        state, feeds = self.carried.turn.inputs, by_name("feeds", given, self.inputs)
        feeds = {**state, **feeds} if state else feeds
        if len(feeds) != len(self.inputs) or any(s.name not in feeds for s in self.inputs):
            raise wrong_names(feeds, self.inputs)
        return feeds

    def give(
        self, outputs: Mapping[str, object], slots: Sequence[Slot], arrays: list[Bound]
    ) -> BoundRun:
        """Bind outputs to slots, those that are state to its arrays.

        New values of inputs that are updated in place are in the arrays of these. Others that are
        not in `outputs` are new numpy arrays. `arrays` are those of the inputs.
        """
        given = by_name("outputs", outputs, slots)
        check_known("output", given, slots)
        run = BoundRun({}, arrays, [])
        inputs = {slot.name: array for slot, array in zip(self.inputs, arrays, strict=False)}
        for slot in slots:
            if slot.name in self.updated:
                if slot.name in given:
                    target = self._given(slot, given[slot.name], run)
                    run.copies.append((target, inputs[self.updated[slot.name]]))
                continue
            array = self._state(slot) if slot.name in self.carried.outputs else None
            if slot.name in given:
                target = self._given(slot, given[slot.name], run)
                if array is None:
                    array = target
                else:
                    run.copies.append((target, array))
            elif array is None:
                array = run.results[slot.name] = slot.create()
            self._bases.bind(slot.base, array)
        return run

    def finish(self, results: dict[str, Any]) -> dict[str, Any]:
        """Return the results of a run, text as arrays of Python strings; advance what is state.

        Values that are kept are no results.
        """
        self.carried.advance()
        if self._strings is not None:
            text = (slot.name for slot in self.outputs if slot.holds_text and slot.name in results)
            results |= {name: self._strings.texts(results[name]) for name in text}
        return self.kept.take(results)

    def _given(self, slot: Slot, value: object, run: BoundRun) -> Bound:
        """Take an array of the caller for an output."""
        array = self._adopt(slot, value)
        if overlap(array, run.arrays):
            raise RunError(f"output '{slot.name}' shares memory with an input or an output")
        run.arrays.append(array)
        run.results[slot.name] = value
        return array

    def _state(self, slot: Slot) -> Bound:
        """Return the array that a run writes an output to which is state."""
        value = self.carried.target(slot)
        return value if isinstance(value, np.ndarray) else self._adopt(slot, value)

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
