"""Rules for eigenvalues of symmetric matrices, for singular values, and what is made of both."""

from typing import Any

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ......dialects.core.tensor import Tensor, numpy_dtype
from ....core.values import cast, constant, filled, tensor
from ...element_types import precision_of
from ...registry import Value, torch_op
from ...views import reshape, swap


@torch_op("torch.linalg.eigh")
def eigh(input: Value, UPLO: str = "L") -> tri.Eigh:
    if UPLO.upper() not in ("L", "U"):
        raise Invalid(f"has UPLO='{UPLO}', must be L or U")
    return tri.Eigh.build(input, upper=UPLO.upper() == "U")


@torch_op("aten::_linalg_eigh")
def eigh_or_values(A: Value, UPLO: str = "L", compute_v: bool = True) -> tri.Eigh:
    return eigh(A, UPLO)


@torch_op("torch.linalg.eigvalsh")
def eigvalsh(input: Value, UPLO: str = "L") -> Value:
    return eigh(input, UPLO).values


@torch_op("torch.linalg.svd")
def svd(A: Value, full_matrices: bool = True, *, driver: str | None = None) -> tri.Svd:
    return tri.Svd.build(A, full_matrices=full_matrices)


@torch_op("aten::_linalg_svd")
def svd_or_values(
    A: Value, full_matrices: bool = False, compute_uv: bool = True, *, driver: str | None = None
) -> tri.Svd:
    return tri.Svd.build(A, full_matrices=full_matrices)


@torch_op("torch.linalg.svdvals")
def svdvals(A: Value, *, driver: str | None = None) -> Value:
    return tri.Svd.build(A).s


@torch_op("torch.svd")
def svd_of_some(input: Value, some: bool = True, compute_uv: bool = True) -> tuple[Any, Value, Any]:
    """Return U, the singular values and V, not its transpose; U and V are 0 if not computed."""
    made = tri.Svd.build(input, full_matrices=not some)
    if compute_uv:
        return made.u, made.s, swap(made.vh, -2, -1)
    zero = np.zeros((), numpy_dtype(tensor(input).dtype))
    *batch, rows, columns = tensor(input).shape
    u, v = (filled((*batch, size, size), zero) for size in (rows, columns))
    return u, made.s, v


@torch_op("aten::linalg_pinv.atol_rtol_tensor", "aten::linalg_pinv.atol_rtol_float")
def pinv_above(
    input: Value, *, atol: Value | None = None, rtol: Value | None = None, hermitian: bool = False
) -> Value:
    """Return the pseudo-inverse; singular values up to `max(atol, rtol * greatest)` count as 0.

    Without `rtol`, that is the precision of the type times the longer side, or 0 where `atol` is
    more than 0.
    """
    type_ = tensor(input)
    if type_.size == 0:
        return swap(input, -2, -1)
    if hermitian:
        found = eigh(input)
        left, values, right = found.vectors, found.values, swap(found.vectors, -2, -1)
    else:
        factors = tri.Svd.build(input)
        left, values, right = factors.u, factors.s, factors.vh
    sizes = tri.Abs.build(values).y
    greatest = tri.ReduceMax.build(sizes, axes=(type_.rank - 2,), keepdims=True).y
    if rtol is None:
        relative = constant(np.array(precision_of(type_.dtype) * max(type_.shape[-2:])))
        if atol is not None:
            has_own = tri.Greater.build(_column(atol, type_), _zero(type_)).y
            relative = tri.Where.build(has_own, _zero(type_), cast(relative, type_.dtype)).y
        least = tri.Mul.build(cast(relative, type_.dtype), greatest).y
    else:
        least = tri.Mul.build(_column(rtol, type_), greatest).y
    if atol is not None:
        least = tri.Maximum.build(_column(atol, type_), least).y
    is_kept = tri.Greater.build(sizes, least).y
    inverted = tri.Where.build(is_kept, tri.Reciprocal.build(values).y, _zero(type_)).y
    scaled = tri.Mul.build(
        left, reshape(inverted, (*type_.shape[:-2], 1, tensor(values).shape[-1]))
    )
    return swap(tri.MatMul.build(scaled.y, right).y, -2, -1)


@torch_op("torch.pinverse")
def pinverse(input: Value, rcond: float = 1e-15) -> Value:
    return pinv_above(input, rtol=constant(np.array(rcond)))


@torch_op("aten::linalg_pinv", "aten::linalg_pinv.rcond_tensor")
def pinv(input: Value, rcond: Value, hermitian: bool = False) -> Value:
    """Return the pseudo-inverse; singular values up to `rcond * greatest` count as 0."""
    return pinv_above(input, rtol=rcond, hermitian=hermitian)


def _column(x: Value, like: Tensor) -> Value:
    """Return numbers, one for each matrix or one for all, beside the values of a matrix."""
    x = cast(x, like.dtype)
    return reshape(x, (*tensor(x).shape, 1)) if tensor(x).rank else x


def _zero(like: Tensor) -> Value:
    return constant(np.zeros((), numpy_dtype(like.dtype)))
