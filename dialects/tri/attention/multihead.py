"""Attention as a module: projections of queries, keys and values, heads, and a projection."""

from collections.abc import Sequence

import numpy as np

from ...core.errors import Invalid
from ...core.fields import Operand, Result
from ...core.numerics.precision import narrow, widen
from ...core.sizes.atoms import Size
from ...core.sizes.checks import need_divides, need_same, need_same_shape
from ...core.tensor import Array, Shape, Tensor, need_broadcast, same_dtype
from ..dialect import TriOp
from ..numeric import need_float, need_shape, softmax_rows


class MultiheadAttention(TriOp):
    """Project queries, keys and values, attend with each head, and project the joined heads.

    `q` is [batch, L, E], `k` is [batch, S, …], `v` is [batch, S, …], or with the first two axes
    exchanged unless `batch_first`; `w` is one matrix of 3 * E rows, for queries, keys and values,
    or three; `b` is [3 * E], `out_w` is [E, E], `out_b` is [E]. A key and a value that were
    learned, `bias_k` and `bias_v` of E elements, and, with `add_zero`, ones of zeros come after the
    others; every query sees them. `mask` broadcasts to [batch, heads, L, S], or is
    [batch * heads, L, S]: floats are added, an i1 keeps where it is true. A query that sees no key
    gives zeros. `weights`, [batch, L, S and more], are those of the heads on average. Half types
    are computed in f32.
    Source: torch `nn.MultiheadAttention`; Vaswani et al., "Attention Is All You Need", 2017.
    """

    q: Operand
    k: Operand
    v: Operand
    w: Sequence[Operand]
    out_w: Operand
    b: Operand | None = None
    out_b: Operand | None = None
    bias_k: Operand | None = None
    bias_v: Operand | None = None
    mask: Operand | None = None
    heads: int
    batch_first: bool = False
    add_zero: bool = False
    y: Result
    weights: Result

    anchor = True

    def infer(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        w: Sequence[Tensor],
        out_w: Tensor,
        b: Tensor | None = None,
        out_b: Tensor | None = None,
        bias_k: Tensor | None = None,
        bias_v: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        dtype = same_dtype(need_float(q), k, v, *w, out_w, b, out_b, bias_k, bias_v)
        if not q.rank == k.rank == v.rank == 3:
            raise Invalid(f"operands have ranks {q.rank}, {k.rank}, {v.rank}, must have 3")
        (batch, queries), (other, keys) = (
            x.shape[:2] if self.batch_first else x.shape[1::-1] for x in (q, k)
        )
        fault = f"queries are {q}, keys {k}, values {v}, which do not fit"
        need_same(batch, other, fault)
        need_same_shape(k.shape[:2], v.shape[:2], fault)
        size = q.shape[2]
        need_divides(size, self.heads, f"{size} elements do not split in {self.heads} heads")
        _check_weights(w, size, k.shape[2], v.shape[2])
        need_shape("out_w", out_w, (size, size))
        need_shape("b", b, (3 * size,))
        need_shape("out_b", out_b, (size,))
        if (bias_k is None) != (bias_v is None):
            raise Invalid("has one of bias_k and bias_v, must have both or neither")
        for name, learned in {"bias_k": bias_k, "bias_v": bias_v}.items():
            if learned is not None:
                need_same(learned.size, size, f"{name} is {learned}, must have {size} elements")
        scores = (batch, self.heads, queries, keys)
        if mask is not None and mask.dtype not in (dtype, "i1"):
            raise Invalid(f"mask has element type {mask.dtype}, must be {dtype} or i1")
        if mask is not None:
            _check_mask(mask, scores)
        seen = keys + (bias_k is not None) + self.add_zero
        return q, Tensor((batch, queries, seen), dtype)

    def reference(
        self,
        q: Array,
        k: Array,
        v: Array,
        w: Sequence[Array],
        out_w: Array,
        b: Array | None = None,
        out_b: Array | None = None,
        bias_k: Array | None = None,
        bias_v: Array | None = None,
        mask: Array | None = None,
    ) -> tuple[Array, Array]:
        inputs = [widen(x if self.batch_first else x.swapaxes(0, 1)) for x in (q, k, v)]
        matrices = np.split(widen(w[0]), 3) if len(w) == 1 else [widen(x) for x in w]
        shifts = [0, 0, 0] if b is None else np.split(widen(b), 3)
        zipped = zip(inputs, matrices, shifts, strict=True)
        queries, keys, values = (x @ matrix.T + shift for x, matrix, shift in zipped)
        length = keys.shape[1]
        keys, values = _more(keys, bias_k, self.add_zero), _more(values, bias_v, self.add_zero)
        queries, keys, values = (_apart(x, self.heads) for x in (queries, keys, values))
        scores = queries @ keys.swapaxes(2, 3) / np.sqrt(queries.dtype.type(queries.shape[3]))
        weights = softmax_rows(scores if mask is None else _masked(scores, mask, length))
        joined = (weights @ values).swapaxes(1, 2).reshape(inputs[0].shape)
        y = joined @ widen(out_w).T
        y = y if out_b is None else y + widen(out_b)
        return narrow(y if self.batch_first else y.swapaxes(0, 1), q), narrow(weights.mean(1), q)


def _check_weights(w: Sequence[Tensor], size: Size, keys: Size, values: Size) -> None:
    if len(w) == 1:
        fault = f"inputs have {size}, {keys} and {values} elements, one weight takes one"
        need_same_shape((size, keys), (keys, values), fault)
        need_shape("w", w[0], (3 * size, size))
        return
    if len(w) != 3:
        raise Invalid(f"has {len(w)} weights, must have 1 or 3")
    for weight, taken in zip(w, (size, keys, values), strict=True):
        need_shape("w", weight, (size, taken))


def _check_mask(mask: Tensor, scores: Shape) -> None:
    if mask.rank == 3:
        need_shape("mask", mask, (scores[0] * scores[1], *scores[2:]))
    else:
        fault = f"mask is {mask}, must broadcast to scores of {scores}"
        need_broadcast(mask.shape, scores, fault)


def _more(x: Array, learned: Array | None, zero: bool) -> Array:
    """Append a learned key or value, and one of zeros."""
    rows = [] if learned is None else [widen(learned).reshape(1, 1, -1)]
    rows += [np.zeros((1, 1, x.shape[2]), x.dtype)] if zero else []
    return np.concatenate([x, *(np.repeat(row, len(x), 0) for row in rows)], 1)


def _apart(x: Array, heads: int) -> Array:
    """Turn [batch, length, heads * size] into [batch, heads, length, size]."""
    return x.reshape(*x.shape[:2], heads, x.shape[2] // heads).swapaxes(1, 2)


def _masked(scores: Array, mask: Array, keys: int) -> Array:
    """Apply a mask of some keys; those that come after them are seen."""
    if mask.ndim == 3:
        mask = mask.reshape(*scores.shape[:2], *mask.shape[1:])
    if more := scores.shape[3] - keys:
        wide = np.broadcast_to(mask, (*mask.shape[:-1], keys))
        sides = [*[(0, 0)] * (wide.ndim - 1), (0, more)]
        mask = np.pad(wide, sides, constant_values=mask.dtype == bool)
    return np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + widen(mask)
