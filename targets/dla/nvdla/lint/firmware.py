"""Replay how the firmware starts operations: by counting notifications.

An engine has a queue, in which each operation names the next, and two groups of registers, so that
one operation is programmed while the one before runs. A programmed operation is enabled when
`dependency_count` notifications have arrived. One that is fed on the fly is enabled before the one
that feeds it, and both run as one.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..format.dla_task import Operation
from ..format.network import ENGINES, Event, Storage
from ..format.operations import CONV, PDP, SDP, BdmaSurface, Surface

_REGISTER_GROUPS = 2
_FLY = ((CONV, SDP), (SDP, PDP))
"""The engines that hand results to one another."""


@dataclass(frozen=True)
class Replay:
    """The operations in the order in which they run, those that run as one together.

    `waiting` has the number of notifications that each of the others still waits for.
    """

    chains: tuple[tuple[int, ...], ...]
    waiting: dict[int, int]


def is_fed(surface: Surface) -> bool:
    """Report whether an operation gets its data from another engine."""
    return not isinstance(surface, BdmaSurface) and surface.source.storage == Storage.ON_THE_FLY


def feeds(surface: Surface) -> bool:
    """Report whether an operation hands its result to another engine."""
    if isinstance(surface, BdmaSurface):
        return False
    return surface.destination.storage == Storage.ON_THE_FLY


def notifications(operations: Sequence[Operation]) -> Counter[int]:
    """Count the notifications that each operation gets, which its `dependency_count` must be."""
    found: Counter[int] = Counter()
    for each in operations:
        found.update(c.operation for c in each.dependency.consumers if c.operation != -1)
        parent = each.dependency.fused_parent
        if parent.operation != -1:
            found[parent.operation] += 1
    return found


def indices_fault(operations: Sequence[Operation], heads: Sequence[int]) -> str | None:
    """Explain which index of an operation is out of range or of another engine, None if none is."""
    count = len(operations)
    for engine, head in enumerate(heads):
        if head != -1 and not (0 <= head < count and operations[head].engine == engine):
            return f"the head of engine {engine} is operation {head}, must be one of that engine"
    for each in operations:
        for engine, consumer in enumerate(each.dependency.consumers):
            number = consumer.operation
            if number != -1 and not (0 <= number < count and operations[number].engine == engine):
                return f"{each} notifies operation {number}, must be one of engine {engine}"
        parent = each.dependency.fused_parent.operation
        if parent != -1 and not 0 <= parent < count:
            return f"{each} has parent {parent}, must be one of {count} operations"
    return None


def replay(operations: Sequence[Operation], heads: Sequence[int]) -> Replay:
    """Return in which order operations run; `indices_fault` must have found nothing."""
    return _Firmware(operations, heads).run()


@dataclass
class _Queue:
    """An engine: the operation to program next, and those that are programmed but not done."""

    following: int
    programmed: list[int] = field(default_factory=list[int])


class _Firmware:
    def __init__(self, operations: Sequence[Operation], heads: Sequence[int]) -> None:
        self.operations = operations
        self.left = [each.dependency.dependency_count for each in operations]
        self.queues = [_Queue(heads[engine]) for engine in range(ENGINES)]
        self.seen: set[int] = set()
        self.enabled: set[int] = set()
        self.chains: list[tuple[int, ...]] = []
        parents = [each.dependency.fused_parent.operation for each in operations]
        self.children = {parent: i for i, parent in enumerate(parents) if parent != -1}

    def run(self) -> Replay:
        while any([self._program(), self._enable(), self._complete()]):
            pass
        done = {number for chain in self.chains for number in chain}
        rest = {i: self.left[i] for i in range(len(self.operations)) if i not in done}
        return Replay(tuple(self.chains), rest)

    def _program(self) -> bool:
        """Program the next operation of each engine that has a free group of registers."""
        changed = False
        for engine, queue in enumerate(self.queues):
            number = queue.following
            if number == -1 or number in self.seen or len(queue.programmed) == _REGISTER_GROUPS:
                continue
            self.seen.add(number)
            queue.programmed.append(number)
            queue.following = self.operations[number].dependency.consumers[engine].operation
            self._notify(number, Event.PROGRAMMED)
            changed = True
        return changed

    def _enable(self) -> bool:
        programmed = [number for queue in self.queues for number in queue.programmed]
        ready = [n for n in programmed if self.left[n] <= 0 and n not in self.enabled]
        for number in ready:
            self.enabled.add(number)
            self._notify(number, Event.ENABLED)
            parent = self.operations[number].dependency.fused_parent
            if parent.operation != -1 and parent.event == Event.ENABLED:
                self.left[parent.operation] -= 1
        return bool(ready)

    def _complete(self) -> bool:
        """Run the first operation of an engine's queue, with those that it feeds."""
        first = {queue.programmed[0] for queue in self.queues if queue.programmed}
        for number in sorted(first & self.enabled):
            chain = self._chain(number)
            if is_fed(self.operations[number].surface) or not chain:
                continue
            if all(each in first and each in self.enabled for each in chain):
                self._finish(chain)
                return True
        return False

    def _chain(self, number: int) -> tuple[int, ...]:
        """Return an operation and those that it feeds, nothing if one is missing."""
        chain = [number]
        while feeds(self.operations[chain[-1]].surface):
            child = self.children.get(chain[-1])
            if child is None or not self._hands_on(chain[-1], child):
                return ()
            chain.append(child)
        return tuple(chain)

    def _hands_on(self, number: int, child: int) -> bool:
        """Report whether an operation can feed another one on the fly."""
        parent, fed = self.operations[number], self.operations[child]
        return (parent.engine, fed.engine) in _FLY and is_fed(fed.surface)

    def _finish(self, chain: tuple[int, ...]) -> None:
        self.chains.append(chain)
        for number in chain:
            self.queues[self.operations[number].engine].programmed.remove(number)
        for number in chain:
            for event in (Event.WEIGHTS_LOADED, Event.DATA_LOADED, Event.COMPLETED):
                self._notify(number, event)

    def _notify(self, number: int, event: Event) -> None:
        for consumer in self.operations[number].dependency.consumers:
            if consumer.operation != -1 and consumer.event == event:
                self.left[consumer.operation] -= 1
