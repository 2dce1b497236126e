"""Placement: policies on drawn graphs, and parts that never depend on themselves."""

from collections.abc import Sequence
from dataclasses import replace
from graphlib import TopologicalSorter
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trivium.dialects.core.errors import CompileError
from trivium.targets.memory.space import CopyCost
from trivium.targets.placement.policies import (
    POLICIES,
    CostBased,
    EngineOrder,
    find_policy,
    place_by,
)
from trivium.targets.placement.problem import PlacementProblem, part_levels

SPACES = ("host", "gpu", "bank")
COPIES = (CopyCost(), CopyCost(2.0, 100.0), CopyCost(1.0, 50.0))


@st.composite
def problems(draw: st.DrawFn) -> PlacementProblem:
    """Draw a graph of ops, which targets accept each of them, and how long they take there."""
    count = draw(st.integers(1, 14))
    operands = [
        draw(st.lists(st.integers(0, n - 1), max_size=3)) if n else [] for n in range(count)
    ]
    targets = draw(st.integers(1, len(SPACES)))
    accepted = [
        draw(st.sets(st.integers(0, targets - 1), min_size=1, max_size=targets))
        for _ in range(count)
    ]
    seconds = [[draw(st.integers(1, 9)) for _ in range(targets)] for _ in range(count)]
    sizes = [draw(st.integers(1, 400)) for _ in range(count)]
    return PlacementProblem(
        operands,
        sizes,
        SPACES[:targets],
        COPIES[:targets],
        lambda op, target: target in accepted[op],
        lambda op, target: float(seconds[op][target]),
    )


def parts(
    problem: PlacementProblem, placed: Sequence[int], given_inputs: Sequence[bool] = ()
) -> dict[int, tuple[int, int]]:
    levels = part_levels(problem.operands, placed, given_inputs or [True] * len(placed))
    return {op: (levels[op], placed[op]) for op in range(len(placed))}


@pytest.mark.parametrize("name", ["engine-order", "cost"])
@given(problems())
def test_no_part_depends_on_itself(name: str, problem: PlacementProblem) -> None:
    placed = POLICIES[name]().place(problem)
    found = parts(problem, placed)
    graph: dict[tuple[int, int], set[tuple[int, int]]] = {}
    for op, read in enumerate(problem.operands):
        graph.setdefault(found[op], set()).update(found[o] for o in read if found[o] != found[op])
    order = list(TopologicalSorter(graph).static_order())  # raises CycleError
    assert sorted(order) == sorted(set(found.values()))


@given(problems(), st.data())
def test_no_part_depends_on_itself_wherever_ops_are(
    problem: PlacementProblem, data: st.DataObject
) -> None:
    count = len(problem.operands)
    placed = [data.draw(st.integers(0, 2)) for _ in range(count)]
    found = parts(problem, placed, [data.draw(st.booleans()) for _ in range(count)])
    for op, read in enumerate(problem.operands):
        for operand in read:
            assert found[operand] == found[op] or found[operand][0] < found[op][0]


def test_what_depends_on_constants_alone_is_where_it_is_read() -> None:
    # Ops 0 and 4 compute constants; op 3 reads what another target makes of an input.
    operands, targets = [[], [], [1], [0, 2], [], [4, 3]], [0, 1, 1, 0, 0, 0]
    given_inputs = [False, True, False, False, False, False]
    assert part_levels(operands, targets, given_inputs) == [1, 0, 0, 1, 1, 1]
    assert part_levels(operands, targets, [True] * 6) == [0, 0, 0, 1, 0, 1]


@pytest.mark.parametrize("name", ["engine-order", "cost"])
@given(problems())
def test_ops_are_on_targets_that_accept_them(name: str, problem: PlacementProblem) -> None:
    placed = POLICIES[name]().place(problem)
    assert all(problem.accepts(op, target) for op, target in enumerate(placed))


@given(problems())
def test_engine_order_takes_the_first_that_accepts(problem: PlacementProblem) -> None:
    placed = EngineOrder().place(problem)
    assert placed == [problem.accepting(op)[0] for op in range(len(placed))]


