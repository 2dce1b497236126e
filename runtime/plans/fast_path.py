"""Run a session at the least cost per call, where each feed is used in place."""

import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from numpy import empty, ndarray
from numpy.typing import NDArray

from ..carried.in_place import overlap_test
from ..contents import ARENA, FIRST_PORT
from ..memory import Bases, address_of
from ..slots import Slot
from .ports import Ports

FastRun: TypeAlias = Callable[[Any], dict[str, NDArray[Any]] | None]


def fast_run(
    ports: Ports,
    inputs: Sequence[Slot],
    outputs: Sequence[Slot],
    bases: Bases,
    steps: Sequence[Callable[[], None]],
    busy: threading.Lock,
    arena_bytes: int = 0,
) -> FastRun:
    """Return a function from feeds to new outputs that only binds arrays and runs `steps`.

    State of the `ports` is neither fed nor returned, nor are new values of inputs in place.

    The function returns None, before any step, unless the feeds are a dict of exactly one numpy
    array for each input, of its shape and type, aligned and contiguous, `busy` is free, and the
    arena has `arena_bytes`. What is updated in place must be writable, and apart from all others.
    All else is left to `Slot.take`: conversions, copies and errors.
    """
    carried = ports.carried
    # Tuples of locals, because a call takes no more than a few hundred bytecodes.
    fed = [slot for slot in inputs if slot.name not in carried.turn.inputs]
    updated = ports.updated_inputs
    wanted = tuple((s.base, s.name, s.shape, s.dtype, s.name in updated) for s in fed)
    made = tuple(
        (slot.base, slot.name, slot.shape, slot.dtype)
        for slot in outputs
        if slot.name not in ports.unreturned
    )
    overlaps = overlap_test(fed, updated)
    count, state = len(wanted), carried if carried.pairs else None
    arrays, pointers, unbound = bases.arrays, bases.pointers, bases.arrays[FIRST_PORT:]

    def run(given: Any) -> dict[str, NDArray[Any]] | None:
        feeds: dict[str, object] = given
        if type(given) is not dict or len(feeds) != count or not busy.acquire(False):
            return None
        try:
            if arena_bytes and arrays[ARENA].size < arena_bytes:
                return None
            for base, name, shape, dtype, is_updated in wanted:
                array = feeds.get(name)
                if type(array) is not ndarray or array.shape != shape or array.dtype != dtype:
                    return None
                flags = array.flags
                if not (flags.c_contiguous and flags.aligned):
                    return None
                if is_updated and not flags.writeable:
                    return None
                arrays[base] = array
                pointers[base] = address_of(array)
            if overlaps is not None and overlaps(arrays, pointers):
                return None
            if state is not None:
                for base, array, address in state.turn.bindings:
                    arrays[base] = array
                    pointers[base] = address
            results: dict[str, NDArray[Any]] = {}
            try:
                for base, name, shape, dtype in made:
                    results[name] = arrays[base] = array = empty(shape, dtype)
                    pointers[base] = address_of(array)
            except MemoryError:
                return None
            for step in steps:
                step()
            if state is not None:
                state.advance()
            return results
        finally:
            arrays[FIRST_PORT:] = unbound
            busy.release()

    return run
