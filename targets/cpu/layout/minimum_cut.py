"""Labelling by minimum cut: the cheapest assignment of one of two labels to each node.

Each label of a node has a cost; `separate(a, b)` adds a cost if `a` has the first label and `b` the
second. Source: Greig, Porteous and Seheult, "Exact maximum a
posteriori estimation for binary images", 1989; the flow by shortest paths: Dinic, 1970.
"""

import math
from collections import deque
from collections.abc import Hashable
from itertools import pairwise

SOURCE, SINK = object(), object()

EPSILON = 1e-6
"""Less than this is no capacity: costs are sums of rounded numbers."""


class Labelling:
    """Collect costs, then find the labels that cost least."""

    def __init__(self) -> None:
        self.capacity: dict[Hashable, dict[Hashable, float]] = {SOURCE: {}, SINK: {}}

    def costs(self, thing: Hashable, first: float, second: float) -> None:
        """Add the costs of the two labels of a node; infinity forbids a label."""
        common = min(first, second)
        if math.isinf(common):
            raise ValueError("one label must be possible")
        self._add(SOURCE, thing, second - common)
        self._add(thing, SINK, first - common)

    def separate(self, a: Hashable, b: Hashable, cost: float) -> None:
        """Add a cost for the first label on `a` with the second label on `b`."""
        self._add(a, b, cost)

    def first(self) -> set[Hashable]:
        """Return the nodes with the first label in a cheapest labelling."""
        while (levels := self._levels()) and SINK in levels:
            stuck: set[Hashable] = set()
            while path := self._path(levels, stuck):
                self._push(path)
        return set(self._levels()) - {SOURCE}

    def _add(self, a: Hashable, b: Hashable, cost: float) -> None:
        self.capacity.setdefault(a, {}).setdefault(b, 0.0)
        self.capacity.setdefault(b, {}).setdefault(a, 0.0)
        self.capacity[a][b] += cost

    def _levels(self) -> dict[Hashable, int]:
        """Return the distance from the source of each node in the residual graph."""
        levels: dict[Hashable, int] = {SOURCE: 0}
        pending = deque([SOURCE])
        while pending:
            here = pending.popleft()
            for there, left in self.capacity[here].items():
                if left > EPSILON and there not in levels:
                    levels[there] = levels[here] + 1
                    pending.append(there)
        return levels

    def _path(self, levels: dict[Hashable, int], stuck: set[Hashable]) -> list[Hashable]:
        """Return a shortest path to the sink, or an empty list; add dead ends to `stuck`."""
        path: list[Hashable] = [SOURCE]
        while path:
            here = path[-1]
            if here is SINK:
                return path
            onward = (
                there
                for there, left in self.capacity[here].items()
                if left > EPSILON and levels.get(there) == levels[here] + 1 and there not in stuck
            )
            if (following := next(onward, None)) is not None:
                path.append(following)
            else:
                stuck.add(path.pop())
        return []

    def _push(self, path: list[Hashable]) -> None:
        """Push the greatest possible flow along a path."""
        steps = list(pairwise(path))
        flow = min(self.capacity[a][b] for a, b in steps)
        for a, b in steps:
            self.capacity[a][b] -= flow
            self.capacity[b][a] += flow
