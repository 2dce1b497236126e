"""Attention: mix values by how well their keys match the queries."""

import numpy as np

from ..core.errors import Invalid
from ..core.fields import Operand, Result
from ..core.precision import narrow, widen
from ..core.tensor import Array, Shape, Tensor, broadcast, same_dtype
from .dialect import TriOp
from .numeric import need_float, softmax_rows


class Attention(TriOp):
    """Compute `softmax(scale * q @ kᵀ + mask) @ v` for every head.

    `q` is […, H, L, D], `k` is […, G, S, D], `v` is […, G, S, E], `y` is […, H, L, E]; G divides
    H, and H / G neighbouring query heads share one head of keys and values. `mask` broadcasts to
    [H, L, S]: floats are added, an i1 keeps where it is true. With `causal`, query i sees keys up
    to i. A query that sees no key gives zeros. Half types are computed in f32.
    Source: ONNX `Attention`; Vaswani et al., "Attention Is All You Need", 2017.
    """

    q: Operand
    k: Operand
    v: Operand
    mask: Operand | None = None
    scale: float
    causal: bool = False
    y: Result

    anchor = True

    @staticmethod
    def infer(
        q: Tensor,
        k: Tensor,
        v: Tensor,
        mask: Tensor | None = None,
        *,
        scale: float,
        causal: bool = False,
    ) -> Tensor:
        dtype = same_dtype(need_float(q), k, v)
        scores = _score_shape(q, k, v)
        if mask is not None and mask.dtype not in (dtype, "i1"):
            raise Invalid(f"mask has element type {mask.dtype}, must be {dtype} or i1")
        if mask is not None and broadcast(mask.shape, scores) != scores:
            raise Invalid(f"mask is {mask}, must broadcast to scores of {scores}")
        return Tensor((*q.shape[:-1], v.shape[-1]), dtype)

    @staticmethod
    def reference(
        q: Array,
        k: Array,
        v: Array,
        mask: Array | None = None,
        *,
        scale: float,
        causal: bool = False,
    ) -> Array:
        shared = q.shape[-3] // k.shape[-3]
        keys, values = (np.repeat(widen(x), shared, axis=-3) for x in (k, v))
        scores = widen(q) @ keys.swapaxes(-1, -2) * widen(q).dtype.type(scale)
        if mask is not None:
            scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + widen(mask)
        if causal:
            scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
        return narrow(softmax_rows(scores) @ values, q)


def _score_shape(q: Tensor, k: Tensor, v: Tensor) -> Shape:
    """Return the shape of `q @ kᵀ`; raise Invalid when the operands do not fit each other."""
    if not q.rank == k.rank == v.rank >= 3:
        raise Invalid(
            f"operands have ranks {q.rank}, {k.rank}, {v.rank}, must be the same, 3 or more"
        )
    if q.shape[-1] != k.shape[-1]:
        raise Invalid(f"queries have {q.shape[-1]} elements, keys {k.shape[-1]}, must be the same")
    if k.shape[:-1] != v.shape[:-1]:
        raise Invalid(f"keys are {k}, values {v}, must agree but for the last axis")
    if q.shape[:-3] != k.shape[:-3]:
        raise Invalid(f"queries are {q}, keys {k}, must agree in the axes before the heads")
    heads, shared = q.shape[-3], k.shape[-3]
    if not shared or heads % shared:
        raise Invalid(f"{heads} query heads do not share {shared} key heads evenly")
    return (*q.shape[:-1], k.shape[-2])
