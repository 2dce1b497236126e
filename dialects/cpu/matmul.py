"""Matrix products with packed weights."""

from ..core.fields import Operand, Result
from ..core.tensor import Array, Tensor
from ..tri.linear_algebra.matmul import MatMul
from .dialect import CpuOp
from .packing import need_count, plain_columns, unpack_columns

NARROW = ("i8", "ui8", "i16", "ui16", "f16", "bf16")
"""The types of which f32 has all numbers."""


class PackedMatMul(CpuOp):
    """Multiply by a matrix as `tri.mat_mul` does, whose columns come in panels.

    `w` is [panels, depth, columns of a panel], packed by `pack_columns`; `columns` counts
    those that are not filling. It may be of a narrower type, all numbers of which that of `a` has.
    Code works on `rows` rows at a time; 0 leaves that open.
    """

    a: Operand
    w: Operand
    columns: int
    rows: int = 0
    y: Result

    anchor = True

    def infer(self, a: Tensor, w: Tensor) -> Tensor:
        need_count("rows", self.rows)
        dtype = a.dtype if a.dtype == "f32" and w.dtype in NARROW else w.dtype
        return MatMul().infer(a, Tensor(plain_columns(w, self.columns), dtype))

    def reference(self, a: Array, w: Array) -> Array:
        return MatMul().reference(a, unpack_columns(w, self.columns).astype(a.dtype))
