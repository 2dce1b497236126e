"""Eigenvalues of symmetric matrices, and singular values, with their vectors."""

from collections.abc import Callable

import numpy as np

from ...core.fields import Operand, Result
from ...core.numerics.precision import narrow, widen
from ...core.tensor import Array, Tensor
from ..dialect import TriOp
from .square_matrices import need_square
from .triangular_factors import diagonal_size, need_matrices


class Eigh(TriOp):
    """Compute the eigenvalues of symmetric matrices, in ascending order, and their eigenvectors.

    Only the lower triangle of `x` is read, or only the upper one. Columns of `vectors` have length
    1, and either sign. Of a matrix with numbers that are not finite, all results are NaN.
    Source: LAPACK `syevd`.
    """

    x: Operand
    upper: bool = False
    values: Result
    vectors: Result

    def infer(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return Tensor(need_square(x).shape[:-1], x.dtype), x

    def reference(self, x: Array) -> tuple[Array, Array]:
        triangle = np.triu(x) if self.upper else np.tril(x)

        def compute(finite: Array) -> tuple[Array, ...]:
            return tuple(np.linalg.eigh(finite, "U" if self.upper else "L"))

        values, vectors = _of_finite(triangle, compute)
        return narrow(values, x), narrow(vectors, x)


class Svd(TriOp):
    """Compute singular values in descending order, and their vectors: `x = u * s @ vh`.

    Of an M x N matrix and K, the lesser of both, `u` is M x K and `vh` is K x N, or, with
    `full_matrices`, M x M and N x N. A column of `u`, and with it the row of `vh` of the same
    value, may have either sign. Of a matrix with numbers that are not finite, all results are NaN.
    Source: LAPACK `gesdd`.
    """

    x: Operand
    full_matrices: bool = False
    u: Result
    s: Result
    vh: Result

    def infer(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        *batch, rows, columns = need_matrices(x).shape
        size = diagonal_size(x)
        inner = (rows, columns) if self.full_matrices else (size, size)
        shapes = (*batch, rows, inner[0]), (*batch, size), (*batch, inner[1], columns)
        u, s, vh = (Tensor(shape, x.dtype) for shape in shapes)
        return u, s, vh

    def reference(self, x: Array) -> tuple[Array, Array, Array]:
        def compute(finite: Array) -> tuple[Array, ...]:
            return tuple(np.linalg.svd(finite, self.full_matrices))

        u, s, vh = _of_finite(x, compute)
        return narrow(u, x), narrow(s, x), narrow(vh, x)


def _of_finite(x: Array, compute: Callable[[Array], tuple[Array, ...]]) -> list[Array]:
    """Return what is computed of matrices, NaN for those with numbers that are not finite."""
    wide = widen(x)
    is_finite = np.asarray(np.isfinite(wide).all((-2, -1)))
    made = compute(np.where(is_finite[..., None, None], wide, 0))
    batch = is_finite.shape
    return [
        np.where(is_finite.reshape(*batch, *[1] * (each.ndim - len(batch))), each, np.nan)
        for each in made
    ]
