"""From the body of a loop, which is built, to the op: what it carries, collects and puts out."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from .....dialects import tri
from .....dialects.core.attributes import type_of
from .....dialects.core.mlir import ir
from .....dialects.core.sizes.atoms import Size
from .....dialects.core.tensor import Tensor
from .....dialects.tri.control_flow import UNKNOWN
from ...core.bodies import Bodies
from ...core.sizes.joined_shapes import joined_shape
from ...core.values import tensor
from ..registry import Node
from .carried_types import CarriedTypes
from .collected import Collected, collect


@dataclass(frozen=True)
class LoopPlan:
    """Hold a body that lacks its end: `made` is what it carries on, and then what it puts out.

    `outside` has the symbols that are known around the loop.
    """

    node: Node
    bodies: Bodies
    carried: CarriedTypes
    outside: Collection[str]
    initial: Sequence[ir.Value]
    made: Sequence[ir.Value]

    def build(
        self,
        ends: Sequence[ir.Value | None],
        first: Sequence[ir.Value],
        iterations: Size,
        scanned: Sequence[ir.Value] = (),
        *,
        most: int | None = None,
    ) -> list[ir.Value]:
        """Build the op; return the last values of what it carries, and all that it puts out.

        `ends` are the trip count and the condition, each if the loop has one, `first` the next
        condition in the body. Without known `iterations`, there are at most so many.
        """
        count = len(self.initial)
        (block,) = self.bodies.blocks
        collected = self._collect(block)
        left_out = [each.number for each in collected]
        kept = [number for number in range(count) if number not in left_out]
        self.carried.leave_out(left_out)
        stacked = [*self.made[count:], *(each.added for each in collected if not each.is_joined)]
        joined = [each.added for each in collected if each.is_joined]
        with ir.InsertionPoint(block):
            tri.Yield.build([*first, *(self.made[n] for n in kept), *stacked, *joined])
        captured = self.bodies.close()
        types, found = self._types(stacked, joined, iterations, most)
        op = tri.Loop.create(
            [*ends, [self.initial[n] for n in kept], scanned, captured],
            list(map(type_of, types)),
            {
                "iterations": iterations,
                "carried_sizes": self.carried.sizes,
                "joined": len(joined),
                "result_sizes": found,
            },
        )
        self.bodies.move_to(op)
        results = list(op.results)
        last = dict(zip(kept, results, strict=False))
        outputs = len(results) - len(collected)
        for each, value in zip(collected, results[outputs:], strict=True):
            last[each.number] = each.whole(self.initial[each.number], value)
        return [*(last[n] for n in range(count)), *results[len(kept) : outputs]]

    def _collect(self, block: ir.Block) -> list[Collected]:
        """Find what the body only collects: first what is stacked, then what is joined."""
        taken = list(block.arguments)[1 : 1 + len(self.initial)]
        checked = self.node.graphs.main.checked_symbols
        collected = collect(block, taken, self.made, self.outside, checked)
        return sorted(collected, key=lambda each: each.is_joined)

    def _types(
        self,
        stacked: Sequence[ir.Value],
        joined: Sequence[ir.Value],
        iterations: Size,
        most: int | None,
    ) -> tuple[list[Tensor], tuple[Size, ...]]:
        """Return the types of the results, and the sizes in them that are found."""
        new = self.node.found.new
        types, found = self.carried.results()
        number = iterations
        if stacked and iterations == UNKNOWN:
            number = new(most)
            found = (number, *found)
        for output in map(tensor, stacked):
            shape, sizes = joined_shape([output], self.node.found, self.outside)
            types.append(Tensor((number, *shape), output.dtype))
            found = (*found, *sizes)
        for output in map(tensor, joined):
            size = new(None)
            types.append(Tensor((size, *output.shape[1:]), output.dtype))
            found = (*found, size)
        return types, found
