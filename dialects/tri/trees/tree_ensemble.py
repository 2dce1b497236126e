"""Ensembles of decision trees."""

import numpy as np

from ...core.errors import Invalid, need_one_of
from ...core.fields import Operand, Result
from ...core.numerics.precision import narrow, widen
from ...core.sizes.checks import need, need_same, need_same_shape
from ...core.tensor import Array, Tensor, same_dtype
from ..dialect import TriOp
from ..numeric import need_float

AGGREGATES = ("sum", "average", "min", "max")
BATCH = 256
"""How many rows the reference computes at once."""


class TreeEnsemble(TriOp):
    """Walk each row down each tree, and aggregate the weights of the leaves over the trees.

    `x` is [N, features]; a node compares one feature with its threshold. Node n leads to node
    `children[n, 1]` if `x[features[n]] <= thresholds[n]`, and to `children[n, 0]` if not, as for
    NaN; a leaf leads to itself. A walk begins at one of `roots`, [trees], and is at a leaf after as
    many steps as `depths` says, [trees]. `weights` is [nodes, width]; row n is for the targets from
    `targets[n]` on, or from 0 on without `targets`. `y` is [N, count]; aggregate `average` divides
    sums by the number of trees, and with `min` and `max` a target that no leaf has a weight for
    gives 0. Weights are summed up in f64. Source: ONNX-ML `TreeEnsemble`, whose other comparisons
    are this one with other thresholds.
    """

    x: Operand
    features: Operand
    thresholds: Operand
    children: Operand
    weights: Operand
    roots: Operand
    depths: Operand
    targets: Operand | None = None
    count: int
    aggregate: str = "sum"
    y: Result

    def infer(
        self,
        x: Tensor,
        features: Tensor,
        thresholds: Tensor,
        children: Tensor,
        weights: Tensor,
        roots: Tensor,
        depths: Tensor,
        targets: Tensor | None = None,
    ) -> Tensor:
        need_one_of("aggregate", self.aggregate, AGGREGATES)
        same_dtype(need_float(x), thresholds, weights)
        if x.rank != 2:
            raise Invalid(f"x is {x}, must have rank 2")
        if features.rank != 1 or weights.rank != 2:
            raise Invalid(f"features are {features}, weights {weights}, must have rank 1 and 2")
        nodes, width = weights.shape
        _need_type("features", features, Tensor((nodes,), "i32"))
        _need_type("thresholds", thresholds, Tensor((nodes,), x.dtype))
        _need_type("children", children, Tensor((nodes, 2), "i32"))
        _need_type("roots", roots, Tensor((roots.size,), "i32"))
        _need_type("depths", depths, Tensor((roots.size,), "i32"))
        if targets is not None:
            _need_type("targets", targets, Tensor((nodes,), "i32"))
        most = "at most" if targets is not None else "as many as"
        fault = f"weights are {weights}, must have {most} {self.count} columns"
        need(width, 1, fault)
        need(self.count, width, fault)
        if targets is None:
            need_same(width, self.count, fault)
        return Tensor((x.shape[0], self.count), x.dtype)

    def reference(
        self,
        x: Array,
        features: Array,
        thresholds: Array,
        children: Array,
        weights: Array,
        roots: Array,
        depths: Array,
        targets: Array | None = None,
    ) -> Array:
        _check_numbers(x, features, children, roots, targets, weights, self.count)
        wide, limits, rows = widen(x), widen(thresholds), widen(weights)
        start = 0.0 if self.aggregate in ("sum", "average") else np.inf
        start = -start if self.aggregate == "max" else start
        y = np.full((len(x), self.count), start, np.float64)
        for first in range(0, len(x), BATCH):
            part = wide[first : first + BATCH]
            leaves = _leaves(part, features, limits, children, roots, depths)
            self._aggregate(y[first : first + BATCH], leaves, rows, targets)
        y = y.astype(wide.dtype)  # what was summed up in f64
        if self.aggregate == "average":
            y /= max(len(roots), 1)
        y[np.isinf(y) & (start != 0)] = 0
        return narrow(y, x)

    def _aggregate(self, y: Array, leaves: Array, weights: Array, targets: Array | None) -> None:
        """Add the leaves of each row, [rows, trees], tree after tree, to the results."""
        combine = {"min": np.minimum, "max": np.maximum}.get(self.aggregate, np.add)
        rows = np.arange(len(y))
        for leaf in leaves.T:
            for column in range(weights.shape[1]):
                target = column + (np.zeros_like(leaf) if targets is None else targets[leaf])
                y[rows, target] = combine(y[rows, target], weights[leaf, column])


def _need_type(name: str, operand: Tensor, wanted: Tensor) -> None:
    fault = f"{name} are {operand}, must be {wanted}"
    if operand.dtype != wanted.dtype or operand.rank != wanted.rank:
        raise Invalid(fault)
    need_same_shape(operand.shape, wanted.shape, fault)


def _check_numbers(
    x: Array,
    features: Array,
    children: Array,
    roots: Array,
    targets: Array | None,
    weights: Array,
    count: int,
) -> None:
    """Raise Invalid for nodes, features and targets that do not exist."""
    limits = [("feature", features, x.shape[1]), ("child", children, len(children))]
    limits += [("root", roots, len(children))]
    if targets is not None:
        limits += [("target", targets, count - weights.shape[1] + 1)]
    for name, numbers, limit in limits:
        outside = numbers[(numbers < 0) | (numbers >= limit)]
        if outside.size:
            raise Invalid(f"{name} {outside[0]} is outside [0, {limit})")


def _leaves(
    x: Array, features: Array, thresholds: Array, children: Array, roots: Array, depths: Array
) -> Array:
    """Return the node at which each row ends in each tree, [rows, trees]."""
    at = np.broadcast_to(roots, (len(x), len(roots))).copy()
    rows = np.arange(len(x))[:, None]
    for step in range(depths.max(initial=0)):
        goes = np.flatnonzero(depths > step)
        here = at[:, goes]
        below = x[rows, features[here]] <= thresholds[here]
        at[:, goes] = children[here, below.astype(np.int64)]
    if (inside := (children[at] != at[..., None]).any(axis=(0, 2))).any():
        tree = int(np.argmax(inside))
        raise Invalid(f"tree {tree} is deeper than {depths[tree]}")
    return at