@given(problems())
def test_no_single_move_makes_a_cost_based_placement_cheaper(problem: PlacementProblem) -> None:
    placed = list(CostBased().place(problem))
    best = cost(problem, placed)
    for op in range(len(placed)):
        for target in problem.accepting(op):
            moved = [*placed[:op], target, *placed[op + 1 :]]
            assert cost(problem, moved) >= best - 1e-9


def cost(problem: PlacementProblem, placed: Sequence[int]) -> float:
    """Add up ops, and each value's copies to other memories, by the definition."""
    total = sum(problem.seconds(op, target) for op, target in enumerate(placed))
    copies: set[tuple[int, str]] = set()
    for op, read in enumerate(problem.operands):
        for operand in read:
            if problem.spaces[placed[operand]] != problem.spaces[placed[op]]:
                copies.add((operand, problem.spaces[placed[op]]))
    for operand, space in copies:
        size = problem.result_bytes[operand]
        total += problem.copies[placed[operand]].seconds(size)
        total += problem.copies[problem.spaces.index(space)].seconds(size)
    return total


def test_copies_keep_a_cheap_op_beside_its_neighbours() -> None:
    """One op that is twice as fast elsewhere is not worth two copies."""
    chain = PlacementProblem(
        [[], [0], [1]],
        [400] * 3,
        ("gpu", "host"),
        (COPIES[1], COPIES[0]),
        lambda op, target: True,
        lambda op, target: ((2.0, 9.0), (2.0, 1.0), (2.0, 9.0))[op][target],
    )
    assert list(CostBased().place(chain)) == [0, 0, 0]
    slow = replace(chain, seconds=lambda op, target: 99.0 if (op, target) == (1, 0) else 1.0)
    assert list(CostBased().place(slow)) == [1, 1, 1]


class Last:
    """A policy of a user: the last target that accepts an op."""

    def place(self, problem: PlacementProblem, /) -> Sequence[int]:
        return [problem.accepting(op)[-1] for op in range(len(problem.operands))]


def test_a_users_policy_is_found_by_module_and_class() -> None:
    assert type(find_policy(f"{Last.__module__}:Last")).__name__ == "Last"


class Answers:
    """A policy of a user that answers what it should not."""

    answer: ClassVar[object] = None

    def place(self, problem: PlacementProblem, /) -> object:
        return self.answer


class Configured:
    """A class that cannot be made without arguments."""

    def __init__(self, path: str) -> None: ...


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "returns NoneType, must return a sequence of the numbers of targets"),
        ([0], "returns 1 targets, must return one for each of 2 ops"),
        ([0, 2], "returns target 2 for op 1, must be a number from 0 to 1"),
        ([-1, 0], "returns target -1 for op 0, must be a number from 0 to 1"),
        (["gpu", 0], "returns target 'gpu' for op 0, must be a number from 0 to 1"),
    ],
)
def test_an_answer_that_is_no_placement_is_refused(
    monkeypatch: pytest.MonkeyPatch, answer: object, message: str
) -> None:
    problem = PlacementProblem(
        [[], [0]],
        [4, 4],
        SPACES[:2],
        COPIES[:2],
        lambda op, target: True,
        lambda op, target: 1.0,
    )
    monkeypatch.setattr(Answers, "answer", answer)
    name = f"{Answers.__module__}:Answers"
    with pytest.raises(CompileError) as caught:
        place_by(name, problem)
    assert str(caught.value) == f"error: placement '{name}' {message}"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (f"{__name__}:Configured", "cannot be loaded: Configured.__init__() missing 1 required"),
        (f"{__name__}:SPACES", "cannot be loaded: 'tuple' object is not callable"),
        ("fastest", "placement is 'fastest', must be engine-order, cost, single or module:Class"),
        ("no_such_module:Policy", "placement 'no_such_module:Policy' cannot be loaded: No module"),
        ("os:Policy", "placement 'os:Policy' cannot be loaded: module 'os' has no attribute"),
    ],
)
def test_an_unknown_policy_is_refused(name: str, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        find_policy(name)
    assert message in str(caught.value)
