"""Attention: mix values by how well their keys match the queries."""

import math
from collections.abc import Sequence

import numpy as np

from ...core.errors import Invalid
from ...core.fields import Operand, Result
from ...core.numerics.precision import narrow, widen
from ...core.sizes.checks import need_divides, need_same, need_same_shape
from ...core.tensor import Array, Shape, Tensor, need_broadcast, same_dtype
from ..dialect import TriOp
from ..numeric import need_float, softmax_rows


class Attention(TriOp):
    """Compute `softmax(scores) @ v` for every head, with scores `scale * q @ kᵀ`, masked.

    `q` is […, H, L, D], `k` is […, G, S, D], `v` is […, G, S, E], `y` is […, H, L, E]; G divides
    H, and H / G neighbouring query heads share one head of keys and values. Each of `masks`
    changes the scores in turn and broadcasts to [H, L, S]: floats are added, an i1 keeps scores
    where it is true and replaces the others by its number in `fills`. `fills` has numbers of the
    first masks; those of further masks are -inf. With `causal`, scores of queries i and keys
    after i become -inf at the end. A query whose scores are all -inf gives zeros. Half types are
    computed in f32, and may have masks of f32.
    Source: ONNX `Attention`; Vaswani et al., "Attention Is All You Need", 2017.
    """

    q: Operand
    k: Operand
    v: Operand
    masks: Sequence[Operand]
    scale: float
    causal: bool = False
    fills: tuple[float, ...] = ()
    y: Result

    anchor = True

    @property
    def is_chain(self) -> bool:
        """Whether masks do more than one that is added, or keeps scores and drops others."""
        return len(self.masks) > 1 or any(fill != -math.inf for fill in self.fills)

    def infer(self, q: Tensor, k: Tensor, v: Tensor, masks: Sequence[Tensor] = ()) -> Tensor:
        dtype = same_dtype(need_float(q), k, v)
        scores = _score_shape(q, k, v)
        known = dict.fromkeys((dtype, "f32" if dtype in ("f16", "bf16") else dtype, "i1"))
        for mask in masks:
            if mask.dtype not in known:
                listed = " or ".join(known)
                raise Invalid(f"mask has element type {mask.dtype}, must be {listed}")
            fault = f"mask is {mask}, must broadcast to scores of {scores}"
            need_broadcast(mask.shape, scores, fault)
        if len(self.fills) > len(masks):
            raise Invalid(f"has {len(self.fills)} fills, must have at most one for each mask")
        return Tensor((*q.shape[:-1], v.shape[-1]), dtype)

    def reference(self, q: Array, k: Array, v: Array, masks: Sequence[Array] = ()) -> Array:
        shared = q.shape[-3] // k.shape[-3]
        keys, values = (np.repeat(widen(x), shared, axis=-3) for x in (k, v))
        scores = widen(q) @ keys.swapaxes(-1, -2) * widen(q).dtype.type(self.scale)
        for mask, fill in zip(masks, fills_of(masks, self.fills), strict=True):
            scores = np.where(mask, scores, fill) if mask.dtype == bool else scores + widen(mask)
        if self.causal:
            scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
        return narrow(softmax_rows(scores) @ values, q)


def fills_of(masks: Sequence[object], fills: Sequence[float]) -> tuple[float, ...]:
    """Return the number that each mask puts in place of scores; masks of floats ignore it."""
    return (*fills, *[-math.inf] * (len(masks) - len(fills)))


def _score_shape(q: Tensor, k: Tensor, v: Tensor) -> Shape:
    """Return the shape of `q @ kᵀ`; raise Invalid when the operands do not fit each other."""
    if not q.rank == k.rank == v.rank >= 3:
        raise Invalid(
            f"operands have ranks {q.rank}, {k.rank}, {v.rank}, must be the same, 3 or more"
        )
    size, other = q.shape[-1], k.shape[-1]
    need_same(size, other, f"queries have {size} elements, keys {other}, must be the same")
    fault = f"keys are {k}, values {v}, must agree but for the last axis"
    need_same_shape(k.shape[:-1], v.shape[:-1], fault)
    fault = f"queries are {q}, keys {k}, must agree in the axes before the heads"
    need_same_shape(q.shape[:-3], k.shape[:-3], fault)
    heads, shared = q.shape[-3], k.shape[-3]
    need_divides(heads, shared, f"{heads} query heads do not share {shared} key heads evenly")
    return (*q.shape[:-1], k.shape[-2])
