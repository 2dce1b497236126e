"""Examples of the ops that factorise matrices."""

import numpy as np
from examples import FLOATS, INDICES, Example, Maker, Pick
from trivium.dialects import tri
from trivium.dialects.core.tensor import Array, numpy_dtype


def _matrix(pick: Pick, rows: int, columns: int) -> Array:
    """Draw small numbers: errors of those that are not finite have no bound that types share."""
    x = pick.array((*pick.shape((0, 2)), rows, columns), *FLOATS)
    return np.clip(np.nan_to_num(x), -1, 1).astype(x.dtype)


def _with_pivots(pick: Pick, rows: int, columns: int) -> Array:
    x = _matrix(pick, rows, columns)
    return np.where(np.eye(rows, columns) > 0, 8, x).astype(x.dtype)


def cholesky(pick: Pick) -> Example:
    size = pick.between(0, 3)
    return Example((_with_pivots(pick, size, size),), {"upper": pick.flag()})


def lu(pick: Pick) -> Example:
    return Example((_with_pivots(pick, *pick.ints(2, 0, 4)),))


def pivots_to_permutation(pick: Pick) -> Example:
    count, size = pick.between(0, 3), pick.between(3, 5)
    pivots = abs(pick.places((*pick.shape((0, 2)), count), 3)).astype(np.int32) % 3 + 1
    return Example((pivots.astype(numpy_dtype(pick.one(*INDICES))),), {"size": size})


def solve_triangular(pick: Pick) -> Example:
    size, columns = pick.ints(2, 0, 4)
    x = _with_pivots(pick, size, size)
    b = np.ones((*x.shape[:-1], columns), x.dtype)
    return Example((x, b), {"upper": pick.flag(), "unit_diagonal": pick.flag()})


def householder_qr(pick: Pick) -> Example:
    return Example((_with_pivots(pick, *pick.ints(2, 0, 4)),))


def householder_product(pick: Pick) -> Example:
    columns = pick.between(0, 3)
    x = _matrix(pick, columns + pick.between(0, 2), columns)
    reflections = pick.between(0, columns)
    return Example((x, np.ones((*x.shape[:-2], reflections), x.dtype)))


def eigh(pick: Pick) -> Example:
    size = pick.between(0, 3)
    return Example((_matrix(pick, size, size),), {"upper": pick.flag()})


def svd(pick: Pick) -> Example:
    return Example((_matrix(pick, *pick.ints(2, 0, 3)),), {"full_matrices": pick.flag()})


FACTORS: dict[type[tri.TriOp], Maker] = {
    tri.Cholesky: cholesky,
    tri.Lu: lu,
    tri.PivotsToPermutation: pivots_to_permutation,
    tri.SolveTriangular: solve_triangular,
    tri.HouseholderQr: householder_qr,
    tri.HouseholderProduct: householder_product,
    tri.Eigh: eigh,
    tri.Svd: svd,
}
"""How each op is drawn."""
