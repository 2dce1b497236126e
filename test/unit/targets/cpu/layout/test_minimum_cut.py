"""The cheapest labels: against all labellings of small problems, tried one by one."""

import itertools
import math
import random

import pytest
from trivium.targets.cpu.layout.minimum_cut import Labelling

Costs = list[tuple[float, float]]
Edges = list[tuple[int, int, float]]


def total(first: tuple[bool, ...], costs: Costs, edges: Edges) -> float:
    own = sum(cost[0] if is_first else cost[1] for is_first, cost in zip(first, costs, strict=True))
    return own + sum(cost for a, b, cost in edges if first[a] and not first[b])


@pytest.mark.parametrize("seed", range(100))
def test_labels_cost_least(seed: int) -> None:
    draw = random.Random(seed)
    count = draw.randint(1, 7)
    costs = [(draw.choice([0, 1, 2, 5, math.inf]), draw.random() * 5) for _ in range(count)]
    pairs = itertools.permutations(range(count), 2)
    edges = [(a, b, draw.choice([1, 2.5, math.inf])) for a, b in pairs if draw.random() < 0.3]
    labels = Labelling()
    for thing, cost in enumerate(costs):
        labels.costs(thing, *cost)
    for edge in edges:
        labels.separate(*edge)
    found = labels.first()
    every = itertools.product([False, True], repeat=count)
    best = min(total(first, costs, edges) for first in every)
    made = total(tuple(thing in found for thing in range(count)), costs, edges)
    assert made == pytest.approx(best, abs=1e-4)


def test_one_label_must_be_possible() -> None:
    with pytest.raises(ValueError, match="one label must be possible"):
        Labelling().costs("x", math.inf, math.inf)
