"""The elements that a condition selects, and their places."""

from collections.abc import Sequence

import numpy as np

from ...core.data_dependent import DataDependentOp
from ...core.errors import Invalid
from ...core.fields import Operand, Result
from ...core.sizes.atoms import Size
from ...core.sizes.checks import need
from ...core.tensor import Array, Tensor, normalize_axis
from ..dialect import TriOp
from ..numeric import need_bool


class NonZero(DataDependentOp, TriOp):
    """List the indices of the elements that are not zero, in row-major order.

    `y` is [rank of x, count]: a column for each element found. Source: ONNX `NonZero`.
    """

    x: Operand
    count: int
    y: Result

    found_sizes = ("count",)

    def infer(self, x: Tensor) -> Tensor:
        return Tensor((x.rank, self.count), "i64")

    def reference(self, x: Array) -> Array:
        return indices_of(x)

    def most(self, x: Tensor) -> tuple[Size]:
        return (x.size,)

    def find(self, operands: Sequence[Array], results: Sequence[Array]) -> tuple[int]:
        return (results[0].shape[1],)


class Compress(DataDependentOp, TriOp):
    """Take the slices of `x` along an axis at which the condition is true.

    The condition is [slices]; slices beyond its end are not taken. Source: ONNX `Compress`.
    """

    x: Operand
    condition: Operand
    count: int
    axis: int = 0
    y: Result

    found_sizes = ("count",)
    quantized = "one scale"

    def infer(self, x: Tensor, condition: Tensor) -> Tensor:
        axis = normalize_axis(self.axis, x.rank)
        if need_bool(condition).rank != 1:
            raise Invalid(f"condition is {condition}, must have rank 1")
        length, size = condition.shape[0], x.shape[axis]
        need(size, length, f"condition has {length} elements, must have at most {size}")
        return Tensor((*x.shape[:axis], self.count, *x.shape[axis + 1 :]), x.dtype)

    def reference(self, x: Array, condition: Array) -> Array:
        return np.compress(condition, x, self.axis)

    def most(self, x: Tensor, condition: Tensor) -> tuple[Size]:
        return (condition.shape[0],)

    def find(self, operands: Sequence[Array], results: Sequence[Array]) -> tuple[int]:
        return (results[0].shape[self.axis],)


def indices_of(x: Array) -> Array:
    """Return the indices of the elements that are not zero, a column for each."""
    if x.ndim == 0:  # numpy has no indices of no axes
        return np.zeros((0, int(x != 0)), np.int64)
    return np.array(np.nonzero(x), np.int64)
