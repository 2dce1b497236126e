"""Of boxes that overlap too much, those with the best scores."""

from collections.abc import Sequence

import numpy as np

from ...core.data_dependent import DataDependentOp
from ...core.errors import Invalid
from ...core.fields import Operand, Result
from ...core.numerics.precision import widen
from ...core.sizes.atoms import Size
from ...core.sizes.checks import need_same_shape
from ...core.sizes.dim import lowest
from ...core.tensor import Array, Tensor, same_dtype
from ..dialect import TriOp
from ..numeric import need_float

NOT_LIMITED = (1 << 63) - 1
"""The limit of boxes for each class where there is none."""


class NonMaxSuppression(DataDependentOp, TriOp):
    """Choose boxes by their scores, class by class, without those that overlap a better one.

    `boxes` is [batches, boxes, 4]: two opposite corners, or centres and sizes if `centered`;
    `scores` is [batches, classes, boxes]. Boxes overlap too much where their intersection is more
    than `overlap` (0 if absent) times their union. Of each class, at most `limit` boxes are chosen,
    of a score above `least` if that is given. `y` is [count, 3]: batch, class and box, the best
    boxes of a class first. Source: ONNX `NonMaxSuppression`.
    """

    boxes: Operand
    scores: Operand
    overlap: Operand | None = None
    least: Operand | None = None
    count: int
    limit: int = NOT_LIMITED
    centered: bool = False
    y: Result

    found_sizes = ("count",)

    def infer(
        self, boxes: Tensor, scores: Tensor, overlap: Tensor | None, least: Tensor | None
    ) -> Tensor:
        need_boxes(boxes, scores, overlap, least, self.limit)
        return Tensor((self.count, 3), "i64")

    def reference(
        self, boxes: Array, scores: Array, overlap: Array | None, least: Array | None
    ) -> Array:
        return chosen_boxes(boxes, scores, overlap, least, self.limit, self.centered)

    def most(self, boxes: Tensor, scores: Tensor, *_: Tensor | None) -> tuple[Size]:
        return (most_boxes(scores, self.limit),)

    def find(self, operands: Sequence[Array], results: Sequence[Array]) -> tuple[int]:
        return (len(results[0]),)


def need_boxes(
    boxes: Tensor, scores: Tensor, overlap: Tensor | None, least: Tensor | None, limit: int
) -> None:
    """Raise Invalid unless boxes can be chosen."""
    same_dtype(need_float(boxes), scores)
    fault = f"boxes are {boxes}, scores {scores}: must be BxNx4 and BxCxN"
    if scores.rank != 3:
        raise Invalid(fault)
    need_same_shape(boxes.shape, (scores.shape[0], scores.shape[2], 4), fault)
    for name, threshold in (("overlap", overlap), ("least", least)):
        if threshold is not None and need_float(threshold).shape != ():
            raise Invalid(f"{name} is {threshold}, must be one number")
    if limit < 0:
        raise Invalid(f"limit is {limit}, must be at least 0")


def most_boxes(scores: Tensor, limit: int) -> Size:
    """Return how many boxes are chosen at most."""
    batches, classes, _ = scores.shape
    return batches * classes * most_of_class(scores, limit)


def most_of_class(scores: Tensor, limit: int) -> Size:
    """Return how many boxes are chosen of a class at most."""
    count = scores.shape[2]
    return count if limit == NOT_LIMITED else lowest(limit, count)


def chosen_boxes(
    boxes: Array,
    scores: Array,
    overlap: Array | None,
    least: Array | None,
    limit: int,
    centered: bool,
) -> Array:
    """Return batch, class and box of the boxes that are chosen."""
    score = -np.inf if least is None else float(least)
    shared = 0.0 if overlap is None else float(overlap)
    kept = [
        (batch, kind, box)
        for batch, kinds in enumerate(widen(scores))
        for kind, values in enumerate(kinds)
        for box in _kept(_corners(widen(boxes)[batch], centered), values, limit, shared, score)
    ]
    return np.array(kept, np.int64).reshape(-1, 3)


def _corners(boxes: Array, centered: bool) -> tuple[Array, Array]:
    """Return the lower and the upper corners of boxes."""
    first, second = boxes[:, :2], boxes[:, 2:]
    if centered:
        return first - second / 2, first + second / 2
    return np.minimum(first, second), np.maximum(first, second)


def _kept(
    corners: tuple[Array, Array], scores: Array, limit: int, overlap: float, least: float
) -> list[int]:
    """Choose the boxes of one class."""
    low, high = corners
    areas = (high - low).prod(1)
    kept: list[int] = []
    for box in np.argsort(-scores, kind="stable"):
        if len(kept) == limit or not scores[box] > least:
            break
        common = np.maximum(np.minimum(high[box], high[kept]) - np.maximum(low[box], low[kept]), 0)
        shared = common.prod(1)
        union = areas[box] + areas[kept] - shared
        if not (shared > overlap * union).any():
            kept.append(int(box))
    return kept
