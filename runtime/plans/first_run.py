"""Run a session at sizes of which nothing is prepared, at little cost beside that of the plan."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

from numpy import empty, ndarray
from numpy.typing import NDArray

from ..carried.in_place import overlap_test
from ..contents import FIRST_PORT
from ..errors import RunError
from ..memory import Bases, address_of
from ..sizes.values import Shapes
from ..slots import Slot
from .fast_path import FastRun
from .plan import Plan
from .ports import Ports


def first_run(
    ports: Ports,
    outputs: Sequence[Slot],
    bases: Bases,
    plan_at: Callable[[Shapes], Plan],
    busy: threading.Lock,
) -> FastRun:
    """Return a function from feeds to new outputs that asks for the plan of their shapes.

    `outputs` are those whose sizes follow from the inputs. State of the `ports` is neither fed nor
    returned, and may have other sizes in each run. As `fast_run`, the function leaves to others
    what is not simple, and all errors before any step.
    """
    inputs, carried, updated = ports.inputs, ports.carried, ports.updated_inputs
    numbers = {slot.name: number for number, slot in enumerate(inputs)}
    read = [numbers[slot.name] for slot in carried.slots]
    wanted = tuple(
        (number, slot.base, slot.name, len(slot.shape), slot.dtype, slot.name in updated)
        for number, slot in enumerate(inputs)
        if number not in read
    )
    fed = [slot for number, slot in enumerate(inputs) if number not in read]
    overlaps = overlap_test(fed, updated)
    made = tuple(
        (number, slot.base, slot.name, slot.dtype)
        for number, slot in enumerate(outputs)
        if slot.name not in ports.unreturned
    )
    numbers = {slot.name: number for number, slot in enumerate(outputs)}
    written = [numbers[pair.output.name] for pair in carried.exchanged]
    blank: list[tuple[int, ...]] = [()] * len(inputs)
    arrays, pointers, unbound = bases.arrays, bases.pointers, bases.arrays[FIRST_PORT:]

    def run(given: Any) -> dict[str, NDArray[Any]] | None:
        feeds: dict[str, object] = given
        if type(given) is not dict or len(feeds) != len(wanted) or not busy.acquire(False):
            return None
        try:
            shapes = blank.copy()
            if read:
                for number, shape in zip(read, carried.shapes, strict=True):
                    shapes[number] = shape
            for number, base, name, rank, dtype, is_updated in wanted:
                array = feeds.get(name)
                if type(array) is not ndarray or array.ndim != rank:
                    return None
                flags, known = array.flags, array.dtype
                if not (flags.c_contiguous and flags.aligned) or (
                    known is not dtype and known != dtype
                ):
                    return None
                if is_updated and not flags.writeable:
                    return None
                shapes[number] = array.shape
                arrays[base] = array
                pointers[base] = address_of(array)
            if overlaps is not None and overlaps(arrays, pointers):
                return None
            results: dict[str, NDArray[Any]] = {}
            try:
                plan = plan_at(tuple(shapes))
                kept, sizes = plan.shapes, plan.sizes
                bound = carried.bind([kept[i] for i in written], [sizes[i] for i in written])
                for base, array, address in bound:
                    arrays[base] = array
                    pointers[base] = address
                for number, base, name, dtype in made:
                    results[name] = arrays[base] = array = empty(kept[number], dtype)
                    pointers[base] = address_of(array)
            except (RunError, MemoryError):
                return None
            for step in plan.steps:
                step()
            if plan.rest is not None:
                results = plan.rest(results)
            carried.advance()
            return results
        finally:
            arrays[FIRST_PORT:] = unbound
            busy.release()

    return run
