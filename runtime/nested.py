"""Steps inside of a step: the bodies of branches and loops, and the copies at their ends."""

import ctypes
from collections.abc import Callable, Collection, Sequence

from .binding import finds_sizes
from .contents import PROCESS, Buffer, Contents
from .errors import PackageError, RunError
from .frozen import Frozen
from .memory import Bases
from .state import SessionState
from .step import Step


class Move(Frozen):
    """Copy the bytes of the buffer `source` to the buffer `target`."""

    source: int
    target: int


class Body(Frozen):
    """Hold what a body does: its steps, then its moves; `fault` is why it cannot do any."""

    steps: tuple[Step, ...] = ()
    moves: tuple[Move, ...] = ()
    fault: str = ""


def check_moves(
    moves: Sequence[Move], contents: Contents, where: str, found: Collection[int] = ()
) -> None:
    """Raise PackageError unless moves are between buffers of the process of the same size.

    Those of `found` have sizes that are known in a run alone.
    """
    for i, move in enumerate(moves):
        source = checked_buffer(move.source, contents, f"{where}[{i}].source")
        target = written_buffer(move.target, contents, f"{where}[{i}].target")
        if source.size_bytes != target.size_bytes and move.target not in found:
            sizes = f"{source.size_bytes} and {target.size_bytes}"
            raise PackageError(f"'{where}[{i}]' moves buffers of {sizes} bytes, must be as large")


def check_ranks(buffers: Sequence[int], contents: Contents, where: str) -> None:
    """Raise PackageError unless buffers, whose sizes may differ, are of one rank."""
    ranks = [len(contents.buffers[index].shape) for index in buffers]
    if len({*ranks}) > 1:
        raise PackageError(f"'{where}' has buffers of {ranks} axes, must have as many")


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


Spans = list[tuple[int, int, int]]
"""Where bytes are copied to, where they are copied from, and how many they are."""


def check_sizes(
    sources_in: Bases,
    moves: Sequence[Move],
    targets_in: Bases | None = None,
    *,
    sources: int = 1,
    targets: int = 1,
) -> None:
    """Raise RunError unless sources are as large as targets at the sizes of a run.

    Or so many times as large as others: `check_moves` knew the likely sizes alone.
    """
    for move in moves:
        source = sources_in.size_bytes(move.source)
        target = (targets_in or sources_in).size_bytes(move.target)
        if source * targets != target * sources:
            raise RunError(f"{source} bytes are moved to a buffer of {target}")


def locate(
    sources: Bases, moves: Sequence[Move], targets: Bases | None = None
) -> Callable[[], Spans]:
    """Return a function that says what moves copy in the memory of the current run.

    Of two sizes, it is the smaller one.
    """
    targets = sources if targets is None else targets
    located = [
        (targets.locator(move.target), sources.locator(move.source), size)
        for move in moves
        if (size := min(sources.size_bytes(move.source), targets.size_bytes(move.target)))
    ]
    return lambda: [(target(), source(), size) for target, source, size in located]


def spans_of(moves: Sequence[Move], sources: Bases, targets: Bases) -> Spans:
    """Return what moves copy now, from memory in one state to that in another.

    Raises RunError for buffers of other sizes than those that they are copied to.
    """
    check_sizes(sources, moves, targets)
    return locate(sources, moves, targets)()


def mover(body: Body, state: SessionState) -> Callable[[SessionState], None]:
    """Return what does the moves of a body, given the state at its end."""
    if finds_sizes(body.steps):
        return lambda end: copy_spans(spans_of(body.moves, end.bases, state.bases))
    check_sizes(state.bases, body.moves)
    located = locate(state.bases, body.moves)
    return lambda end: copy_spans(located())


def copy_spans(spans: Spans) -> None:
    """Copy all spans, one after the other."""
    for target, source, size in spans:
        ctypes.memmove(target, source, size)
