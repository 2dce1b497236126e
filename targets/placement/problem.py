"""The placement problem: a graph of ops, and what each target would make of them. No MLIR."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ..memory.space import CopyCost


@dataclass(frozen=True)
class PlacementProblem:
    """Describe the ops of a function, by number, in an order in which they can run.

    `operands` are the ops whose results an op reads, directly or through views; `result_bytes` is
    the size of its results. `accepts` and `seconds` are asked by op and by number of a target,
    whose memory spaces and costs of copies are `spaces` and `copies`.
    """

    operands: Sequence[Sequence[int]]
    result_bytes: Sequence[int]
    spaces: Sequence[str]
    copies: Sequence[CopyCost]
    accepts: Callable[[int, int], bool]
    seconds: Callable[[int, int], float]

    def accepting(self, op: int) -> list[int]:
        """List the targets that accept an op, in the order in which the user gave them."""
        return [target for target in range(len(self.spaces)) if self.accepts(op, target)]

    def copy_seconds(self, producer: int, source: int, target: int) -> float:
        """Return how long it takes to copy the results of an op from one target to another."""
        if self.spaces[source] == self.spaces[target]:
            return 0.0
        size = self.result_bytes[producer]
        return self.copies[source].seconds(size) + self.copies[target].seconds(size)

    def users(self) -> list[list[int]]:
        """List for each op those that read its results."""
        found: list[list[int]] = [[] for _ in self.operands]
        for op, read in enumerate(self.operands):
            for operand in read:
                found[operand].append(op)
        return found

    def seconds_of(
        self, ops: Iterable[int], targets: Sequence[int], users: Sequence[Sequence[int]]
    ) -> float:
        """Return what ops cost in a placement: their time, and a copy to each memory of a user."""
        total = 0.0
        for op in ops:
            readers = {self.spaces[targets[user]]: targets[user] for user in users[op]}
            total += self.seconds(op, targets[op])
            total += sum(self.copy_seconds(op, targets[op], target) for target in readers.values())
        return total


def part_levels(
    operands: Sequence[Sequence[int]], targets: Sequence[int], given: Sequence[bool]
) -> list[int]:
    """Return a level for each op such that ops of one target and level form a part.

    A part never depends on a part of its own level, or on itself by way of another: the level of
    an op is at least that of its operands, and above it where these are on another target. What
    depends on no op that is `given` more than constants is where it is read first.
    """
    levels: list[int] = []
    constant: list[bool] = []
    for op, read in enumerate(operands):
        levels.append(max((levels[o] + (targets[o] != targets[op]) for o in read), default=0))
        constant.append(not given[op] and all(constant[o] for o in read))
    readers: list[list[int]] = [[] for _ in operands]
    for op, read in enumerate(operands):
        for operand in read:
            readers[operand].append(op)
    for op in reversed(range(len(operands))):
        if constant[op] and readers[op]:
            latest = (levels[r] - (targets[r] != targets[op]) for r in readers[op])
            levels[op] = max(levels[op], min(latest))
    return levels
