"""Values that do not depend on any input."""

from ..core.fields import Result
from ..core.mlir import ir
from ..core.module import Module
from ..core.tensor import Array, Tensor, dense, is_string
from .dialect import TriOp

INLINE_BYTES = 1024
"""Constants up to this size are written in the IR; larger ones become weights beside it."""


class Constant(TriOp):
    """Produce a small constant that is written in the IR."""

    value: Array
    y: Result

    def infer(self) -> Tensor:
        return Tensor.of(self.value)

    def reference(self) -> Array:
        return self.value


class Weight(TriOp):
    """Produce a constant that lives beside the IR, in `Module.weights`, under `name`."""

    name: str
    type: Tensor
    y: Result

    def infer(self) -> Tensor:
        return self.type


def build_constant(
    module: Module, array: Array, name: str, loc: ir.Location | None = None
) -> Constant | Weight:
    """Make a constant at the insertion point, in the IR or beside it by its size.

    Text is always in the IR: weights are bytes. `name` is a hint for the name of a weight. Raises
    Unsupported for an element type that Trivium does not have.
    """
    tensor = Tensor.of(array)
    if array.nbytes <= INLINE_BYTES or is_string(tensor.dtype):
        return Constant.build(value=array, loc=loc)
    key = module.add_weight(name, dense(array))
    return Weight.build(name=key, type=tensor, loc=loc)
