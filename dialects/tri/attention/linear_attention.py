"""Attention with a state of fixed size instead of all past keys."""

import numpy as np

from ...core.errors import Invalid
from ...core.fields import Operand, Result
from ...core.numerics.precision import narrow, widen
from ...core.sizes.checks import need_divides, need_same, need_same_shape
from ...core.tensor import Array, Shape, Tensor, need_broadcast, same_dtype
from ..dialect import TriOp
from ..numeric import need_float


class LinearAttention(TriOp):
    """Walk a sequence with a state S of keys by values: `S += k ⊗ v`, `y = scale * qᵀ S`.

    `q` is [B, T, H, K], `k` is [B, T, G, K], `v` is [B, T, G, V], `y` is [B, T, H, V], the state is
    [B, G, K, V]; G divides H, and H / G neighbouring heads of queries share a state. At each step
    the state is first multiplied by the exponential of `decay`, which broadcasts to `k`. With a
    rate `beta`, which broadcasts to [B, T, G, 1], not `v` is added but `beta * (v - Sᵀ k)`: the
    delta rule. Half types are computed in f32. Source: ONNX `LinearAttention`; Yang et al.,
    "Gated Delta Networks", 2024.
    """

    q: Operand
    k: Operand
    v: Operand
    decay: Operand | None = None
    beta: Operand | None = None
    state: Operand | None = None
    scale: float
    y: Result
    last_state: Result

    def infer(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        decay: Tensor | None = None,
        beta: Tensor | None = None,
        state: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        dtype = same_dtype(need_float(q), k, v, decay, beta, state)
        if not q.rank == k.rank == v.rank == 4:
            raise Invalid(f"operands have ranks {q.rank}, {k.rank}, {v.rank}, must all have 4")
        (batch, length, heads, size), shared = q.shape, k.shape[2]
        fault = f"queries are {q}, keys {k}, values {v}, which do not fit each other"
        need_same_shape(k.shape[:2], (batch, length), fault)
        need_same(k.shape[3], size, fault)
        need_same_shape(v.shape[:3], k.shape[:3], fault)
        need_divides(heads, shared, f"{heads} query heads do not share {shared} key heads evenly")
        last = (batch, shared, size, v.shape[3])
        _check_broadcasts("decay", decay, k.shape)
        _check_broadcasts("beta", beta, (*k.shape[:3], 1))
        if state is not None:
            fault = f"state is {state}, must be {Tensor(last, dtype)}"
            need_same_shape(state.shape, last, fault)
        return Tensor((batch, length, heads, v.shape[3]), dtype), Tensor(last, dtype)

    def reference(
        self,
        q: Array,
        k: Array,
        v: Array,
        decay: Array | None = None,
        beta: Array | None = None,
        state: Array | None = None,
    ) -> tuple[Array, Array]:
        queries, keys, values = map(widen, (q, k, v))
        batch, length, heads, size = q.shape
        shared = k.shape[2]
        grouped = queries.reshape(batch, length, shared, heads // shared, size)
        zeros = np.zeros((batch, shared, k.shape[3], v.shape[3]), keys.dtype)
        memory = zeros if state is None else widen(state)
        kept = np.exp(np.broadcast_to(0 if decay is None else widen(decay), k.shape))
        y = np.zeros((*grouped.shape[:4], v.shape[3]), keys.dtype)
        for time in range(length):
            memory = memory * kept[:, time, :, :, None].astype(keys.dtype)
            key, value = keys[:, time, :, :, None], values[:, time, :, None]
            if beta is not None:
                rate = np.broadcast_to(widen(beta), (*k.shape[:3], 1))[:, time, :, None]
                value = rate * (value - key.swapaxes(-1, -2) @ memory)
            memory = memory + key * value
            y[:, time] = grouped[:, time] @ memory * keys.dtype.type(self.scale)
        return narrow(y.reshape(*q.shape[:3], v.shape[3]), q), narrow(memory, q)


def _check_broadcasts(name: str, operand: Tensor | None, shape: Shape) -> None:
    if operand is not None:
        wanted = "x".join(map(str, shape))
        need_broadcast(operand.shape, shape, f"{name} is {operand}, must broadcast to {wanted}")
