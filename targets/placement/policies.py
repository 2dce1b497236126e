"""Placement policies: which of the targets that accept an op runs it."""

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from operator import index
from typing import ClassVar, Protocol, SupportsIndex, cast

from ...dialects.core.errors import CompileError
from .problem import PlacementProblem

ENGINE_ORDER = "engine-order"

MOST_ROUNDS = 8
"""How often the cost policy looks at all ops again."""


class PlacementPolicy(Protocol):
    """Choose a target for each op; made without arguments."""

    def place(self, problem: PlacementProblem, /) -> Sequence[int]:
        """Return the number of a target that accepts it for each op that any target accepts.

        For an op that none accepts, return 0: it is refused afterwards.
        """
        ...


class _Named:
    """Base of the policies that have a name of their own."""

    name: ClassVar[str] = ""


class EngineOrder(_Named):
    """Run each op on the first target that accepts it."""

    name: ClassVar[str] = ENGINE_ORDER

    def place(self, problem: PlacementProblem, /) -> Sequence[int]:
        ops = range(len(problem.operands))
        return [next(iter(_accepting(problem, op)), 0) for op in ops]


class SingleTarget(_Named):
    """Run all ops on the first target; an op that it refuses is an error."""

    name: ClassVar[str] = "single"

    def place(self, problem: PlacementProblem, /) -> Sequence[int]:
        return [0] * len(problem.operands)


class CostBased(_Named):
    """Minimise the time of all ops, as targets estimate it, and of the copies between them.

    It begins with the fastest target for each op, then moves single ops, and whole connected sets
    of ops on one target, as long as that makes the total smaller.
    """

    name: ClassVar[str] = "cost"

    def place(self, problem: PlacementProblem, /) -> Sequence[int]:
        choices = [problem.accepting(op) or [0] for op in range(len(problem.operands))]
        placed = [
            min(choice, key=lambda target, op=op: problem.seconds(op, target))
            for op, choice in enumerate(choices)
        ]
        users = problem.users()
        for _ in range(MOST_ROUNDS):
            sets = [*_connected(problem, placed), *([op] for op in range(len(placed)))]
            if not any([_improve(problem, choices, placed, members, users) for members in sets]):
                break
        return placed


def _improve(
    problem: PlacementProblem,
    choices: Sequence[Sequence[int]],
    placed: list[int],
    members: Sequence[int],
    users: Sequence[Sequence[int]],
) -> bool:
    """Move ops to whichever target is the fastest for all; return whether that was another."""
    affected = {*members, *(operand for op in members for operand in problem.operands[op])}
    before = [placed[op] for op in members]
    best, chosen = problem.seconds_of(affected, placed, users), before
    for target in sorted(set(choices[members[0]]).intersection(*(choices[op] for op in members))):
        _move(placed, members, [target] * len(members))
        seconds = problem.seconds_of(affected, placed, users)
        if seconds < best:
            best, chosen = seconds, [target] * len(members)
    _move(placed, members, chosen)
    return chosen != before


def _move(placed: list[int], members: Sequence[int], targets: Sequence[int]) -> None:
    for op, target in zip(members, targets, strict=True):
        placed[op] = target


def _connected(problem: PlacementProblem, placed: Sequence[int]) -> list[list[int]]:
    """List the sets of ops on one target that are connected by values."""
    leader = list(range(len(placed)))

    def find(op: int) -> int:
        while leader[op] != op:
            leader[op] = leader[leader[op]]
            op = leader[op]
        return op

    for op, read in enumerate(problem.operands):
        for operand in read:
            if placed[operand] == placed[op]:
                leader[find(op)] = find(operand)
    sets: dict[int, list[int]] = {}
    for op in range(len(placed)):
        sets.setdefault(find(op), []).append(op)
    return list(sets.values())


def _accepting(problem: PlacementProblem, op: int) -> Iterator[int]:
    """Yield the targets that accept an op, each asked only when it is needed."""
    return (t for t in range(len(problem.spaces)) if problem.accepts(op, t))


POLICIES = {policy.name: policy for policy in (EngineOrder, CostBased, SingleTarget)}


def find_policy(name: str) -> PlacementPolicy:
    """Return a policy by its name, or a user's own by `module:Class`; raises CompileError."""
    if name in POLICIES:
        return POLICIES[name]()
    module, colon, attribute = name.partition(":")
    if not colon:
        known = ", ".join(POLICIES)
        raise CompileError(f"placement is '{name}', must be {known} or module:Class")
    try:
        policy = getattr(import_module(module), attribute)()
        _ = policy.place
    except (ImportError, AttributeError, TypeError) as error:
        raise CompileError(f"placement '{name}' cannot be loaded: {error}") from None
    return cast("PlacementPolicy", policy)


def place_by(name: str, problem: PlacementProblem) -> list[int]:
    """Return what the policy of a name answers, by op.

    Raises CompileError where that is not the number of a target for each op.
    """
    answer = cast("object", find_policy(name).place(problem))
    ops, targets = len(problem.operands), len(problem.spaces)
    if not isinstance(answer, Iterable):
        raise CompileError(
            f"placement '{name}' returns {type(answer).__name__}, must return a sequence of the "
            "numbers of targets"
        )
    placed = list(cast("Iterable[object]", answer))
    if len(placed) != ops:
        raise CompileError(
            f"placement '{name}' returns {len(placed)} targets, must return one for each of {ops} "
            "ops"
        )
    for op, target in enumerate(placed):
        if not isinstance(target, SupportsIndex) or not 0 <= index(target) < targets:
            raise CompileError(
                f"placement '{name}' returns target {target!r} for op {op}, must be a number from "
                f"0 to {targets - 1}"
            )
    return [index(cast("SupportsIndex", target)) for target in placed]
