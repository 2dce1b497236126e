"""Rules of `ai.onnx.ml` for ensembles of trees as they were before `TreeEnsemble`."""

from typing import Any

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ......dialects.core.tensor import Array
from ....core.values import cast, tensor
from ...registry import Value, onnx_op
from . import DOMAIN
from .operands import column, matrix, numbers_like
from .scores import (
    best,
    both_classes,
    class_labels,
    label_of_two,
    labels_at,
    opposite,
    transformed,
)
from .tree_nodes import LEAF, Leaves, Nodes, ensemble

Ints = tuple[int, ...]
Floats = tuple[float, ...]
Texts = tuple[str, ...]

MODES = ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ")
AGGREGATES = {"SUM": "sum", "AVERAGE": "average", "MIN": "min", "MAX": "max"}


@onnx_op("TreeEnsembleRegressor", since=1, domain=DOMAIN)
def tree_ensemble_regressor(
    x: Value,
    *,
    aggregate_function: str = "SUM",
    base_values: Floats = (),
    base_values_as_tensor: Array | None = None,
    n_targets: int = 1,
    nodes_falsenodeids: Ints = (),
    nodes_featureids: Ints = (),
    nodes_hitrates: Floats = (),
    nodes_hitrates_as_tensor: Array | None = None,
    nodes_missing_value_tracks_true: Ints = (),
    nodes_modes: Texts = (),
    nodes_nodeids: Ints = (),
    nodes_treeids: Ints = (),
    nodes_truenodeids: Ints = (),
    nodes_values: Floats = (),
    nodes_values_as_tensor: Array | None = None,
    post_transform: str = "NONE",
    target_ids: Ints = (),
    target_nodeids: Ints = (),
    target_treeids: Ints = (),
    target_weights: Floats = (),
    target_weights_as_tensor: Array | None = None,
) -> Value:
    """Aggregate the weights of the leaves that samples end in, and add base values."""
    if aggregate_function not in AGGREGATES:
        raise Invalid(f"has aggregate '{aggregate_function}', must be {', '.join(AGGREGATES)}")
    ids = _NodeIds(nodes_treeids, nodes_nodeids)
    nodes = ids.nodes(
        nodes_modes,
        nodes_featureids,
        _floats(nodes_values_as_tensor, nodes_values),
        (nodes_truenodeids, nodes_falsenodeids),
        nodes_missing_value_tracks_true,
    )
    weights = _floats(target_weights_as_tensor, target_weights)
    leaves = ids.leaves(target_treeids, target_nodeids, target_ids, weights, n_targets)
    y = ensemble(_samples(x), nodes, leaves, AGGREGATES[aggregate_function])
    base = _floats(base_values_as_tensor, base_values)
    if base.size not in (0, 1, n_targets):
        raise Invalid(f"has {base.size} base values for {n_targets} targets")
    y = tri.Add.build(y, numbers_like(base, y)).y if base.size else y
    return cast(transformed(y, post_transform), "f32")


@onnx_op("TreeEnsembleClassifier", since=1, domain=DOMAIN)
def tree_ensemble_classifier(
    x: Value,
    *,
    base_values: Floats = (),
    base_values_as_tensor: Array | None = None,
    class_ids: Ints = (),
    class_nodeids: Ints = (),
    class_treeids: Ints = (),
    class_weights: Floats = (),
    class_weights_as_tensor: Array | None = None,
    classlabels_int64s: Ints = (),
    classlabels_strings: Texts = (),
    nodes_falsenodeids: Ints = (),
    nodes_featureids: Ints = (),
    nodes_hitrates: Floats = (),
    nodes_hitrates_as_tensor: Array | None = None,
    nodes_missing_value_tracks_true: Ints = (),
    nodes_modes: Texts = (),
    nodes_nodeids: Ints = (),
    nodes_treeids: Ints = (),
    nodes_truenodeids: Ints = (),
    nodes_values: Floats = (),
    nodes_values_as_tensor: Array | None = None,
    post_transform: str = "NONE",
) -> tuple[Value, Value]:
    """Return the label of the best class, and the scores of all classes."""
    labels = class_labels(classlabels_int64s, classlabels_strings)
    ids = _NodeIds(nodes_treeids, nodes_nodeids)
    nodes = ids.nodes(
        nodes_modes,
        nodes_featureids,
        _floats(nodes_values_as_tensor, nodes_values),
        (nodes_truenodeids, nodes_falsenodeids),
        nodes_missing_value_tracks_true,
    )
    weights = _floats(class_weights_as_tensor, class_weights)
    base = _floats(base_values_as_tensor, base_values)
    given = (class_treeids, class_nodeids, class_ids, weights)
    if len(labels) == 2 and len(set(class_ids)) == 1 and base.size < 2:
        leaves = ids.leaves(*given[:2], (0,) * len(class_ids), weights, 1)
        score = _with_base(ensemble(_samples(x), nodes, leaves, "sum"), base)
        return _of_two(score, labels, post_transform, bool((weights >= 0).all()))
    leaves = ids.leaves(*given, len(labels))
    scores = _with_base(ensemble(_samples(x), nodes, leaves, "sum"), base)
    return labels_at(best(scores), labels), cast(transformed(scores, post_transform), "f32")


