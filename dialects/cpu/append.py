"""An in-place form of `tri.concat`, for what a loop carries and only makes longer."""

from collections.abc import Sequence

import numpy as np

from ..core.errors import Invalid
from ..core.fields import Operand, Result
from ..core.tensor import Array, Tensor, normalize_axis
from ..tri.shape.reshape import joined
from .dialect import CpuOp


class Append(CpuOp):
    """Store tensors behind `x` along an axis, in place: the result is stored where `x` is.

    A kernel writes what is added, and nothing else: so all sizes before the axis are 1, and the
    memory of `x` has capacity for the result. The plan of the memory gives it to what loops carry,
    and refuses any other `x`.
    """

    x: Operand
    added: Sequence[Operand]
    axis: int
    y: Result

    updated = "x"

    def infer(self, x: Tensor, added: Sequence[Tensor]) -> Tensor:
        y = joined((x, *added), self.axis)
        before = y.shape[: normalize_axis(self.axis, y.rank)]
        if any(size != 1 for size in before):
            raise Invalid(f"appends along axis {self.axis} of {x}, must have sizes 1 before it")
        return y

    def reference(self, x: Array, added: Sequence[Array]) -> Array:
        return np.concatenate((x, *added), self.axis)
