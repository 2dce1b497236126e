"""ONNX rules for ensembles of trees."""

from dataclasses import dataclass, field

import numpy as np
from onnx.numpy_helper import from_array

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.errors import Unsupported
from .....dialects.core.mlir import ir
from .....dialects.core.tensor import Array, numpy_dtype
from ..graph import OnnxGraph, exports

AGGREGATES = ("average", "sum", "min", "max")
"""By the numbers of ONNX."""

Node = tuple[int, float, int, bool, int, bool]
"""Feature and threshold; then each child, and whether it is a leaf, the one of `<=` first."""


@exports(tri.TreeEnsemble)
def tree_ensemble(op: tri.TreeEnsemble, graph: OnnxGraph) -> None:
    """Write a tree for each tree and target: a leaf of ONNX has one weight."""
    operands = [op.features, op.thresholds, op.children, op.weights, op.roots, op.depths]
    targets = None if op.targets is None else _known(graph, op.targets)
    trees = _Trees(*(_known(graph, value) for value in operands), targets=targets)
    width = tensor_of(op.weights.type).shape[1]
    dtype = numpy_dtype(tensor_of(op.x.type).dtype)
    count, divides = len(trees.roots), op.aggregate == "average" and width > 1
    if not count or (divides and dtype.itemsize < 4):
        raise Unsupported("is an ensemble that ONNX does not have: of no trees, or a mean of f16")
    roots = [trees.add(tree, column) for tree in range(count) for column in range(width)]
    sums = graph.between(op.y, "sum") if divides else op.y
    graph.add(
        "ai.onnx.ml::TreeEnsemble",
        [op.x],
        [sums],
        since=5,
        **trees.attributes(dtype),
        tree_roots=roots,
        n_targets=op.count,
        aggregate_function=AGGREGATES.index("sum" if divides else op.aggregate),
    )
    if divides:
        graph.add("Div", [sums, np.array(count, dtype)], [op.y])


def _known(graph: OnnxGraph, value: ir.Value) -> Array:
    array = graph.flow.array(value)
    if array is None:
        raise Unsupported("takes trees that are computed, which ONNX does not")
    return array


@dataclass
class _Trees:
    """Hold trees as the op has them, and list nodes and leaves as ONNX has them."""

    features: Array
    thresholds: Array
    children: Array
    weights: Array
    roots: Array
    depths: Array
    targets: Array | None
    nodes: list[Node] = field(default_factory=list[Node])
    leaves: list[tuple[int, float]] = field(default_factory=list[tuple[int, float]])

    def add(self, tree: int, column: int) -> int:
        """Add a tree with the weights of one column, and return the index of its root."""
        index, is_leaf = self._add(int(self.roots[tree]), int(self.depths[tree]), column)
        if not is_leaf:
            return index
        self.nodes.append((0, 0.0, index, True, index, True))  # a root of ONNX is no leaf
        return len(self.nodes) - 1

    def _add(self, node: int, steps: int, column: int) -> tuple[int, bool]:
        no, yes = (int(child) for child in self.children[node])
        if not steps or no == yes == node:
            target = column if self.targets is None else int(self.targets[node]) + column
            self.leaves.append((target, float(self.weights[node, column])))
            return len(self.leaves) - 1, True
        index = len(self.nodes)
        self.nodes.append((0, 0.0, 0, False, 0, False))
        sides = self._add(yes, steps - 1, column), self._add(no, steps - 1, column)
        feature, threshold = int(self.features[node]), float(self.thresholds[node])
        self.nodes[index] = (feature, threshold, *sides[0], *sides[1])
        return index, False

    def attributes(self, dtype: np.dtype[np.generic]) -> dict[str, object]:
        features, thresholds, yes, yes_leaf, no, no_leaf = zip(*self.nodes, strict=True)
        targets, weights = zip(*self.leaves, strict=True)
        return {
            "nodes_featureids": features,
            "nodes_splits": from_array(np.array(thresholds, dtype)),
            "nodes_modes": from_array(np.zeros(len(features), np.uint8)),
            "nodes_truenodeids": yes,
            "nodes_trueleafs": list(map(int, yes_leaf)),
            "nodes_falsenodeids": no,
            "nodes_falseleafs": list(map(int, no_leaf)),
            "leaf_targetids": targets,
            "leaf_weights": from_array(np.array(weights, dtype)),
        }
