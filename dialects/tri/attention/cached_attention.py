"""Attention to a cache: each query mixes the rows that are in use up to its own position."""

import numpy as np

from ...core.errors import Invalid
from ...core.fields import Operand, Result
from ...core.numerics.precision import narrow, widen
from ...core.sizes.checks import need, need_divides, need_same, need_same_shape
from ...core.tensor import Array, Tensor, same_dtype
from ..dialect import TriOp
from ..numeric import need_float, need_integer, softmax_rows

BYTES = "i8"
"""The element type of rows that have scales."""


class CachedAttention(TriOp):
    """Compute `softmax(scale * q @ kᵀ) @ v` for every head, of the rows that a query sees.

    `q` is [B, H, L, D], `k` is [B, G, C, D], `v` is [B, G, C, E], `y` is [B, H, L, E]; G divides H,
    and H / G neighbouring query heads share one head of keys and values. Query i of entry b is at
    position `starts[b] + i`, and sees the rows up to it: all of them, or with a `window` the last
    ones, itself included. Rows from `rows` on are in use by no entry, and are never read; of the
    others, those that a query does not see must be finite. A query that sees no row gives zeros.
    Keys and values may be of another float type than queries. Half types are computed in f32.

    Or they are bytes, i8, with `k_scales` and `v_scales` [B, G, C] in f32, as `quantize_rows` makes
    them: a row is its bytes times its scale.

    Source: GroupQueryAttention of ONNX Runtime.
    """

    q: Operand
    k: Operand
    v: Operand
    starts: Operand
    k_scales: Operand | None = None
    v_scales: Operand | None = None
    rows: int
    scale: float
    window: int = 0
    y: Result

    anchor = True

    def infer(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        starts: Tensor,
        k_scales: Tensor | None = None,
        v_scales: Tensor | None = None,
    ) -> Tensor:
        same_dtype(k, v)
        for name, each, scales in (("keys", k, k_scales), ("values", v, v_scales)):
            _check_scales(name, each, scales)
        ranks = [each.rank for each in (need_float(q), k, v)]
        if ranks != [4, 4, 4]:
            raise Invalid(f"operands have ranks {ranks}, must have 4")
        (batch, heads, _, size), (_, shared, capacity, width) = q.shape, k.shape
        fault = f"queries are {q}, keys {k}, must agree in the first and the last axis"
        need_same_shape((batch, size), (k.shape[0], width), fault)
        fault = f"keys are {k}, values {v}, must agree but for the last axis"
        need_same_shape(k.shape[:-1], v.shape[:-1], fault)
        need_divides(heads, shared, f"{heads} query heads do not share {shared} key heads evenly")
        need(self.rows, 0, f"has {self.rows} rows, must not be negative")
        need(capacity, self.rows, f"has {self.rows} rows in use, must be at most {capacity}")
        if self.window < 0:
            raise Invalid(f"window is {self.window}, must be 0 for none or above")
        fault = f"starts are {starts}, must be one integer for each of {batch} entries"
        need_same(need_integer(starts).size, batch, fault)
        return Tensor((*q.shape[:-1], v.shape[-1]), q.dtype)

    def reference(
        self,
        q: Array,
        k: Array,
        v: Array,
        starts: Array,
        k_scales: Array | None = None,
        v_scales: Array | None = None,
    ) -> Array:
        shared = q.shape[1] // k.shape[1]
        keys, values = (
            np.repeat(_read(x, scales, self.rows), shared, axis=1)
            for x, scales in ((k, k_scales), (v, v_scales))
        )
        seen = _sees(starts, int(q.shape[2]), self.rows, self.window)
        values = np.where(np.any(seen, axis=2)[..., None], values, 0)
        scores = widen(q) @ keys.swapaxes(-1, -2) * widen(q).dtype.type(self.scale)
        weights = softmax_rows(np.where(seen, scores, -np.inf))
        return narrow((weights @ values).astype(widen(q).dtype), q)


def _check_scales(name: str, rows: Tensor, scales: Tensor | None) -> None:
    """Raise Invalid unless rows of bytes have a scale each, and those of floats none."""
    if rows.dtype != BYTES:
        need_float(rows)
        if scales is not None:
            raise Invalid(f"{name} are {rows} with scales {scales}, must be {BYTES} to have scales")
        return
    wanted = Tensor(rows.shape[:-1], "f32")
    if scales is None:
        raise Invalid(f"{name} are {rows}, must have scales {wanted}")
    fault = f"{name} are {rows}, their scales {scales}, must be {wanted}"
    if scales.dtype != wanted.dtype:
        raise Invalid(fault)
    need_same_shape(scales.shape, wanted.shape, fault)


def _read(rows: Array, scales: Array | None, count: int) -> Array:
    """Return the first rows of each head as floats."""
    if scales is None:
        return widen(rows[:, :, :count])
    return rows[:, :, :count].astype(np.float32) * scales[:, :, :count, None]


def _sees(starts: Array, queries: int, rows: int, window: int) -> Array:
    """Return which of the rows each query of each entry sees: [entries, 1, queries, rows]."""
    place: Array = np.add.outer(starts.reshape(-1, 1), np.arange(queries))[..., None]
    row = np.arange(rows)
    last: Array = np.less_equal(row, place)
    return np.logical_and(last, row > place - window) if window else last
