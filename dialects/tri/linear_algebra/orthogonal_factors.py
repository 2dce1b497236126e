"""Factors of matrices that are orthogonal, as products of Householder reflections."""

import numpy as np

from ...core.errors import Invalid
from ...core.fields import Operand, Result
from ...core.numerics.precision import narrow, widen
from ...core.sizes.checks import need, need_same_shape
from ...core.tensor import Array, Tensor
from ..dialect import TriOp
from ..numeric import need_float
from .triangular_factors import diagonal_size, need_matrices


class HouseholderQr(TriOp):
    """Make the matrices in the last two axes upper triangular by reflections, one for each column.

    `factors` has the triangle, and below the diagonal of column k all elements of the vector of
    reflection k but those before its k-th, which are 0, and the k-th, which is 1. A reflection is
    `1 - tau[k] * v @ v.T`; that of a column that is 0 below the diagonal has tau 0.
    `householder_product` makes Q of both. Source: LAPACK `geqrf`, `larfg`.
    """

    x: Operand
    factors: Result
    tau: Result

    def infer(self, x: Tensor) -> tuple[Tensor, Tensor]:
        need_matrices(x)
        return x, Tensor((*x.shape[:-2], diagonal_size(x)), x.dtype)

    def reference(self, x: Array) -> tuple[Array, Array]:
        rows = widen(x).copy()
        steps = min(x.shape[-2:])
        taus = np.zeros((*x.shape[:-2], steps), rows.dtype)
        for k in range(steps):
            first, below = rows[..., k, k], rows[..., k + 1 :, k]
            length = np.linalg.norm(below, axis=-1)
            is_done = length == 0
            beta = -np.copysign(np.hypot(first, length), first)
            divisor = np.where(is_done, 1, beta)
            tau = np.where(is_done, 0, (divisor - first) / divisor)
            v = below / np.where(is_done, 1, first - beta)[..., None]
            whole = np.concatenate([np.ones_like(v[..., :1], shape=(*tau.shape, 1)), v], -1)
            rest = rows[..., k:, k + 1 :]
            rest -= _outer(tau[..., None] * whole, np.einsum("...i,...ij->...j", whole, rest))
            rows[..., k, k] = np.where(is_done, first, beta)
            rows[..., k + 1 :, k] = v
            taus[..., k] = tau
        return narrow(rows, x), narrow(taus, x)


class HouseholderProduct(TriOp):
    """Multiply reflections as `householder_qr` makes them; return as many columns as `x` has.

    `x` is M x N, with N at most M. Of its first columns, as many as `tau` has elements, what is
    below the diagonal is read. Source: LAPACK `orgqr`.
    """

    x: Operand
    tau: Operand
    y: Result

    def infer(self, x: Tensor, tau: Tensor) -> Tensor:
        need_matrices(x)
        rows, columns = x.shape[-2:]
        need(rows - columns, 0, f"input is {x}, must not have more columns than rows")
        if need_float(tau).dtype != x.dtype or tau.rank != x.rank - 1:
            raise Invalid(f"tau is {tau}, must have numbers for the columns of {x}")
        fault = f"tau is {tau}, must have at most {columns} for each matrix"
        need(columns - tau.shape[-1], 0, fault)
        need_same_shape(tau.shape[:-1], x.shape[:-2], f"tau is {tau}, must be for matrices of {x}")
        return x

    def reference(self, x: Array, tau: Array) -> Array:
        rows, taus = widen(x), widen(tau)
        y = np.broadcast_to(np.eye(*x.shape[-2:], dtype=rows.dtype), x.shape).copy()
        for k in reversed(range(tau.shape[-1])):
            below = rows[..., k + 1 :, k]
            v = np.concatenate([np.ones_like(below, shape=(*below.shape[:-1], 1)), below], -1)
            rest = y[..., k:, k:]
            rest -= _outer(taus[..., k, None] * v, np.einsum("...i,...ij->...j", v, rest))
        return narrow(y, x)


def _outer(column: Array, row: Array) -> Array:
    return column[..., :, None] * row[..., None, :]
