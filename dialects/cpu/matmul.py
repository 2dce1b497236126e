"""Matrix products with packed weights."""

from ..core.fields import Operand, Result
from ..core.tensor import Array, Tensor
from ..tri.matmul import MatMul
from .dialect import CpuOp
from .packing import plain_columns, unpack_columns


class PackedMatMul(CpuOp):
    """Multiply by a matrix as `tri.mat_mul` does, whose columns come in panels.

    `w` is [panels, depth, columns of a panel], packed by `pack_columns`; `columns` counts
    those that are not filling.
    """

    a: Operand
    w: Operand
    columns: int
    y: Result

    anchor = True

    @staticmethod
    def infer(a: Tensor, w: Tensor, *, columns: int) -> Tensor:
        return MatMul.infer(a, Tensor(plain_columns(w, columns), w.dtype))

    @staticmethod
    def reference(a: Array, w: Array, *, columns: int) -> Array:
        return MatMul.reference(a, unpack_columns(w, columns))
