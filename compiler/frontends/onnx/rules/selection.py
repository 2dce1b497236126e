"""ONNX rules for operators that select elements by what elements are.

Of values that are known at compile time, the results are, too. Of others, the ops define symbols.
"""

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from .....dialects import tri
from .....dialects.core.data_dependent import DataDependentOp
from .....dialects.core.errors import Invalid
from .....dialects.core.sizes.atoms import Size
from .....dialects.core.tensor import Array, normalize_axis
from ...core.values import constant as constant_value
from ...core.values import ints, single, tensor
from ..registry import Node, Value, onnx_op

Results = DataDependentOp | tuple[Array, ...]


def found_results(
    node: Node, operands: Sequence[Value | None], op: Callable[[Size], DataDependentOp]
) -> Results:
    """Compute the results of an op that finds one size, or build it with a symbol for this size."""
    types = [None if value is None else tensor(value) for value in operands]
    op(0).infer(*types)  # refuses types that the op does not take
    known = [None if value is None else node.evaluate(value) for value in operands]
    if all(
        (value is None) == (array is None) for value, array in zip(operands, known, strict=True)
    ):
        made = op(0).reference(*known)
        return cast("tuple[Array, ...]", made) if isinstance(made, tuple) else (made,)
    return node.found.select(operands, op)


@onnx_op("NonZero", since=9)
def non_zero(x: Value, *, node: Node) -> Results:
    return found_results(node, [x], lambda count: tri.NonZero(count=count))


@onnx_op("Compress", since=9)
def compress(x: Value, condition: Value, *, axis: int | None = None, node: Node) -> Any:
    if axis is None:
        x, axis = tri.Reshape.build(x, shape=(tensor(x).size,)).y, 0
    axis = normalize_axis(axis, tensor(x).rank)
    chosen = node.evaluate(condition)
    if chosen is None:
        return found_results(
            node, [x, condition], lambda count: tri.Compress(count=count, axis=axis)
        )
    size = tensor(x).shape[axis]
    if chosen.ndim != 1 or chosen.size > size:
        raise Invalid(f"has a condition of shape {list(chosen.shape)} for {size} elements")
    places = np.nonzero(chosen)[0].astype(np.int64)
    return tri.Gather.build(x, constant_value(places), axis=axis)


@onnx_op("Unique", since=11)
def unique(x: Value, *, axis: int | None = None, sorted: int = 1, node: Node) -> Results:
    along = 0 if axis is None else normalize_axis(axis, tensor(x).rank)
    known = node.evaluate(x)
    if known is not None:
        listed = known.reshape(-1) if axis is None else known
        return tri.Unique(count=0, axis=along, sorted=bool(sorted)).reference(listed)
    if axis is None:
        x = tri.Reshape.build(x, shape=(tensor(x).size,)).y
    return found_results(
        node, [x], lambda count: tri.Unique(count=count, axis=along, sorted=bool(sorted))
    )


@onnx_op("NonMaxSuppression", since=10)
def non_max_suppression(
    boxes: Value,
    scores: Value,
    max_output_boxes_per_class: Value | None = None,
    iou_threshold: Value | None = None,
    score_threshold: Value | None = None,
    *,
    center_point_box: int = 0,
    node: Node,
) -> Results:
    if max_output_boxes_per_class is None:
        return (np.zeros((0, 3), np.int64),)
    limit = _limit(max_output_boxes_per_class, node)
    operands = [boxes, scores, _scalar(iou_threshold, node), _scalar(score_threshold, node)]
    centered = bool(center_point_box)
    return found_results(
        node,
        operands,
        lambda count: tri.NonMaxSuppression(count=count, limit=limit, centered=centered),
    )


def _limit(value: Value, node: Node) -> Size:
    """Return how many boxes a class may have; a negative number means none."""
    known = node.evaluate(value)
    if known is not None:
        return max(*ints(single(known)), 0)
    zero = constant_value(np.zeros((), np.int64))
    (limit,) = node.found.define(tri.Maximum.build(_scalar(value, node), zero).y, (None,))
    return limit


def _scalar(value: Value | None, node: Node) -> Value | None:
    if value is None or tensor(value).shape == ():
        return value
    known = node.evaluate(value)
    if known is not None:
        return constant_value(single(known))
    return tri.Reshape.build(value, shape=()).y
