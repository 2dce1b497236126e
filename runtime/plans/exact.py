"""The programs of a package for exact sizes, each with a session, made when it first runs."""

from collections.abc import Callable, Collection, Mapping, Sequence
from threading import Lock
from typing import Any, Generic, Self, TypeVar, TypeVarTuple

from ..carried.stateful import Stateful
from ..memory import Bases
from ..program import Program
from ..sizes.values import Shapes
from .fast_path import FastRun
from .plan_cache import Plans

S = TypeVar("S")
T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class ExactSessions(Generic[S]):
    """Find the session of the program for the shapes of all inputs.

    It is made by `open` when a run first needs it, and kept until `clear`.
    """

    def __init__(self, programs: Sequence[Program], open: Callable[[Program], S]) -> None:
        self._programs = {
            tuple(tuple(map(int, port.shape)) for port in each.package.manifest.inputs): each
            for each in programs
        }
        self._open = open
        self._opened: dict[Shapes, S] = {}

    def __bool__(self) -> bool:
        return bool(self._programs)

    @property
    def opened(self) -> Collection[tuple[Shapes, S]]:
        """Return the sessions that were made, with the shapes of their inputs."""
        return self._opened.items()

    def at(self, shapes: Shapes) -> S | None:
        """Return the session for shapes of inputs; None where there is no program for these."""
        if shapes not in self._opened and shapes in self._programs:
            self._opened[shapes] = self._open(self._programs[shapes])
        return self._opened.get(shapes)

    def clear(self) -> None:
        """Forget all sessions, and free their memory."""
        self._opened.clear()


class ExactRuns(Stateful):
    """Let a session run the programs for exact sizes, each in a session that belongs to it.

    These have memory of their own, and share the lock and the state of the session.
    """

    _busy: Lock
    _fast: FastRun | None
    _bases: Bases
    _plans: Plans | None
    _threads: int
    _exact: ExactSessions[Self]
    _program: Program
    _is_unchecked: bool

    def _start(self, program: Program, threads: int) -> None:
        raise NotImplementedError

    def _prepare_fast_run(self) -> None:
        raise NotImplementedError

    def _open_exact(self, program: Program) -> Self:
        """Return a session for exact sizes that belongs to this one."""
        program.check_weights()
        made = type(self).__new__(type(self))
        made._start(program, self._threads)
        made._follow(self)
        return made

    def _check_weights(self) -> None:
        """Compare the weights with their checksum before the first run; later runs may be fast."""
        self._program.check_weights()
        self._is_unchecked = False
        self._prepare_fast_run()

    def _follow(self, owner: Self) -> None:
        """Take lock and state from the session to which this one belongs."""
        self._busy, self._ports.carried = owner._busy, owner._ports.carried
        self._ports.kept = owner._ports.kept
        self._prepare_fast_run()
        if self._ports.carried.pairs:
            self._fast = None  # the sizes of arrays that are state may change

    def _share(self) -> None:
        """Give lock and state to the sessions that belong to this one."""
        for shapes, each in self._exact.opened:
            each._follow(self)
            if self._plans is not None:
                self._plans.exact[shapes] = each._run_fast

    def _run_fast(self, feeds: Any) -> dict[str, Any] | None:
        return None if self._fast is None else self._fast(feeds)

    def _choose(self, feeds: Mapping[str, object]) -> tuple[Mapping[str, object], Self | None]:
        """Return inputs as arrays, and the session for exactly their sizes, if there is one.

        Raises RunError where the package has no program for these sizes at all.
        """
        arrays, shapes = self._ports.shaped(feeds)
        exact = self._exact.at(shapes)
        if self._plans is not None:
            if exact is not None:
                self._plans.exact[shapes] = exact._run_fast
            elif self._plans.only_exact:
                self._plans.at(shapes)
        return arrays, exact

    def _release_after(self, work: Callable[[*Ts], T], *arguments: *Ts) -> T:
        """Do work for the session to which this one belongs: no other thread does meanwhile."""
        try:
            return work(*arguments)
        finally:
            self._bases.release()
