"""Make kernels of elementwise ops."""

import heapq
from collections.abc import Container

from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ..core import Pass
from .grouping import Graph, fuse

MOST_MEMBERS = 2048
"""The most ops of one group: the compile time of a kernel grows faster than its code."""


class FuseElementwise(Pass):
    """Group elementwise ops that feed one another and have results of one shape.

    Each op takes in those above it whose values nobody outside of the group uses, up to 2048 ops.

    %a = tri.mul %x, %s; %y = tri.relu %a   =>   %y = tri.group %x, %s { mul; relu }
    """

    def run(self, module: Module) -> None:
        self.group(module)

    def group(self, module: Module, among: Container[ir.Value] | None = None) -> None:
        """Make the groups; with `among`, only of the ops of these results."""
        fuse(module, _choose, among)


def _choose(graph: Graph) -> list[set[int]]:
    taken: set[int] = set()
    groups: list[set[int]] = []
    for number in reversed(range(len(graph.ops))):
        if number not in taken and graph.ops[number].elementwise:
            groups.append(_grow(graph, number))
            taken |= groups[-1]
    return groups


def _grow(graph: Graph, last: int) -> set[int]:
    """Return an op and all above it that only it and they need."""
    members = {last}
    pending = [-number for number in graph.producers[last]]
    heapq.heapify(pending)
    while pending and len(members) < MOST_MEMBERS:
        # The latest first: all users of an op come before it.
        number = -heapq.heappop(pending)
        fits = graph.ops[number].elementwise and graph.shapes[number] == graph.shapes[last]
        if fits and number not in members and graph.users[number] <= members:
            members.add(number)
            for producer in graph.producers[number]:
                heapq.heappush(pending, -producer)
    return members
