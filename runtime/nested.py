"""Steps inside of a step: the bodies of branches and loops, and the copies at their ends."""

import ctypes
from collections.abc import Callable, Sequence

from .contents import PROCESS, Buffer, Contents
from .errors import PackageError, RunError
from .frozen import Frozen
from .memory import Bases
from .state import SessionState
from .step import Bind, Run, Step


class Move(Frozen):
    """Copy the bytes of the buffer `source` to the buffer `target`."""

    source: int
    target: int


class Body(Frozen):
    """Hold what a body does: its steps, then its moves; `fault` is why it cannot do any."""

    steps: tuple[Step, ...] = ()
    moves: tuple[Move, ...] = ()
    fault: str = ""


def check_moves(moves: Sequence[Move], contents: Contents, where: str) -> None:
    """Raise PackageError unless moves are between buffers of the process of the same size."""
    for i, move in enumerate(moves):
        source = checked_buffer(move.source, contents, f"{where}[{i}].source")
        target = written_buffer(move.target, contents, f"{where}[{i}].target")
        if source.size_bytes != target.size_bytes:
            sizes = f"{source.size_bytes} and {target.size_bytes}"
            raise PackageError(f"'{where}[{i}]' moves buffers of {sizes} bytes, must be as large")


def check_elements(
    moves: Sequence[Move], contents: Contents, count: int, where: str, *, whole: str
) -> None:
    """Raise PackageError unless the `whole` buffer of each move has `count` times the other."""
    for i, move in enumerate(moves):
        source = checked_buffer(move.source, contents, f"{where}[{i}].source")
        target = written_buffer(move.target, contents, f"{where}[{i}].target")
        large, small = (source, target) if whole == "source" else (target, source)
        if large.size_bytes != count * small.size_bytes:
            raise PackageError(
                f"'{where}[{i}].{whole}' has {large.size_bytes} bytes, must have {count} times "
                f"{small.size_bytes}"
            )


def written_buffer(index: int, contents: Contents, where: str) -> Buffer:
    """Return a buffer of the process that steps may write; raise PackageError for others."""
    buffer = checked_buffer(index, contents, where)
    if not contents.is_written(buffer.base):
        raise PackageError(f"'{where}' is {index}, which would overwrite an input or the weights")
    return buffer


def checked_buffer(index: int, contents: Contents, where: str) -> Buffer:
    """Return a buffer of the process by its number; raise PackageError for others."""
    count = len(contents.buffers)
    if not 0 <= index < count:
        raise PackageError(f"'{where}' is {index}, must be at least 0 and below {count}")
    space = contents.space_of(contents.buffers[index].base)
    if space != PROCESS:
        raise PackageError(f"'{where}' is {index}, which is in memory '{space}', must be in 'host'")
    return contents.buffers[index]


def bind_steps(
    contents: Contents, steps: Sequence[Step], binds: Sequence[Bind], state: SessionState
) -> tuple[list[Run], str]:
    """Return what doing steps calls, with waits for the queues of devices, and the last queue."""
    bound: list[Run] = []
    busy = PROCESS
    for step, bind in zip(steps, binds, strict=True):
        queue = step.queue(contents)
        if busy not in (PROCESS, queue):
            bound.append(state.spaces[busy].synchronize)
        busy = queue
        bound.append(bind(state))
    return bound, busy


def bind_body(
    contents: Contents, steps: Sequence[Step], binds: Sequence[Bind], state: SessionState
) -> list[Run]:
    """Return what a body calls; at its end all of it is done."""
    bound, busy = bind_steps(contents, steps, binds, state)
    return bound if busy == PROCESS else [*bound, state.spaces[busy].synchronize]


Spans = list[tuple[int, int, int]]
"""Where bytes are copied to, where they are copied from, and how many they are."""


def check_sizes(bases: Bases, moves: Sequence[Move], *, sources: int = 1, targets: int = 1) -> None:
    """Raise RunError unless sources are as large as targets at the sizes of a run.

    Or so many times as large as others: `check_moves` knew the likely sizes alone.
    """
    for move in moves:
        source, target = bases.size_bytes(move.source), bases.size_bytes(move.target)
        if source * targets != target * sources:
            raise RunError(f"{source} bytes are moved to a buffer of {target}")


def locate(bases: Bases, moves: Sequence[Move]) -> Callable[[], Spans]:
    """Return a function that says what moves copy in the memory of the current run.

    Of two sizes, it is the smaller one.
    """
    located = [
        (bases.locator(move.target), bases.locator(move.source), size)
        for move in moves
        if (size := min(bases.size_bytes(move.source), bases.size_bytes(move.target)))
    ]
    return lambda: [(target(), source(), size) for target, source, size in located]


def copy_spans(spans: Spans) -> None:
    """Copy all spans, one after the other."""
    for target, source, size in spans:
        ctypes.memmove(target, source, size)
