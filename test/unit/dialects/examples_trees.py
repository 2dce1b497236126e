"""Examples of ensembles of trees."""

from typing import Any

import numpy as np
from examples import FLOATS, Example, Pick
from trivium.dialects.core.tensor import Array


def tree_ensemble(pick: Pick) -> Example:
    x = pick.array((pick.between(0, 20), pick.between(1, 4)), *FLOATS)
    trees, depth, count = pick.between(0, 18), pick.between(0, 3), pick.between(1, 3)
    random = np.random.default_rng(pick.between(0, 1 << 16))
    inner, size = 2**depth - 1, 2 ** (depth + 1) - 1
    here = np.arange(size)
    is_leaf = (here >= inner) | (random.random(size) < 0.2)
    sides = np.stack([2 * here + 1, 2 * here + 2], axis=1)
    child = np.where(is_leaf[:, None], here[:, None], sides)
    children = np.concatenate([child + tree * size for tree in range(trees)] or [child])
    nodes = len(children)
    width = pick.one(1, count)
    operands: list[Array | None] = [
        x,
        random.integers(0, x.shape[1], nodes).astype(np.int32),
        pick.array((nodes,), "f32").astype(x.dtype),
        children.astype(np.int32),
        random.normal(size=(nodes, width)).astype(x.dtype),
        np.arange(trees, dtype=np.int32) * size,
        random.integers(depth, depth + 2, trees).astype(np.int32),
        random.integers(0, count - width + 1, nodes).astype(np.int32) if width < count else None,
    ]
    aggregate = pick.one("sum", "average", "min", "max")
    attributes: dict[str, Any] = {"count": count, "aggregate": aggregate}
    return Example(tuple(operands), attributes)
