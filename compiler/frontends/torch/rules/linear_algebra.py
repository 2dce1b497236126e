"""Rules for inverses and determinants of matrices, and for equations that inverses solve.

What of a matrix without an inverse is NaN; torch raises an error there. The functions that return
`info` say of which matrix: the number of the first pivot that is 0.
"""

import math
from typing import Any

import numpy as np

from .....dialects import tri
from .....dialects.core.errors import Invalid
from .....dialects.core.sizes.checks import need_same
from .....dialects.core.tensor import numpy_dtype
from ...core.values import cast, constant, tensor
from ..expressions import apply
from ..registry import Value, torch_op
from ..views import Ints, reshape, swap


@torch_op("torch.inverse", "torch.linalg.inv", renamed={"A": "input"})
def inverse(input: Value) -> tri.Inverse:
    return tri.Inverse.build(input)


@torch_op("torch.linalg.inv_ex")
def inv_ex(A: Value, *, check_errors: bool = False) -> tuple[Any, ...]:
    return tri.Inverse.build(A), tri.Lu.build(A).info


@torch_op("torch.det", "torch.linalg.det", renamed={"A": "input"})
def det(input: Value) -> tri.Det:
    return tri.Det.build(input)


@torch_op("torch.logdet")
def logdet(input: Value) -> Value:
    """Compute the logarithm of determinants: NaN for those below 0."""
    sign, size = slogdet(input)
    return apply("add(@0,log(@1))", size, sign)


@torch_op("torch.slogdet", "torch.linalg.slogdet", renamed={"A": "input"})
def slogdet(input: Value) -> tuple[Value, Value]:
    """Return the signs of determinants, and the logarithms of their absolute values.

    Rows are divided by their lengths: so the determinants of large matrices are numbers of f64.
    """
    dtype = tensor(input).dtype
    x = cast(input, "f64")
    rank = tensor(x).rank
    length = tri.ReduceL2.build(x, axes=(rank - 1,), keepdims=True).y
    length = tri.Where.build(
        tri.Greater.build(length, constant(np.zeros(()))).y, length, constant(np.ones(()))
    ).y
    part = tri.Det.build(tri.Div.build(x, length).y).y
    logs = tri.ReduceSum.build(tri.Log.build(length).y, axes=(rank - 2, rank - 1), keepdims=False).y
    sign, size = tri.Sign.build(part).y, apply("add(@0,log(abs(@1)))", logs, part)
    return cast(sign, dtype), cast(size, dtype)


@torch_op("torch.linalg.solve")
def solve(A: Value, B: Value, *, left: bool = True) -> Value:
    """Solve `A @ X = B`, or `X @ A = B` unless `left`, for X; B may have vectors."""
    inverted = tri.Inverse.build(A).y
    of_a, of_b = tensor(A), tensor(B)
    if of_b.rank == 1 or (of_b.rank == of_a.rank - 1 and of_b.shape == of_a.shape[:-1]):
        if not left:
            raise Invalid(f"has vectors {of_b} and left=False, must have matrices")
        solved = _solved(A, inverted, reshape(B, (*of_b.shape, 1)), left=True)
        return reshape(solved, tensor(solved).shape[:-1])
    return _solved(A, inverted, B, left)


@torch_op("torch.linalg.solve_ex")
def solve_ex(
    A: Value, B: Value, *, left: bool = True, check_errors: bool = False
) -> tuple[Any, ...]:
    return solve(A, B, left=left), tri.Lu.build(A).info


@torch_op("aten::_linalg_solve_ex")
def solve_with_factors(
    A: Value, B: Value, *, left: bool = True, check_errors: bool = False
) -> tuple[Any, ...]:
    return solve(A, B, left=left), *tri.Lu.build(A).results


def _solved(a: Value, inverted: Value, b: Value, left: bool) -> Value:
    """Solve equations by an inverse, and refine the solution once by what it leaves of `b`.

    An inverse alone may leave as much as the condition of the matrix times the rounding of `b`;
    after one step it is as little as factors leave.
    Source: Higham, "Accuracy and Stability of Numerical Algorithms", 2002, chapters 12 and 14.
    """
    x = _product(inverted, b, left)
    rest = tri.Sub.build(b, _product(a, x, left)).y
    return tri.Add.build(x, _product(inverted, rest, left)).y


def _product(a: Value, x: Value, left: bool) -> Value:
    factors = (a, x) if left else (x, a)
    return tri.MatMul.build(*factors).y


@torch_op("torch.linalg.solve_triangular", renamed={"self": "input"})
def solve_triangular(
    input: Value, B: Value, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Value:
    """Solve equations by one triangle of a matrix: the rest is not read."""
    triangle = _triangle(input, upper, unitriangular)
    return _solved(triangle, tri.Inverse.build(triangle).y, B, left)


@torch_op("torch.triangular_solve")
def triangular_solve(
    input: Value,
    A: Value,
    *,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> tuple[Value, Value]:
    triangle, rank = _triangle(A, upper, unitriangular), tensor(A).rank
    if transpose:
        triangle = swap(triangle, rank - 2, rank - 1)
    return _solved(triangle, tri.Inverse.build(triangle).y, input, left=True), A


def _triangle(x: Value, upper: bool, unitriangular: bool = False) -> Value:
    """Return one triangle of a matrix, with ones on its diagonal if it is `unitriangular`."""
    k = (1 if upper else -1) if unitriangular else 0
    triangle = tri.Trilu.build(x, k=k, upper=upper).y
    if unitriangular:
        ones = constant(np.eye(tensor(x).shape[-1], dtype=numpy_dtype(tensor(x).dtype)))
        triangle = tri.Add.build(triangle, ones).y
    return triangle


@torch_op("torch.cholesky_inverse")
def cholesky_inverse(input: Value, *, upper: bool = False) -> Value:
    """Return the inverse of a matrix, of which `input` is the Cholesky factor."""
    inverted = tri.Inverse.build(_triangle(input, upper)).y
    rank = tensor(input).rank
    turned = swap(inverted, rank - 2, rank - 1)
    return tri.MatMul.build(*((inverted, turned) if upper else (turned, inverted))).y


@torch_op("torch.cholesky_solve")
def cholesky_solve(input: Value, input2: Value, *, upper: bool = False) -> Value:
    return tri.MatMul.build(cholesky_inverse(input2, upper=upper), input).y


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
    inverted = tri.Inverse.build(_matrix(x, rows, columns)).y
    solved = tri.MatMul.build(inverted, reshape(other, (math.prod(rows), 1))).y
    return reshape(solved, columns)


def _matrix(x: Value, rows: Ints, columns: Ints) -> Value:
    height, width = math.prod(rows), math.prod(columns)
    need_same(height, width, f"has {height} rows and {width} columns, must be a square matrix")
    return reshape(x, (height, width))
