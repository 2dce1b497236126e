"""Rules for equations with matrices: they are factorised, and solved by substitution.

What of a matrix without an inverse is NaN; torch raises an error there. The functions that return
`info` say of which matrix: the number of the first pivot that is 0.
"""

import math
from typing import Any

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ......dialects.core.sizes.checks import need_same
from ......dialects.core.tensor import broadcast, numpy_dtype
from ....core.values import constant, tensor
from ...registry import Value, torch_op
from ...views import Ints, expand, reshape, swap
from .factorizations import identity, order_of

# -- Triangles -------------------------------------------------------------------------------------


@torch_op("torch.linalg.solve_triangular", renamed={"self": "input"})
def solve_triangular(
    input: Value, B: Value, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Value:
    """Solve equations by one triangle of a matrix: the rest is not read."""
    if not left:
        turned = solve_triangular(
            swap(input, -2, -1), swap(B, -2, -1), upper=not upper, unitriangular=unitriangular
        )
        return swap(turned, -2, -1)
    x, b = _same_batch(input, B)
    return tri.SolveTriangular.build(x, b, upper=upper, unit_diagonal=unitriangular).y


@torch_op("torch.triangular_solve")
def triangular_solve(
    input: Value,
    A: Value,
    *,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> tuple[Value, Value]:
    x = swap(A, -2, -1) if transpose else A
    triangle = upper != transpose
    return solve_triangular(x, input, upper=triangle, unitriangular=unitriangular), A


@torch_op("torch.cholesky_solve")
def cholesky_solve(input: Value, input2: Value, *, upper: bool = False) -> Value:
    """Solve equations by a Cholesky factor `input2` of their matrix."""
    lower = swap(input2, -2, -1) if upper else input2
    inner = solve_triangular(lower, input, upper=False)
    return solve_triangular(swap(lower, -2, -1), inner, upper=True)


@torch_op("torch.cholesky_inverse")
def cholesky_inverse(input: Value, *, upper: bool = False) -> Value:
    """Return the inverse of a matrix, of which `input` is the Cholesky factor."""
    size = tensor(input).shape[-1]
    return cholesky_solve(identity(size, size, tensor(input).dtype), input, upper=upper)


# -- Square matrices -------------------------------------------------------------------------------


@torch_op("torch.linalg.solve")
def solve(A: Value, B: Value, *, left: bool = True) -> Value:
    """Solve `A @ X = B`, or `X @ A = B` unless `left`, for X; B may have vectors."""
    return solve_with_factors(A, B, left=left)[0]


@torch_op("torch.linalg.solve_ex")
def solve_ex(
    A: Value, B: Value, *, left: bool = True, check_errors: bool = False
) -> tuple[Value, Value]:
    solved, _, _, info = solve_with_factors(A, B, left=left)
    return solved, info


@torch_op("aten::_linalg_solve_ex")
def solve_with_factors(
    A: Value, B: Value, *, left: bool = True, check_errors: bool = False
) -> tuple[Any, ...]:
    """Solve equations; return the factors of A, their pivots and info as well."""
    made = tri.Lu.build(A)
    of_a, of_b = tensor(A), tensor(B)
    has_vectors = of_b.rank == 1 or (of_b.rank == of_a.rank - 1 and of_b.shape == of_a.shape[:-1])
    if has_vectors and not left:
        raise Invalid(f"has vectors {of_b} and left=False, must have matrices")
    b = reshape(B, (*of_b.shape, 1)) if has_vectors else B
    solved = lu_solve(made.factors, made.pivots, b, left=left)
    is_regular = tri.Equal.build(made.info, constant(np.array(0, np.int32))).y
    is_regular = reshape(is_regular, (*of_a.shape[:-2], 1, 1))
    nothing = constant(np.array(math.nan, numpy_dtype(of_a.dtype)))
    solved = tri.Where.build(is_regular, solved, nothing).y
    solved = reshape(solved, tensor(solved).shape[:-1]) if has_vectors else solved
    return solved, *made.results


@torch_op("torch.linalg.lu_solve")
def lu_solve(
    LU: Value, pivots: Value, B: Value, *, left: bool = True, adjoint: bool = False
) -> Value:
    """Solve `A @ X = B` for X by the factors of A: `X @ A = B` unless `left`, A.T if `adjoint`."""
    if not left:
        turned = lu_solve(LU, pivots, swap(B, -2, -1), adjoint=not adjoint)
        return swap(turned, -2, -1)
    factors, b = _same_batch(LU, B)
    order = order_of(pivots, tensor(LU).shape[-1])
    order = expand(reshape(order, (*tensor(order).shape, 1)), tensor(b).shape)
    axis = tensor(b).rank - 2
    if adjoint:
        turned = swap(factors, -2, -1)
        inner = tri.SolveTriangular.build(turned, b).y
        inner = tri.SolveTriangular.build(turned, inner, upper=True, unit_diagonal=True).y
        return tri.ScatterElements.build(inner, order, inner, axis=axis).y
    swapped = tri.GatherElements.build(b, order, axis=axis).y
    inner = tri.SolveTriangular.build(factors, swapped, unit_diagonal=True).y
    return tri.SolveTriangular.build(factors, inner, upper=True).y


@torch_op("torch.lu_solve")
def lu_solve_for(input: Value, LU_data: Value, LU_pivots: Value) -> Value:
    return lu_solve(LU_data, LU_pivots, input)


def _same_batch(x: Value, b: Value) -> tuple[Value, Value]:
    """Broadcast matrices and right sides to the same numbers of both."""
    of_x, of_b = tensor(x).shape, tensor(b).shape
    batch = broadcast(of_x[:-2], of_b[:-2])
    return expand(x, (*batch, *of_x[-2:])), expand(b, (*batch, *of_b[-2:]))


# -- Tensors ---------------------------------------------------------------------------------------


@torch_op("torch.linalg.tensorinv")
def tensorinv(input: Value, *, ind: int = 2) -> Value:
    """Invert the matrix whose rows are the first `ind` axes."""
    shape = tensor(input).shape
    if not 0 < ind < len(shape):
        raise Invalid(f"has {ind} axes for rows of {tensor(input)}, must leave some for columns")
    rows, columns = shape[:ind], shape[ind:]
    inverted = tri.Inverse.build(_matrix(input, rows, columns)).y
    return reshape(inverted, (*columns, *rows))


@torch_op("torch.linalg.tensorsolve")
def tensorsolve(input: Value, other: Value, *, dims: Ints | None = None) -> Value:
    """Solve `tensordot(input, X) = other`; `dims` are axes that move to the end before."""
    moved = tuple(axis % tensor(input).rank for axis in dims or ())
    order = [axis for axis in range(tensor(input).rank) if axis not in moved]
    x = tri.Transpose.build(input, permutation=(*order, *moved)).y if moved else input
    rows = tensor(other).shape
    columns = tensor(x).shape[len(rows) :]
    solved = solve(_matrix(x, rows, columns), reshape(other, (math.prod(rows),)))
    return reshape(solved, columns)


def _matrix(x: Value, rows: Ints, columns: Ints) -> Value:
    height, width = math.prod(rows), math.prod(columns)
    need_same(height, width, f"has {height} rows and {width} columns, must be a square matrix")
    return reshape(x, (height, width))
