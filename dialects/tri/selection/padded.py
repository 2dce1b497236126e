"""Selections of a size that is known before they are made: what is left of it is filled with zeros.

`count` says how much of `y` is selected, as a number. Of such an op, `tri.define_sizes` of this
number, and a slice, a target makes an op whose result has a size that data decide.
"""

import numpy as np

from ...core.fields import Operand, Result
from ...core.tensor import Array, Tensor
from ..dialect import TriOp
from .non_max_suppression import NOT_LIMITED, chosen_boxes, most_boxes, need_boxes
from .select import indices_of

COUNT = Tensor((), "i64")


class PaddedNonZero(TriOp):
    """List the indices of the elements that are not zero, in row-major order, then zeros.

    `y` is [rank of x, elements of x]: a column for each element found. Source: `jnp.nonzero`.
    """

    x: Operand
    y: Result
    count: Result

    def infer(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return Tensor((x.rank, x.size), "i64"), COUNT

    def reference(self, x: Array) -> tuple[Array, Array]:
        found = indices_of(x)
        y = np.zeros((x.ndim, x.size), np.int64)
        y[:, : found.shape[1]] = found
        return y, np.array(found.shape[1])


class PaddedNonMaxSuppression(TriOp):
    """Choose boxes as `tri.non_max_suppression` does; `y` has zeros behind the ones chosen.

    Source: `tf.image.non_max_suppression_padded`.
    """

    boxes: Operand
    scores: Operand
    overlap: Operand | None = None
    least: Operand | None = None
    limit: int = NOT_LIMITED
    centered: bool = False
    y: Result
    count: Result

    def infer(
        self, boxes: Tensor, scores: Tensor, overlap: Tensor | None, least: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        need_boxes(boxes, scores, overlap, least, self.limit)
        return Tensor((most_boxes(scores, self.limit), 3), "i64"), COUNT

    def reference(
        self, boxes: Array, scores: Array, overlap: Array | None, least: Array | None
    ) -> tuple[Array, Array]:
        found = chosen_boxes(boxes, scores, overlap, least, self.limit, self.centered)
        batches, classes, number = scores.shape
        y = np.zeros((batches * classes * min(self.limit, number), 3), np.int64)
        y[: len(found)] = found
        return y, np.array(len(found))
