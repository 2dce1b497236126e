"""Rules for factorisations of matrices: Cholesky, LU and QR.

Of a matrix that has none, torch raises an error; what is not defined is NaN here, and `info` of the
functions that return it says which matrix.
"""

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ......dialects.core.sizes.atoms import Size
from ......dialects.core.sizes.dim import lowest
from ......dialects.core.tensor import numpy_dtype
from ....core.values import cast, constant, counted, tensor
from ...registry import Value, torch_op
from ...views import cut, reshape, swap

# -- Cholesky --------------------------------------------------------------------------------------


@torch_op("torch.cholesky", "torch.linalg.cholesky")
def cholesky(input: Value, upper: bool = False) -> Value:
    return tri.Cholesky.build(input, upper=upper).y


@torch_op("torch.linalg.cholesky_ex")
def cholesky_ex(input: Value, *, upper: bool = False, check_errors: bool = False) -> tri.Cholesky:
    return tri.Cholesky.build(input, upper=upper)


# -- LU --------------------------------------------------------------------------------------------


@torch_op("torch.linalg.lu_factor_ex")
def lu_factor_ex(A: Value, *, pivot: bool = True, check_errors: bool = False) -> tri.Lu:
    if not pivot:
        raise Invalid("has pivot=False, must be True")
    return tri.Lu.build(A)


@torch_op("torch.linalg.lu_factor")
def lu_factor(A: Value, *, pivot: bool = True) -> tuple[Value, Value]:
    made = lu_factor_ex(A, pivot=pivot)
    return made.factors, made.pivots


@torch_op("aten::_lu_with_info")
def lu_with_info(input: Value, pivot: bool = True, check_errors: bool = True) -> tri.Lu:
    return lu_factor_ex(input, pivot=pivot)


@torch_op("torch.linalg.lu")
def lu(A: Value, *, pivot: bool = True) -> tuple[Value, Value, Value]:
    return lu_unpack(*lu_factor(A, pivot=pivot))


@torch_op("torch.lu_unpack")
def lu_unpack(
    LU_data: Value, LU_pivots: Value, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Value, Value, Value]:
    """Return P, L and U, of which `P @ L @ U` is what was factorised."""
    type_ = tensor(LU_data)
    nothing = constant(np.zeros(0, numpy_dtype(type_.dtype)))
    swaps, lower, upper = nothing, nothing, nothing
    if unpack_pivots:
        order = order_of(LU_pivots, type_.shape[-2])
        swaps = swap(_one_hot(order, type_.shape[-2], type_.dtype), -2, -1)
    if unpack_data:
        size = lowest(*type_.shape[-2:])
        upper = tri.Trilu.build(cut(LU_data, -2, 0, size), k=0, upper=True).y
        lower = tri.Trilu.build(cut(LU_data, -1, 0, size), k=-1, upper=False).y
        lower = tri.Add.build(lower, identity(type_.shape[-2], size, type_.dtype)).y
    return swaps, lower, upper


def order_of(pivots: Value, size: Size) -> Value:
    """Return the order of rows that pivots make."""
    return tri.PivotsToPermutation.build(pivots, size=size).y


def _one_hot(order: Value, size: Size, dtype: str) -> Value:
    """Return matrices that put rows in an order when they are multiplied by these."""
    column = reshape(order, (*tensor(order).shape, 1))
    return cast(tri.Equal.build(column, counted(size, (size,))).y, dtype)


def identity(rows: Size, columns: Size, dtype: str) -> Value:
    """Return a matrix with ones on its diagonal, and zeros elsewhere."""
    row = counted(rows, (rows, 1))
    return cast(tri.Equal.build(row, counted(columns, (1, columns))).y, dtype)


# -- QR --------------------------------------------------------------------------------------------


@torch_op("torch.geqrf")
def geqrf(input: Value) -> tri.HouseholderQr:
    return tri.HouseholderQr.build(input)


@torch_op("torch.linalg.householder_product")
def householder_product(input: Value, tau: Value) -> tri.HouseholderProduct:
    return tri.HouseholderProduct.build(input, tau)


@torch_op("torch.orgqr")
def orgqr(input: Value, input2: Value) -> tri.HouseholderProduct:
    return householder_product(input, input2)


@torch_op("torch.linalg.qr")
def qr(A: Value, mode: str = "reduced") -> tuple[Value, Value]:
    """Return Q and R; Q has no elements in mode `r`."""
    if mode not in ("reduced", "complete", "r"):
        raise Invalid(f"has mode '{mode}', must be reduced, complete or r")
    rows, columns = tensor(A).shape[-2:]
    made = tri.HouseholderQr.build(A)
    size = rows if mode == "complete" else lowest(rows, columns)
    r = tri.Trilu.build(cut(made.factors, -2, 0, size), k=0, upper=True).y
    if mode == "r":
        return constant(np.zeros(0, numpy_dtype(tensor(A).dtype))), r
    return _product_of(made.factors, made.tau, size), r


@torch_op("torch.qr")
def qr_of_some(input: Value, some: bool = True) -> tuple[Value, Value]:
    return qr(input, "reduced" if some else "complete")


@torch_op("torch.ormqr")
def ormqr(
    input: Value, input2: Value, input3: Value, left: bool = True, transpose: bool = False
) -> Value:
    """Multiply a matrix by the whole Q of reflections, or by its transpose."""
    q = _product_of(input, input2, tensor(input).shape[-2])
    q = swap(q, -2, -1) if transpose else q
    return tri.MatMul.build(*((q, input3) if left else (input3, q))).y


def _product_of(factors: Value, tau: Value, columns: Size) -> Value:
    """Return so many columns of the product of reflections, which may be more than there are."""
    have = tensor(factors).shape[-1]
    kept = cut(factors, -1, 0, lowest(have, columns))
    if columns != have:
        pads = [0] * (2 * tensor(kept).rank)
        pads[-1] = columns - tensor(kept).shape[-1]
        kept = tri.Pad.build(kept, pads=tuple(pads)).y
    return tri.HouseholderProduct.build(kept, tau).y
