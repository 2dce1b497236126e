"""What a loop only collects: each iteration puts it out, and nothing is carried.

A value that a body takes for one `Concat` alone, and to which it adds at the end, would be copied
in each iteration. What a loop puts out is in memory that doubles when it is full.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from .....dialects import tri
from .....dialects.core.mlir import ir
from .....dialects.core.module import ops
from .....dialects.core.op import view
from .....dialects.core.sizes.atoms import Size, single_symbol
from .....dialects.core.sizes.dim import symbols_of
from .....dialects.core.symbol_scope import symbols_needed
from ...core.values import tensor


@dataclass(frozen=True)
class Collected:
    """Hold what a body adds along an axis to the carried value of a number.

    `added` has this axis first where it `is_joined`: then each iteration adds more or less of it.
    """

    number: int
    axis: int
    added: ir.Value
    is_joined: bool

    def whole(self, initial: ir.Value, put_out: ir.Value) -> ir.Value:
        """Return what the loop collects, behind what it has at the beginning."""
        rank = tensor(initial).rank
        order = [*range(1, rank)] if self.is_joined else [*range(1, rank + 1)]
        order.insert(self.axis, 0)
        moved = put_out if order == sorted(order) else _transposed(put_out, order)
        sizes = tensor(moved).shape
        if not self.is_joined:
            both = sizes[self.axis] * sizes[self.axis + 1]
            shape = (*sizes[: self.axis], both, *sizes[self.axis + 2 :])
            moved = tri.Reshape.build(moved, shape=shape).y
        if tensor(initial).shape[self.axis] == 0:
            return moved
        return tri.Concat.build([initial, moved], axis=self.axis).y


def collect(
    block: ir.Block,
    taken: Sequence[ir.Value],
    made: Sequence[ir.Value],
    outside: Collection[str],
    checked: Collection[str],
) -> list[Collected]:
    """Find what a body only collects; erase the ops that add to it, and the arguments.

    `taken` are the arguments of the block for what is carried; `made` is all that it returns, where
    it carries on what it took first. `outside` has the symbols that are known around the loop, and
    `checked` those of which something is checked.
    """
    pairs = zip(taken, made, strict=False)
    found = [
        (number, op)
        for number, pair in enumerate(pairs)
        if (op := _adding(block, *pair, made, checked)) is not None
    ]
    collected = [_put_out(block, number, op, outside) for number, op in found]
    arguments: list[ir.Value] = list(block.arguments)
    for number, _ in reversed(found):
        block.erase_argument(arguments.index(taken[number]))
    return collected


def _adding(
    block: ir.Block,
    taken: ir.Value,
    made: ir.Value,
    returned: Sequence[ir.Value],
    checked: Collection[str],
) -> tri.Concat | None:
    """Return the op that adds to what is carried, if nothing else reads that, or its size."""
    op = view(made.owner) if isinstance(made, ir.OpResult) else None
    if not isinstance(op, tri.Concat) or op.operation.block != block:
        return None
    if len(op.xs) < 2 or op.xs[0] != taken or len(list(taken.uses)) > 1 or list(made.uses):
        return None
    if taken in returned or [*returned].count(made) > 1:
        return None
    size = single_symbol(tensor(taken).shape[op.axis])
    if size is None or size.name in checked:
        return None
    others = (each for each in ops(block) if each != op)
    return None if any(size.name in symbols_needed(each) for each in others) else op


def _put_out(block: ir.Block, number: int, op: tri.Concat, outside: Collection[str]) -> Collected:
    """Erase an op that adds to what is carried; return what it adds."""
    axis, more = op.axis, list(op.xs)[1:]
    with ir.InsertionPoint(block):
        added = more[0] if len(more) == 1 else tri.Concat.build(more, axis=axis).y
        is_joined = not _known(tensor(added).shape, outside)
        if is_joined and axis:
            rank = tensor(added).rank
            added = _transposed(added, [axis, *(n for n in range(rank) if n != axis)])
    op.operation.erase()
    return Collected(number, axis, added, is_joined)


def _known(sizes: Sequence[Size], outside: Collection[str]) -> bool:
    return all(symbols_of(size).keys() <= {*outside} for size in sizes)


def _transposed(x: ir.Value, order: Sequence[int]) -> ir.Value:
    return tri.Transpose.build(x, permutation=tuple(order)).y
