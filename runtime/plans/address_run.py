"""Run a session on memory of the caller, which only its address describes."""

import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..carried.state import CarriedState
from ..contents import ARENA, FIRST_PORT
from ..memory import Bases
from ..program import Program
from ..sizes.values import Shapes
from ..state import SessionState
from ..step import Run
from .plan import Plan
from .plan_cache import Plans
from .ports import Ports


class AddressRun(NamedTuple):
    """Hold a run at some sizes, and the shapes of the outputs in order.

    `run` takes the addresses of all inputs, then of all outputs, and returns whether it has run:
    it has not where the session is running in another thread. It checks nothing: memory must be
    contiguous, of the types and shapes of the ports, and outputs must overlap nothing.
    """

    run: Callable[[Sequence[int]], bool]
    outputs: Shapes


class AddressRuns:
    """Let a session run where nothing but the addresses of inputs and outputs changes."""

    _program: Program
    _memory: SessionState
    _bases: Bases
    _ports: Ports
    _plans: Plans | None
    _plan: Plan
    _busy: threading.Lock

    def address_run(self, shapes: Shapes) -> AddressRun | None:
        """Return the run at shapes of all inputs; None where steps need more than addresses.

        Waits for the end of a run in another thread. Raises RunError where shapes do not fit
        together or to the package.
        """
        if not self._needs_addresses_alone():
            return None
        self._program.check_weights()
        with self._busy:  # a plan may need a larger arena
            plan = self._plan if self._plans is None else self._plans.at(shapes)
        if plan.rest is not None:
            return None
        work = (self._bases, plan.steps, self._busy, plan.arenas.get(ARENA, 0))
        return AddressRun(_run(*work), tuple(plan.shapes))

    def _needs_addresses_alone(self) -> bool:
        carried: CarriedState = self._ports.carried
        manifest = self._program.package.manifest
        return (
            all(step.by_address for step in manifest.steps)
            and not self._program.copies_outputs
            and not self._program.exact
            and not self._memory.spaces
            and self._memory.strings is None
            and not carried.pairs
            and not self._ports.updated
            and not manifest.kept
        )


def _run(
    bases: Bases, steps: Sequence[Run], busy: threading.Lock, arena_bytes: int
) -> Callable[[Sequence[int]], bool]:
    arrays, pointers = bases.arrays, bases.pointers

    def run(addresses: Sequence[int]) -> bool:
        if not busy.acquire(False):
            return False
        try:
            if arena_bytes and arrays[ARENA].size < arena_bytes:
                return False
            pointers[FIRST_PORT : FIRST_PORT + len(addresses)] = addresses
            for step in steps:
                step()
            return True
        finally:
            busy.release()

    return run
