"""Products of rows with matrices that indices choose, as mixtures of experts have them."""

import numpy as np

from ...core.errors import Invalid, need_one_of
from ...core.fields import Operand, Result
from ...core.numerics.precision import narrow, widen
from ...core.sizes.checks import need_same, need_same_shape
from ...core.tensor import Array, Tensor, same_dtype
from ..dialect import TriOp
from ..numeric import need_number
from .block_quantized import BlockQuantizedMatMul


class IndexedMatMul(TriOp):
    """Multiply each row by the matrix that its index names: y[m] = a[m] @ w[index[m]].

    `a` is [M, K], `w` is [G, K, N], `index` is [M] of i32 or i64, `y` is [M, N]. A row whose index
    is not in [0, G) has the product 0. Neighbouring rows of equal index share the reads of their
    matrix. Half types are summed in f32. Source: GGML `mul_mat_id`.
    """

    a: Operand
    w: Operand
    index: Operand
    y: Result

    anchor = True

    def infer(self, a: Tensor, w: Tensor, index: Tensor) -> Tensor:
        dtype = same_dtype(need_number(a), w)
        if a.rank != 2 or w.rank != 3:
            raise Invalid(f"multiplies {a} by {w}, must be rows [M, K] by matrices [G, K, N]")
        need_same(a.shape[1], w.shape[1], f"contracts {a.shape[1]} with {w.shape[1]}")
        check_index(index, a)
        return Tensor((a.shape[0], w.shape[2]), dtype)

    def reference(self, a: Array, w: Array, index: Array) -> Array:
        rows = widen(a)
        y = np.zeros((len(a), w.shape[2]), rows.dtype)
        for group, matrix in enumerate(w):
            chosen = index == group
            y[chosen] = rows[chosen] @ widen(matrix)
        return narrow(y, a)


class IndexedBlockMatMul(TriOp):
    """Multiply each row by the matrix of few bits that its index names.

    Matrices, their scales and zero points are those of `tri.block_quantized_mat_mul`, one after
    another: `w` is ui8 [G, N, blocks, `block` * `bits` / 8], the others are [G, N, blocks]. `a` is
    [M, K], `index` [M] of i32 or i64, `y` [M, N]. A row whose index is not in [0, G) has the
    product 0. Source: GGML `mul_mat_id`.
    """

    a: Operand
    w: Operand
    scales: Operand
    index: Operand
    zero_points: Operand | None = None
    bits: int
    block: int
    activations: str = ""
    y: Result

    anchor = True

    @property
    def of_one(self) -> BlockQuantizedMatMul:
        """Return the product with one of the matrices."""
        return BlockQuantizedMatMul(**self.attributes)

    def infer(
        self,
        a: Tensor,
        w: Tensor,
        scales: Tensor,
        index: Tensor,
        zero_points: Tensor | None = None,
    ) -> Tensor:
        if a.rank != 2 or w.rank != 4:
            raise Invalid(
                f"multiplies {a} by {w}, must be rows [M, K] by bytes [matrices, rows, blocks, "
                "bytes of one]"
            )
        check_index(index, a)
        for what, given in (("scales", scales), ("zero points", zero_points)):
            if given is not None:
                fault = f"has {what} {given}, must be of {w.shape[0]} matrices"
                need_same_shape(given.shape[:1], w.shape[:1], fault)
        zeros = None if zero_points is None else _first(zero_points)
        return self.of_one.infer(a, _first(w), _first(scales), zeros)

    def reference(
        self, a: Array, w: Array, scales: Array, index: Array, zero_points: Array | None = None
    ) -> Array:
        y = np.zeros((len(a), w.shape[1]), a.dtype)
        for group, matrix in enumerate(w):
            chosen = index == group
            if not chosen.any():
                continue
            zeros = None if zero_points is None else zero_points[group]
            y[chosen] = self.of_one.reference(a[chosen], matrix, scales[group], zeros)
        return y


def _first(matrices: Tensor) -> Tensor:
    """Return the type of one of several matrices."""
    return Tensor(matrices.shape[1:], matrices.dtype)


def check_index(index: Tensor, a: Tensor) -> None:
    """Raise Invalid unless each row of a factor has an index."""
    need_one_of("element type of index", index.dtype, ("i32", "i64"))
    fault = f"has index {index} for rows {a}, must have one element for each row"
    need_same_shape(index.shape, a.shape[:1], fault)
