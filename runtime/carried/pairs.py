"""Read which outputs of a session become inputs, and what these begin with; all by name."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import RunError
from ..slots import Slot, check_known, is_on_device, quote
from .growing import GrowingState
from .state import CarriedState, CreateBuffer, StatePair, zeros


def add_pairs(
    state: CarriedState,
    pairs: object,
    initial: object,
    ports: tuple[Sequence[Slot], Sequence[Slot]],
    create: CreateBuffer,
    updated: Mapping[str, str] = MappingProxyType({}),
) -> CarriedState:
    """Return a state with further pairs, given by name; raise RunError for those that do not fit.

    `ports` are all inputs and outputs of the session. `updated` has the inputs that a run updates
    in place, by the outputs that are their new values.
    """
    listed = _listed(pairs, *ports, state, updated)
    started = _initial(initial, listed)
    every, values = [*state.pairs, *listed], {**state.turn.inputs, **started}
    exchanged = [pair for pair in every if not pair.in_place]
    grows = any(map(_changes, (slot for p in exchanged for slot in (p.output, *p.inputs))))
    return (GrowingState if grows else CarriedState)(every, create, state.initial | started, values)


def _listed(
    pairs: object,
    inputs: Sequence[Slot],
    outputs: Sequence[Slot],
    state: CarriedState,
    updated: Mapping[str, str],
) -> list[StatePair]:
    """Return the ports of pairs that are given by name, all checked."""
    if not isinstance(pairs, Mapping):
        raise RunError(
            f"the pairs are of type {type(pairs).__name__}, must be a dictionary from outputs to "
            "inputs"
        )
    given = cast("Mapping[str, object]", pairs)
    check_known("output", given, outputs)
    bound = {slot.name: pair.output.name for pair in state.pairs for slot in pair.inputs}
    listed: list[StatePair] = []
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
        made = tuple(_input(output, name, inputs) for name in names)
        in_place = _check_updated(output, names, updated)
        listed.append(StatePair(output, made, in_place))
    return listed


def _check_updated(output: Slot, names: Sequence[str], updated: Mapping[str, str]) -> bool:
    """Return whether an output is the new value of the input that it becomes, in place.

    Raise RunError where it is that of another one.
    """
    for name in names:
        owner = next((made for made, taken in updated.items() if taken == name), output.name)
        if updated.get(output.name, name) != name or owner != output.name:
            raise RunError(
                f"output '{output.name}' cannot become input '{name}': '{owner}' is stored in "
                f"place of '{updated[owner]}'"
            )
    return output.name in updated


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
    if output.holds_text:
        raise RunError(f"{why}: it has text, which is not kept from run to run")
    slot = next((slot for slot in inputs if slot.name == name), None)
    if slot is None:
        raise RunError(f"{why}: the inputs are {quote(slot.name for slot in inputs)}")
    if not _fits(output, slot):
        raise RunError(
            f"{why}: it is {output.dtype}{_spell(output)}, must be {slot.dtype}{_spell(slot)}"
        )
    return slot


def _initial(initial: object, pairs: Sequence[StatePair]) -> dict[str, NDArray[Any]]:
    """Return what each input begins with: a copy of what is given by name, or zeros.

    Zeros that a run updates in place are left out: they have no memory before they are written.
    """
    slots = [slot for pair in pairs for slot in pair.inputs]
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
    for slot in slots:
        if slot.name not in given and _changes(slot):
            raise RunError(
                f"input '{slot.name}' has shape {_spell(slot)}, which may change: give by initial "
                "what it begins with"
            )
    updated = {slot.name for pair in pairs for slot in pair.inputs if pair.in_place}
    return {
        slot.name: owned(slot, given[slot.name]) if slot.name in given else zeros(slot)
        for slot in slots
        if slot.name in given or slot.name not in updated
    }


def _changes(slot: Slot) -> bool:
    """Return whether a size of a port may change from run to run: it is no number."""
    return any(type(size) is not int for size in slot.shape)


def _fits(output: Slot, slot: Slot) -> bool:
    """Return whether an output may become an input; each run checks sizes that may change."""
    return (output.dtype, len(output.shape)) == (slot.dtype, len(slot.shape)) and all(
        one == other or type(one) is not int or type(other) is not int
        for one, other in zip(output.shape, slot.shape, strict=True)
    )


def _spell(slot: Slot) -> str:
    return f"[{', '.join(map(str, slot.shape))}]"


def owned(slot: Slot, value: object) -> NDArray[Any]:
    """Return a copy of a value for an input, which must fit."""
    if is_on_device(value):
        raise RunError(f"the state of '{slot.name}' is given on a GPU: copy it to the host")
    return np.array(slot.take(value), order="C")
