"""Make kernels of heavy ops and the elementwise ops that follow them."""

from collections.abc import Callable, Container

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ..core import Pass
from .grouping import Graph, fuse

LARGEST_DIAMOND = 16
"""How many ops may lie between a value that is used twice and the op where its uses meet again."""


class FuseEpilogues(Pass):
    """Group each convolution, product, pooling, norm, … with the elementwise ops that follow it.

    An op joins when its result has the shape of the first op's and no value before it is used
    outside of the group. Where two could take the same op, the later one does. What is widened for
    an op of the group alone is widened in it: that is less to read.

    %c = tri.conv %x, %w; %a = tri.add %c, %r; %y = tri.relu %a
        =>   %y = tri.group %x, %w, %r { conv; add; relu }
    %c = tri.conv %x, %w; %r = tri.cast %b; %y = tri.add %c, %r (%b is i8)
        =>   %y = tri.group %x, %w, %b { conv; cast; add }
    %c = cpu.blocked_conv %x, %w; %p = tri.pad %c
        =>   %p = tri.group %x, %w { blocked_conv; pad }
    """

    def run(self, module: Module) -> None:
        self.group(module)

    def group(self, module: Module, among: Container[ir.Value] | None = None) -> None:
        """Make the groups; with `among`, only of the ops of these results."""
        fuse(module, _choose, among)


def _choose(graph: Graph) -> list[set[int]]:
    free = set(range(len(graph.ops)))
    groups: list[set[int]] = []
    for number in reversed(range(len(graph.ops))):
        if graph.ops[number].anchor:
            groups.append(_grow(graph, free, number))
            free -= groups[-1]
    return groups


def _grow(graph: Graph, free: set[int], anchor: int) -> set[int]:
    """Return an op and those after it, as long as all users of the last one can join."""

    def fits(number: int) -> bool:
        joins = number in free and graph.ops[number].elementwise
        return joins and graph.shapes[number] == graph.shapes[anchor]

    members = {anchor}
    while joined := _diamond(graph, fits, max(members)):
        members |= joined
    behind = members - {anchor}
    for number in sorted(behind):
        for producer in graph.producers[number]:
            behind |= _promotable_casts(graph, fits, producer, behind) - members
    return members | behind | _border(graph, free, anchor, max(members))


def _border(graph: Graph, free: set[int], anchor: int, last: int) -> set[int]:
    """Return the op that puts a border around what a group makes, if that is its only user."""
    found = graph.users[last] & free
    if not graph.ops[anchor].allows_pad_epilogue or len(graph.users[last]) != 1 or not found:
        return set()
    op = graph.ops[min(found)]
    return found if isinstance(op, tri.Pad) and op.is_border else set()


def _promotable_casts(
    graph: Graph, fits: Callable[[int], bool], last: int, behind: set[int]
) -> set[int]:
    """Return an op and those above it that only ops behind an anchor need, if they read less."""
    joined = set[int]()
    pending = [last]
    while pending:
        number = pending.pop()
        if fits(number) and graph.users[number] <= behind | joined:
            joined.add(number)
            pending += graph.producers[number]
    inside = {value for number in joined for value in graph.ops[number].results}
    operands = [v for number in joined for v in graph.ops[number].operation.operands]
    read = sum(tensor_of(v.type).likely_bytes for v in dict.fromkeys(operands) if v not in inside)
    made = tensor_of(graph.ops[last].results[0].type).likely_bytes
    return joined if read < made else set[int]()


def _diamond(graph: Graph, fits: Callable[[int], bool], start: int) -> set[int]:
    """Return the users of an op, and theirs, up to the one op where all of them meet again.

    Nothing when an op in between does not fit, or too many would have to.
    """
    joined = set[int]()
    pending = graph.users[start]
    while pending and all(map(fits, pending)) and len(joined) < LARGEST_DIAMOND:
        joined.update(pending)
        leaving = [number for number in sorted(joined) if not graph.users[number] <= joined]
        if len(leaving) == 1:
            return joined
        pending = graph.users[leaving[0]] if leaving else set[int]()
    return set[int]()
