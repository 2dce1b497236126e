"""Products of rows with matrices that indices choose, as mixtures of experts have them."""

import numpy as np

from ...core.errors import Invalid, need_one_of
from ...core.fields import Operand, Result
from ...core.numerics.precision import narrow, widen
from ...core.sizes.checks import need_same, need_same_shape
from ...core.tensor import Array, Tensor, same_dtype
from ..dialect import TriOp
from ..numeric import need_number


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
        need_one_of("element type of index", index.dtype, ("i32", "i64"))
        if a.rank != 2 or w.rank != 3:
            raise Invalid(f"multiplies {a} by {w}, must be rows [M, K] by matrices [G, K, N]")
        need_same(a.shape[1], w.shape[1], f"contracts {a.shape[1]} with {w.shape[1]}")
        fault = f"has index {index} for rows {a}, must have one element for each row"
        need_same_shape(index.shape, a.shape[:1], fault)
        return Tensor((a.shape[0], w.shape[2]), dtype)

    def reference(self, a: Array, w: Array, index: Array) -> Array:
        rows = widen(a)
        y = np.zeros((len(a), w.shape[2]), rows.dtype)
        for group, matrix in enumerate(w):
            chosen = index == group
            y[chosen] = rows[chosen] @ widen(matrix)
        return narrow(y, a)
