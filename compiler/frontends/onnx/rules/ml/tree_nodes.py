"""The nodes of ONNX trees, whose comparisons become `<=`, and the operands of `tri.tree_ensemble`.

    x < t    x <= the float below t          x >= t, x > t    the same with the children swapped
    x in s   a search among the elements of s and the floats below them

NaN passes no `<=`. Where it is to pass, the node compares a copy of its feature that has -inf for
NaN.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ......dialects.core.tensor import Array
from ....core.values import constant, tensor
from ...registry import Value
from .operands import numbers_like

LEQ, LT, GTE, GT, EQ, NEQ, MEMBER, LEAF = range(8)
"""The modes of nodes, by the numbers of ONNX; leaves are nodes here, too."""


@dataclass(frozen=True)
class Nodes:
    """Hold the nodes of all trees: arrays of one length, whose children are indices of nodes.

    `members` has the set of each node with mode MEMBER. Node `roots[t]` is the root of tree t.
    """

    modes: Array
    features: Array
    splits: Array
    if_true: Array
    if_false: Array
    missing_is_true: Array
    roots: Array
    members: Sequence[Array] = ()


@dataclass(frozen=True)
class Leaves:
    """Hold weights: those of node `nodes[i]` for target `targets[i]`, of `count` targets."""

    nodes: Array
    targets: Array
    weights: Array
    count: int


def ensemble(x: Value, nodes: Nodes, leaves: Leaves, aggregate: str) -> Value:
    """Build the walk of samples `x`, [N, features], down all trees."""
    _check(nodes, tensor(x).shape[1])
    rows, targets = _rows(leaves, len(nodes.modes), aggregate)
    features, thresholds, children, passes = _compared(nodes)
    if passes.any():
        lowest = numbers_like(-np.inf, x)
        replaced = tri.Where.build(tri.IsNan.build(x).y, lowest, x).y
        features = features + passes * tensor(x).shape[1]
        x = tri.Concat.build([x, replaced], axis=1).y
    more = len(features) - len(rows)  # nodes of searches have no weights
    rows = np.pad(rows, ((0, more), (0, 0)))
    at = None if targets is None else constant(np.pad(targets, (0, more)))
    return tri.TreeEnsemble.build(
        x,
        constant(features.astype(np.int32)),
        numbers_like(thresholds, x),
        constant(children.astype(np.int32)),
        numbers_like(rows, x),
        constant(nodes.roots.astype(np.int32)),
        constant(_depths(children, nodes.roots)),
        at,
        count=leaves.count,
        aggregate=aggregate,
    ).y


def _check(nodes: Nodes, features: int) -> None:
    inner, count = nodes.modes != LEAF, len(nodes.modes)
    limits = [("feature", nodes.features[inner], features), ("root", nodes.roots, count)]
    limits += [("child", side[inner], count) for side in (nodes.if_true, nodes.if_false)]
    for name, numbers, limit in limits:
        outside = numbers[(numbers < 0) | (numbers >= limit)]
        if outside.size:
            raise Invalid(f"has {name} {outside[0]} in a tree, must be in [0, {limit})")
    if len(nodes.members) != (nodes.modes == MEMBER).sum():
        raise Invalid(f"has {len(nodes.members)} sets of members, must have one for each such node")


def _rows(leaves: Leaves, count: int, aggregate: str) -> tuple[Array, Array | None]:
    """Return the weights of each node, and the target of the only one; None if it has all."""
    at, targets, weights = leaves.nodes, leaves.targets, leaves.weights
    outside = targets[(targets < 0) | (targets >= leaves.count)]
    if outside.size:
        raise Invalid(f"has target {outside[0]}, must be in [0, {leaves.count})")
    if leaves.count > 1 and len(np.unique(at)) == len(at):
        rows, first = np.zeros((count, 1), weights.dtype), np.zeros(count, np.int32)
        rows[at, 0], first[at] = weights, targets
        return rows, first
    pairs = np.unique(at * leaves.count + targets)
    if aggregate in ("min", "max") and len(pairs) != len(np.unique(at)) * leaves.count:
        raise Invalid(
            f"has leaves with weights for some of {leaves.count} targets, must be one or all"
        )
    rows = np.zeros((count, leaves.count), weights.dtype)
    np.add.at(rows, (at, targets), weights)
    return rows, None


def _compared(nodes: Nodes) -> tuple[Array, Array, Array, Array]:
    """Return features, thresholds and children, and whether NaN is to pass at a node."""
    modes, below = nodes.modes, _below(nodes.splits)
    thresholds = np.where(np.isin(modes, (LT, GTE)), below, nodes.splits)
    swapped = np.isin(modes, (GTE, GT))
    no = np.where(swapped, nodes.if_true, nodes.if_false)
    yes = np.where(swapped, nodes.if_false, nodes.if_true)
    children, is_leaf = np.stack([no, yes], axis=1), modes == LEAF
    children[is_leaf] = np.flatnonzero(is_leaf)[:, None]
    passes = (nodes.missing_is_true != swapped) & ~is_leaf
    searches = np.flatnonzero(np.isin(modes, (EQ, NEQ, MEMBER)))
    features = np.where(is_leaf, 0, nodes.features)
    if not len(searches):
        return features, thresholds, children, passes
    grown = _Grown(list(features), list(thresholds), list(children))
    sets = iter(nodes.members)
    for node in searches:
        members = next(sets) if modes[node] == MEMBER else nodes.splits[node : node + 1]
        ways = [nodes.if_false[node], nodes.if_true[node]]
        is_true = bool(nodes.missing_is_true[node])
        if modes[node] == NEQ:
            ways, is_true = ways[::-1], False  # NaN differs from all numbers
        grown.search(int(node), members, ways[0], ways[1], nan=ways[is_true])
    passes = np.pad(
        np.where(np.isin(np.arange(len(passes)), searches), False, passes),
        (0, len(grown.features) - len(passes)),
    )
    return np.array(grown.features), np.array(grown.thresholds), np.array(grown.children), passes


def _below(numbers: Array) -> Array:
    """Return the greatest number below each one; NaN, which nothing passes, if there is none."""
    lower = np.nextafter(numbers, numbers.dtype.type(-np.inf))
    return np.where(np.isneginf(numbers), numbers.dtype.type(np.nan), lower)


@dataclass(frozen=True)
class _Grown:
    """Grow the nodes of searches behind the others."""

    features: list[int]
    thresholds: list[float]
    children: list[Array]

    def search(self, node: int, members: Array, out: int, found: int, nan: int) -> None:
        """Make a node the root of a search for its feature among members."""
        listed = np.unique(members[~np.isnan(members)])
        bounds = np.stack([_below(listed), listed], axis=1).reshape(-1)
        ways = [out, found] * len(listed) + [out]  # between bounds
        first = self._tree(int(self.features[node]), bounds, ways) if len(bounds) else out
        self.thresholds[node] = np.inf  # which only NaN does not pass
        self.children[node] = np.array([nan, first])

    def _tree(self, feature: int, bounds: Array, ways: list[int]) -> int:
        if not len(bounds):
            return ways[0]
        middle = len(bounds) // 2
        yes = self._tree(feature, bounds[:middle], ways[: middle + 1])
        no = self._tree(feature, bounds[middle + 1 :], ways[middle + 1 :])
        self.features.append(feature)
        self.thresholds.append(bounds[middle])
        self.children.append(np.array([no, yes]))
        return len(self.features) - 1


def _depths(children: Array, roots: Array) -> Array:
    """Count the steps to the deepest leaf of each tree."""
    depths = np.zeros(len(roots), np.int32)
    trees, nodes = np.arange(len(roots)), roots
    for depth in range(len(children) + 1):
        inner = (children[nodes] != nodes[:, None]).any(axis=1)
        if not inner.any():
            return depths
        trees, nodes = np.repeat(trees[inner], 2), children[nodes[inner]].reshape(-1)
        trees, nodes = np.unique(np.stack([trees, nodes]), axis=1)
        depths[trees] = depth + 1
    raise Invalid("has a tree in which a node leads back to itself")
