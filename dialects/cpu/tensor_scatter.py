"""An in-place form of `tri.tensor_scatter`, for what a session keeps from run to run."""

from ..core.fields import Operand, Result
from ..core.tensor import Array, Tensor
from ..tri.shape.tensor_scatter import TensorScatter as Functional
from .dialect import CpuOp


class TensorScatter(CpuOp):
    """Write rows of `updates` into `x`, in place: the result is stored where `x` is.

    A kernel writes these rows, and nothing else. The plan of the memory gives the result the place
    of an input that a session updates, and refuses any other `x`. Operands and attributes are those
    of `tri.tensor_scatter`.
    """

    x: Operand
    updates: Operand
    starts: Operand
    counts: Operand | None = None
    axis: int = -2
    circular: bool = False
    y: Result

    updated = "x"

    def infer(
        self, x: Tensor, updates: Tensor, starts: Tensor, counts: Tensor | None = None
    ) -> Tensor:
        return self._functional.infer(x, updates, starts, counts)

    def reference(
        self, x: Array, updates: Array, starts: Array, counts: Array | None = None
    ) -> Array:
        return self._functional.reference(x, updates, starts, counts)

    @property
    def _functional(self) -> Functional:
        return Functional(axis=self.axis, circular=self.circular)
