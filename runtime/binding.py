"""Bind steps that follow one another to the state of a session, and the bodies of steps."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias, cast

from .contents import PROCESS, Contents
from .state import SessionState
from .step import Bind, Find, Run, SizedRun, Step

Schedule: TypeAlias = Sequence[int | str]
"""The numbers of steps, and between them the names of queues that are waited for."""


def schedule(contents: Contents, steps: Sequence[Step]) -> tuple[list[int | str], str]:
    """Return the order of steps and of waits for the queues of devices, and the last queue."""
    order: list[int | str] = []
    busy = PROCESS
    for number, step in enumerate(steps):
        queue = step.queue(contents)
        if busy not in (PROCESS, queue):
            order.append(busy)
        busy = queue
        order.append(number)
    return order, busy


def bind_steps(
    contents: Contents, steps: Sequence[Step], binds: Sequence[Bind], state: SessionState
) -> tuple[list[Run], str]:
    """Return what doing steps calls, with waits for the queues of devices, and the last queue."""
    order, busy = schedule(contents, steps)
    return _bound(contents, steps, order, binds, state), busy


def _whole(contents: Contents, steps: Sequence[Step]) -> Schedule:
    """Return the order of steps, with a wait for the last queue."""
    order, busy = schedule(contents, steps)
    return order if busy == PROCESS else [*order, busy]


def _bound(
    contents: Contents,
    steps: Sequence[Step],
    order: Schedule,
    binds: Sequence[Bind],
    state: SessionState,
) -> list[Run]:
    return [
        state.spaces[each].synchronize
        if isinstance(each, str)
        else bind_step(contents, steps[each], binds[each], state)
        for each in order
    ]


def bind_step(contents: Contents, step: Step, bind: Bind, state: SessionState) -> Run:
    """Return what does a step; it is watched where the state has an observer."""
    run = bind(state)
    if state.observer is None or step.finds:
        return run
    return state.observer.watch(contents, state.spaces, step, run)


def finds_sizes(steps: Sequence[Step]) -> bool:
    """Return whether sizes change between the begin of a body and its end."""
    return any(step.finds for step in steps)


BodyRun = Callable[[], SessionState]
"""Do a body once; return the state in which the sizes of all that it makes are known."""


class ReboundBody(Protocol):
    """Do a body, in one state of a session after the other."""

    def enter(self, state: SessionState) -> None:
        """Bind the body to another state."""
        ...

    def __call__(self) -> SessionState:
        """Do the body once, as a `BodyRun`."""
        ...


def body_run(
    contents: Contents, steps: Sequence[Step], binds: Sequence[Bind], state: SessionState
) -> ReboundBody:
    """Return what does a body in a state: steps that find sizes change it for those that follow."""
    kind = FindingBody if finds_sizes(steps) else SizedBody
    return kind(contents, steps, binds, state)


class SizedBody:
    """Do a body in which no step finds sizes: steps stay bound where only sizes are others."""

    def __init__(
        self, contents: Contents, steps: Sequence[Step], binds: Sequence[Bind], state: SessionState
    ) -> None:
        self._contents = contents
        self._steps = steps
        self._binds = binds
        self._order = _whole(contents, steps)
        self._runs = _bound(contents, steps, self._order, binds, state)
        self._state = state

    def enter(self, state: SessionState) -> None:
        self._state = state
        for place, each in enumerate(self._order):
            if not isinstance(each, str):
                bound = self._contents, self._steps[each], self._binds[each], state
                self._runs[place] = _rebound(self._runs[place], *bound)

    def __call__(self) -> SessionState:
        for run in self._runs:
            run()
        return self._state


def _rebound(
    run: Run | None, contents: Contents, step: Step, bind: Bind, state: SessionState
) -> Run:
    """Return what does a step in a state: the same as before where only its sizes are others."""
    if not isinstance(run, SizedRun):
        return bind_step(contents, step, bind, state)
    run.resize(state)
    return run


class FindingBody:
    """Do a body in which steps find sizes: each step is bound, or gets sizes, when it runs."""

    def __init__(
        self, contents: Contents, steps: Sequence[Step], binds: Sequence[Bind], state: SessionState
    ) -> None:
        self._contents = contents
        self._steps = steps
        self._binds = binds
        self._runs: list[Run | None] = [None] * len(steps)
        self._state = state

    def enter(self, state: SessionState) -> None:
        self._state = state

    def __call__(self) -> SessionState:
        now = self._state
        for number, step in enumerate(self._steps):
            bound = self._contents, step, self._binds[number], now
            made = self._runs[number] = _rebound(self._runs[number], *bound)
            if not step.finds:
                made()
                continue
            sizes, store = cast("Find", made)()
            now = now.enter(sizes, step.nodes)
            store(now)
        return now
