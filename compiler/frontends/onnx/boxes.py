"""Non-maximum suppression: of boxes that overlap too much, keep the one with the best score."""

import numpy as np

from ....dialects.core.tensor import Array


def suppress(
    boxes: Array, scores: Array, count: int, overlap: float, score: float, *, centered: bool
) -> Array:
    """Return [batch, class, box] of the boxes that are kept, at most `count` for each class.

    `boxes` is [batches, boxes, 4]: two opposite corners, or centres and sizes when `centered`;
    `scores` is [batches, classes, boxes].
    """
    kept = [
        (batch, kind, box)
        for batch, kinds in enumerate(scores)
        for kind, values in enumerate(kinds)
        for box in _keep(_corners(boxes[batch], centered), values, count, overlap, score)
    ]
    return np.array(kept, np.int64).reshape(-1, 3)


def _corners(boxes: Array, centered: bool) -> tuple[Array, Array]:
    """Return the lower and the upper corners of boxes."""
    first, second = boxes[:, :2], boxes[:, 2:]
    if centered:
        return first - second / 2, first + second / 2
    return np.minimum(first, second), np.maximum(first, second)


def _keep(
    corners: tuple[Array, Array], scores: Array, count: int, overlap: float, score: float
) -> list[int]:
    low, high = corners
    areas = (high - low).prod(1)
    kept: list[int] = []
    for box in np.argsort(-scores, kind="stable"):
        if len(kept) == count or not scores[box] > score:
            break
        common = np.maximum(np.minimum(high[box], high[kept]) - np.maximum(low[box], low[kept]), 0)
        shared = common.prod(1)
        union = areas[box] + areas[kept] - shared
        if not (shared > overlap * union).any():
            kept.append(int(box))
    return kept
