"""Mixtures of experts: each row goes through the few experts that a router chooses for it."""

from collections.abc import Callable

from ....dialects import tri
from ....dialects.core.sizes.checks import need
from ..core.values import Value, tensor

Feed = Callable[[Value, Value], Value]
"""Computes rows [M, K] by experts, whose numbers are [M], to [M, N]."""


def mixed(x: Value, logits: Value, count: int, feed: Feed, *, normalized: bool) -> Value:
    """Return the sum of what experts make of each row, weighted by the router: [M, N].

    `x` is [M, K], `logits` of the router are [M, experts]: the softmax of all is the weight of
    each, and the greatest `count` are chosen. Weights that are `normalized` sum up to 1.
    """
    rows, experts = tensor(logits).shape
    need(count, 1, f"chooses {count} experts, must be at least 1")
    need(experts, count, f"chooses {count} experts, must be at most {experts}")
    chosen = tri.TopK.build(tri.Softmax.build(logits, axis=1).y, k=count, axis=1)
    weights = chosen.values
    if normalized:
        total = tri.ReduceSum.build(weights, axes=(1,), keepdims=True).y
        weights = tri.Div.build(weights, total).y
    index = tri.Reshape.build(chosen.indices, shape=(rows * count,)).y
    made = _by_expert(feed, _repeated(x, count), index)
    made = tri.Reshape.build(made, shape=(rows, count, tensor(made).shape[1])).y
    weighted = tri.Mul.build(made, tri.Reshape.build(weights, shape=(rows, count, 1)).y).y
    return tri.ReduceSum.build(weighted, axes=(1,), keepdims=False).y


def _by_expert(feed: Feed, x: Value, index: Value) -> Value:
    """Feed rows in the order of their experts, so that neighbours share what is read of one."""
    order = _order(index)
    sorted_rows, sorted_index = (tri.Gather.build(y, order, axis=0).y for y in (x, index))
    return tri.Gather.build(feed(sorted_rows, sorted_index), _order(order), axis=0).y


def _order(index: Value) -> Value:
    """Return where the least element is, and so on: of equal ones the first comes first."""
    count = tensor(index).size
    return tri.TopK.build(index, k=count, axis=0, largest=False).indices


def _repeated(x: Value, count: int) -> Value:
    """Repeat each row so many times."""
    rows, size = tensor(x).shape
    apart = tri.Reshape.build(x, shape=(rows, 1, size)).y
    repeated = tri.Expand.build(apart, shape=(rows, count, size)).y
    return tri.Reshape.build(repeated, shape=(rows * count, size)).y


def expert_product(x: Value, w: Value, bias: Value | None, index: Value) -> Value:
    """Multiply rows by the matrices of their experts, [experts, K, N], and add their biases."""
    y = tri.IndexedMatMul.build(x, w, index).y
    return y if bias is None else tri.Add.build(y, tri.Gather.build(bias, index, axis=0).y).y
