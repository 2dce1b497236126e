"""The lowering of ensembles of trees.

A walk is a chain of loads, each of which waits for the one before it; so a loop takes a step of
several walks at once: of neighbouring rows down one tree, whose nodes are in the nearest cache
then, or of one row down neighbouring trees. There are no branches: a walk at its leaf stays there.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.sizes.dim import ceildiv
from ...kernels.arithmetic import compute_dtype
from ..kernels.buffer import Buffer
from ..kernels.builder import KernelBuilder
from ..kernels.epilogue import Epilogue
from ..kernels.index import IndexExpr, carry, for_each, index_of
from ..kernels.loops import each_of
from ..kernels.value import Value, constant_of, llvm
from ..registry import accepts, template

BLOCK = 96
"""How many rows walk down a tree, before they walk down the next one."""

SUMS = "f64"
"""In which weights are summed up: of many equal ones, f32 would lose digits."""

WALKS = 12
"""How many walks take a step at once."""


@accepts(tri.TreeEnsemble)
def has_known_trees(op: tri.TreeEnsemble) -> bool:
    """Takes only trees whose numbers of nodes are known at compile time"""
    return all(tensor_of(value.type).is_static for value in (op.weights, op.roots))


@dataclass(frozen=True)
class _Trees:
    """Hold the operands of an ensemble, and the aggregates of the rows of a block, of f64."""

    op: tri.TreeEnsemble
    x: Buffer
    columns: Size
    features: Buffer
    thresholds: Buffer
    children: Buffer
    weights: Buffer
    targets: Buffer | None
    sums: Buffer

    def root(self, roots: Buffer, tree: IndexExpr) -> Value:
        return _below(roots.load([tree]), self.weights.shape[0])

    def walk(
        self, rows: Sequence[IndexExpr], roots: Sequence[Value], depth: IndexExpr
    ) -> list[Value]:
        """Walk each row down from a root, and return the leaves."""
        starts = [row * self.columns for row in rows]

        def step(_: IndexExpr, now: list[Value]) -> list[Value]:
            return [self._next(start, at) for start, at in zip(starts, now, strict=True)]

        return carry(depth, list(roots), step)

    def _next(self, start: IndexExpr, at: Value) -> Value:
        node = index_of(at)
        feature = index_of(_below(self.features.load([node]), self.columns))
        value = self.x.load([start + feature])
        below = value.less_equal(self.thresholds.load([node])).cast("ui32")
        child = self.children.load([node * 2 + index_of(below)])
        return _scalar(_below(child, self.weights.shape[0]))

    def add(self, row: IndexExpr, leaf: Value) -> None:
        """Aggregate the weights of a leaf for a row of the block."""
        node = index_of(leaf)
        first = IndexExpr(0)
        if self.targets is not None:
            starts = self.op.count - self.weights.shape[1] + 1
            first = index_of(_below(self.targets.load([node]), starts))

        def one(column: IndexExpr) -> None:
            place = [row, first + column]
            old, weight = self.sums.load(place), self.weights.load([node, column])
            self.sums.store(self._combined(old, weight.cast(SUMS)), place)

        for_each(self.weights.shape[1], one)

    def _combined(self, old: Value, weight: Value) -> Value:
        if self.op.aggregate == "min":
            return old.minimum(weight)
        return old.maximum(weight) if self.op.aggregate == "max" else old + weight


@template(tri.TreeEnsemble)
def lower_tree_ensemble(
    op: tri.TreeEnsemble,
    kernel: KernelBuilder,
    x: Buffer,
    features: Buffer,
    thresholds: Buffer,
    children: Buffer,
    weights: Buffer,
    roots: Buffer,
    depths: Buffer,
    targets: Buffer | None,
    y: Epilogue,
) -> None:
    dtype = compute_dtype(x.dtype)
    rows, count = x.shape[0], op.count
    sums = kernel.private((BLOCK, count), SUMS)
    flat = x.reshape((math.prod(x.shape),))
    steps = children.reshape((math.prod(children.shape),))
    trees = _Trees(op, flat, x.shape[1], features, thresholds, steps, weights, targets, sums)
    start = Value(constant_of(_START.get(op.aggregate, 0.0), SUMS), SUMS)

    def block(number: IndexExpr) -> None:
        first = number * BLOCK
        here = (IndexExpr(rows) - first).minimum(BLOCK)
        whole = here // WALKS
        _each(here, count, lambda row, target: sums.store(start, [row, target]))
        for_each(roots.shape[0], lambda tree: _rows(trees, roots, depths, tree, first, whole))
        for_each(here, lambda row: _row(trees, roots, depths, first, row), start=whole * WALKS)
        number_of_trees = max(roots.shape[0], 1)

        def finish(row: IndexExpr, target: IndexExpr) -> None:
            total = sums.load([row, target]).cast(dtype)
            y.store(_finished(op, total, number_of_trees), [first + row, target])

        _each(here, count, finish)

    each_of(ceildiv(rows, BLOCK), block)


_START = {"min": math.inf, "max": -math.inf}


def _rows(
    trees: _Trees,
    roots: Buffer,
    depths: Buffer,
    tree: IndexExpr,
    first: IndexExpr,
    groups: IndexExpr,
) -> None:
    """Walk groups of rows of a block down one tree."""
    root, depth = trees.root(roots, tree), index_of(depths.load([tree]))

    def group(number: IndexExpr) -> None:
        places = [number * WALKS + i for i in range(WALKS)]
        leaves = trees.walk([first + place for place in places], [root] * WALKS, depth)
        for place, leaf in zip(places, leaves, strict=True):
            trees.add(place, leaf)

    for_each(groups, group)


def _row(trees: _Trees, roots: Buffer, depths: Buffer, first: IndexExpr, row: IndexExpr) -> None:
    """Walk one row down groups of trees, and down those that are left over."""
    whole, rest = divmod(roots.shape[0], WALKS)

    def group(start: IndexExpr, size: int) -> None:
        places = [start + i for i in range(size)]
        depth = depths.load(places[:1])
        for place in places[1:]:
            depth = depth.maximum(depths.load([place]))
        at = [trees.root(roots, place) for place in places]
        for leaf in trees.walk([first + row] * size, at, index_of(depth)):
            trees.add(row, leaf)

    for_each(whole, lambda number: group(number * WALKS, WALKS))
    if rest:
        group(IndexExpr(whole * WALKS), rest)


def _finished(op: tri.TreeEnsemble, total: Value, trees: int) -> Value:
    if op.aggregate == "average":
        return total / trees
    return (
        total.abs().equal(math.inf).select(total.like(0), total)
        if op.aggregate in _START
        else total
    )


def _each(rows: IndexExpr, count: int, body: Callable[[IndexExpr, IndexExpr], None]) -> None:
    for_each(rows, lambda row: for_each(count, lambda target: body(row, target)))


def _below(index: Value, size: Size) -> Value:
    """Keep an index inside of an axis, as other kernels do; a negative one is a large one here."""
    unsigned = Value(index.ssa, "ui32")
    return unsigned.minimum(unsigned.like(size - 1))


def _scalar(value: Value) -> Value:
    """Keep LLVM from putting walks side by side into vectors: gathers are slower than loads."""
    type_ = value.ssa.type
    return value.with_ssa(llvm.inline_asm(type_, [value.ssa], "", "=r,0"))
