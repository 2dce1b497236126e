"""Values that do not depend on any input."""

from ..core.fields import Result
from ..core.tensor import Array, Tensor
from .dialect import TriOp


class Constant(TriOp):
    """Produce a small constant that is written in the IR."""

    value: Array
    y: Result

    @staticmethod
    def infer(*, value: Array) -> Tensor:
        return Tensor.of(value)

    @staticmethod
    def reference(*, value: Array) -> Array:
        return value


class Weight(TriOp):
    """Produce a constant that lives beside the IR, in `Module.weights`, under `name`."""

    name: str
    type: Tensor
    y: Result

    @staticmethod
    def infer(*, name: str, type: Tensor) -> Tensor:
        return type