def _with_base(scores: Value, base: Array) -> Value:
    if base.size not in (0, tensor(scores).shape[1]):
        raise Invalid(f"has {base.size} base values for {tensor(scores).shape[1]} classes")
    return tri.Add.build(scores, numbers_like(base, scores)).y if base.size else scores


def _of_two(score: Value, labels: Array, transform: str, is_share: bool) -> tuple[Value, Value]:
    """Decide between two classes by one score, a probability if all weights are positive."""
    above = tri.Greater.build(column(score, 0), numbers_like(0.5 if is_share else 0, score)).y
    chosen = label_of_two(above, labels)
    if transform == "PROBIT":
        return chosen, cast(transformed(score, transform), "f32")
    if transform == "LOGISTIC":
        score, is_share = transformed(score, transform), True
    negated = tri.Neg.build(score).y  # a softmax of one score is the score
    both = opposite(score) if is_share else both_classes(negated, score)
    return chosen, cast(both, "f32")


def _samples(x: Value) -> Value:
    return matrix(x, "f64" if tensor(x).dtype == "f64" else "f32")


def _floats(array: Array | None, listed: Floats) -> Array:
    return np.array(listed, np.float32) if array is None else array.reshape(-1)


class _NodeIds:
    """Find nodes by the numbers of their trees and their own numbers, which may be any."""

    def __init__(self, trees: Ints, nodes: Ints) -> None:
        if len(trees) != len(nodes) or not nodes:
            raise Invalid(f"has {len(trees)} numbers of trees for {len(nodes)} nodes")
        self.trees = np.array(trees, np.int64)
        self._span = int(max(nodes)) + 1
        keys = self._keys(self.trees, np.array(nodes, np.int64))
        self._order = np.argsort(keys, kind="stable")
        self._sorted = keys[self._order]
        if min(nodes) < 0 or (np.diff(self._sorted) == 0).any():
            raise Invalid("has two nodes of one number in a tree")

    def _keys(self, trees: Array, nodes: Array) -> Array:
        return trees * self._span + nodes

    def find(self, trees: Array, nodes: Array) -> Array:
        """Return the indices of nodes; raise Invalid for one that does not exist."""
        keys = self._keys(trees, nodes)
        at = np.searchsorted(self._sorted, keys).clip(0, len(self._sorted) - 1)
        lost = (self._sorted[at] != keys) | (nodes < 0) | (nodes >= self._span)
        if lost.any():
            tree, node = trees[lost][0], nodes[lost][0]
            raise Invalid(f"names node {node} of tree {tree}, which does not exist")
        return self._order[at]

    def nodes(
        self, modes: Texts, features: Ints, values: Array, sides: tuple[Ints, Ints], missing: Ints
    ) -> Nodes:
        """Return the nodes of all trees, with indices of nodes for their numbers."""
        count = len(self.trees)
        missing = missing or (0,) * count
        given: list[Any] = [modes, features, values, *sides, missing]
        if {len(each) for each in given} != {count}:
            raise Invalid(f"has attributes of different lengths for {count} nodes")
        numbers = {"LEAF": LEAF} | {f"BRANCH_{name}": i for i, name in enumerate(MODES)}
        if unknown := set(modes) - set(numbers):
            raise Invalid(f"has mode '{min(unknown)}', must be {', '.join(numbers)}")
        coded = np.array([numbers[mode] for mode in modes])
        inner = np.flatnonzero(coded != LEAF)
        ways = np.zeros((2, count), np.int64)
        for way, side in zip(ways, sides, strict=True):
            way[inner] = self.find(self.trees[inner], np.array(side, np.int64)[inner])
        is_root = np.ones(count, bool)
        is_root[ways[:, inner]] = False
        is_missing, roots = np.array(missing) != 0, np.flatnonzero(is_root)
        numbered = np.array(features, np.int64)
        return Nodes(coded, numbered, values, ways[0], ways[1], is_missing, roots)

    def leaves(self, trees: Ints, nodes: Ints, targets: Ints, weights: Array, count: int) -> Leaves:
        """Return the weights of leaves, with indices of nodes for their numbers."""
        if {len(trees), len(nodes), len(targets)} != {len(weights)}:
            raise Invalid(f"has attributes of different lengths for {len(weights)} weights")
        at = self.find(np.array(trees, np.int64), np.array(nodes, np.int64))
        return Leaves(at, np.array(targets, np.int64), weights, count)
