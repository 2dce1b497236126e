"""Rules of `ai.onnx.ml` for ensembles of trees."""

from collections.abc import Sequence

import numpy as np

from ......dialects.core.errors import Invalid
from ......dialects.core.tensor import Array
from ....core.values import tensor
from ...registry import Value, onnx_op
from . import DOMAIN
from .operands import matrix
from .scores import TRANSFORMS, transformed
from .tree_nodes import LEAF, MEMBER, Leaves, Nodes, ensemble

Ints = tuple[int, ...]
AGGREGATES = ("average", "sum", "min", "max")
"""By the numbers of ONNX."""


@onnx_op("TreeEnsemble", since=5, domain=DOMAIN)
def tree_ensemble(
    x: Value,
    *,
    aggregate_function: int = 1,
    leaf_targetids: Ints,
    leaf_weights: Array,
    membership_values: Array | None = None,
    n_targets: int = 1,
    nodes_falseleafs: Ints,
    nodes_falsenodeids: Ints,
    nodes_featureids: Ints,
    nodes_hitrates: Array | None = None,
    nodes_missing_value_tracks_true: Ints = (),
    nodes_modes: Array,
    nodes_splits: Array,
    nodes_trueleafs: Ints,
    nodes_truenodeids: Ints,
    post_transform: int = 0,
    tree_roots: Ints,
) -> Value:
    """Aggregate the weights of the leaves that samples end in."""
    if not 0 <= aggregate_function < len(AGGREGATES) or not 0 <= post_transform < len(TRANSFORMS):
        raise Invalid(f"has aggregate {aggregate_function} and transform {post_transform}")
    inner, leaves = len(nodes_modes), len(leaf_targetids)
    sides = [nodes_truenodeids, nodes_trueleafs, nodes_falsenodeids, nodes_falseleafs]
    missing = nodes_missing_value_tracks_true or (0,) * inner
    lengths = {len(each) for each in (nodes_featureids, nodes_splits, missing, *sides)}
    if lengths != {inner} or leaf_weights.size != leaves:
        raise Invalid("has attributes of different lengths for nodes or leaves")
    if_true, if_false = (
        np.where(np.array(is_leaf) != 0, np.array(index) + inner, np.array(index))
        for index, is_leaf in ((sides[0], sides[1]), (sides[2], sides[3]))
    )
    nodes = Nodes(
        np.pad(nodes_modes.astype(np.int64), (0, leaves), constant_values=LEAF),
        np.pad(np.array(nodes_featureids, np.int64), (0, leaves)),
        np.pad(nodes_splits, (0, leaves)),
        np.pad(if_true, (0, leaves)),
        np.pad(if_false, (0, leaves)),
        np.pad(np.array(missing) != 0, (0, leaves)),
        np.array(tree_roots, np.int64),
        _sets(membership_values, int((nodes_modes == MEMBER).sum())),
    )
    targets = np.array(leaf_targetids, np.int64)
    weights = Leaves(np.arange(inner, inner + leaves), targets, leaf_weights.reshape(-1), n_targets)
    y = ensemble(matrix(x, tensor(x).dtype), nodes, weights, AGGREGATES[aggregate_function])
    return transformed(y, TRANSFORMS[post_transform])


def _sets(values: Array | None, count: int) -> Sequence[Array]:
    """Split the members of all sets at the NaN behind each."""
    if values is None:
        return ()
    ends = np.flatnonzero(np.isnan(values))
    return [part[~np.isnan(part)] for part in np.split(values, ends)][:count]
