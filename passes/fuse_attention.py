"""Recognise attention."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..dialects import tri
from ..dialects.core.attributes import tensor_of
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module
from ..dialects.core.op import Op
from ..dialects.core.tensor import Array, numpy_dtype
from .core import Pass
from .rewriting import NoMatch, Pattern, Rewriter, rewrite, uses

DType = np.dtype[Any]

NEGLIGIBLE = -1e9
"""A score this low has weight zero beside any that is not, and swallows what is added to it."""


class FuseAttention(Pass):
    """Recognise softmax(q @ k^T * scale + mask) @ v.

    The scale may stand at q, at k, at both, or at the scores. The mask may be added, or select
    scores by `where`; a constant lower triangle becomes `causal`. A `where` that turns NaN to
    zero after the softmax is dropped: attention gives zeros for a query that sees no key.
    Without that `where` such a query gave NaN before, and gives zeros now.

        %s = tri.mat_mul %q, %k_transposed; %p = tri.softmax (tri.mul %s, 0.125)
        %y = tri.mat_mul %p, %v   =>   %y = tri.attention %q, (tri.transpose %k_transposed), %v
    """

    def run(self, module: Module) -> None:
        rewrite(module, _Attention())


@dataclass(frozen=True)
class _Mask:
    """One of the masks on the scores: floats to add, or bools where scores stay or become `low`.

    The floats are multiplied by `factor`. Bools keep scores where they are true, or false.
    """

    value: ir.Value
    factor: float = 1.0
    keeps: bool = True
    low: float = -math.inf

    @property
    def selects(self) -> bool:
        return tensor_of(self.value.type).dtype == "i1"


@dataclass(frozen=True)
class _Scores:
    """Hold what the argument of the softmax is made of."""

    q: ir.Value
    k: ir.Value
    scale: float = 1.0
    masks: tuple[_Mask, ...] = ()
    ops: tuple[Op, ...] = ()

    def under(self, op: Op, *masks: _Mask, scale: float = 1.0) -> "_Scores":
        """Return the scores after an op that scales them or puts a mask on them."""
        scaled = tuple(replace(mask, factor=mask.factor * scale) for mask in self.masks)
        return replace(self, scale=self.scale * scale, masks=(*scaled, *masks), ops=(*self.ops, op))


class _Attention(Pattern):
    root = tri.MatMul

    def rewrite(self, op: tri.MatMul, rewriter: Rewriter) -> None:
        softmax, guards = _softmax(op.a, rewriter)
        scores = _scores(softmax.x, rewriter)
        _check_shapes(scores, op)
        causal, masks = _split_causal(scores, rewriter)
        with rewriter.before(op):
            rank = tensor_of(scores.k.type).rank
            k = tri.Transpose.build(scores.k, permutation=(*range(rank - 2), rank - 1, rank - 2))
            mask = _build_mask(masks, op.y)
            new = tri.Attention.build(scores.q, k.y, op.b, mask, scale=scores.scale, causal=causal)
        rewriter.replace(op, new, *scores.ops, softmax, *guards)


def _softmax(value: ir.Value, rewriter: Rewriter) -> tuple[tri.Softmax, tuple[Op, ...]]:
    """Return the softmax that makes the weights, and the ops around it that guard from NaN."""
    guard = rewriter.find_producer(value)
    if not isinstance(guard, tri.Where):
        softmax = rewriter.sole_producer(value, tri.Softmax)
        return _over_last_axis(softmax), ()
    is_nan = rewriter.sole_producer(guard.condition, tri.IsNan)
    if is_nan.x != guard.b or rewriter.scalar(guard.a) != 0:
        raise NoMatch("where does not turn NaN to zero")
    softmax = rewriter.producer(guard.b, tri.Softmax)
    if uses(guard.y) != 1 or uses(softmax.y) != 2:
        raise NoMatch("weights have other uses")
    return _over_last_axis(softmax), (is_nan, guard)


def _over_last_axis(softmax: tri.Softmax) -> tri.Softmax:
    if softmax.axis not in (-1, tensor_of(softmax.x.type).rank - 1):
        raise NoMatch("softmax is not over the last axis")
    return softmax


def _scores(value: ir.Value, rewriter: Rewriter) -> _Scores:
    """Take the argument of the softmax apart, from the outside in, to the product of q and k."""
    op = rewriter.find_producer(value)
    if op is None or uses(value) != 1:
        raise NoMatch("scores come from an input, or have other uses")
    match op:
        case tri.MatMul():
            return _product(op, rewriter)
        case tri.Mul() if (scale := rewriter.find_scalar(op.b)) is not None:
            return _scores(op.a, rewriter).under(op, scale=scale)
        case tri.Mul() if (scale := rewriter.find_scalar(op.a)) is not None:
            return _scores(op.b, rewriter).under(op, scale=scale)
        case tri.Div() if scale := rewriter.find_scalar(op.b):
            return _scores(op.a, rewriter).under(op, scale=1 / scale)
        case tri.Add():
            return _added(op, rewriter)
        case tri.Where():
            return _selected(op, rewriter)
        case _:
            raise NoMatch(f"scores are made by {op.op_name}")


def _added(op: tri.Add, rewriter: Rewriter) -> _Scores:
    for value, mask in ((op.a, op.b), (op.b, op.a)):
        if value.type == op.y.type:
            try:
                return _scores(value, rewriter).under(op, _Mask(mask))
            except NoMatch:
                continue
    raise NoMatch("neither operand of the sum is a product of queries and keys")


def _selected(op: tri.Where, rewriter: Rewriter) -> _Scores:
    for value, low, keeps in ((op.a, op.b, True), (op.b, op.a, False)):
        number = rewriter.find_scalar(low)
        if number is not None and number <= NEGLIGIBLE and value.type == op.y.type:
            mask = _Mask(op.condition, keeps=keeps, low=number)
            return _scores(value, rewriter).under(op, mask)
    raise NoMatch("where does not put a very low number in place of scores")


def _as_selection(mask: _Mask, rewriter: Rewriter) -> _Mask:
    """Return the bools behind a mask that adds minus infinity or nothing."""
    op = None if mask.selects else rewriter.find_producer(mask.value)
    if not isinstance(op, tri.Where) or mask.factor <= 0:
        return mask
    for kept, dropped, keeps in ((op.a, op.b, True), (op.b, op.a, False)):
        if rewriter.find_scalar(kept) == 0 and rewriter.find_scalar(dropped) == -math.inf:
            return _Mask(op.condition, keeps=keeps)
    return mask


def _product(op: tri.MatMul, rewriter: Rewriter) -> _Scores:
    q, q_scale, q_ops = _unscaled(op.a, rewriter)
    k, k_scale, k_ops = _unscaled(op.b, rewriter)
    return _Scores(q, k, q_scale * k_scale, ops=(*q_ops, *k_ops, op))


def _unscaled(value: ir.Value, rewriter: Rewriter) -> tuple[ir.Value, float, tuple[Op, ...]]:
    """Return what a constant number multiplies, the number, and the op that does."""
    op = rewriter.find_producer(value)
    match op:
        case tri.Mul() if (scale := rewriter.find_scalar(op.b)) is not None:
            return op.a, scale, (op,)
        case tri.Mul() if (scale := rewriter.find_scalar(op.a)) is not None:
            return op.b, scale, (op,)
        case tri.Div() if scale := rewriter.find_scalar(op.b):
            return op.a, 1 / scale, (op,)
        case _:
            return value, 1.0, ()


def _check_shapes(scores: _Scores, op: tri.MatMul) -> None:
    """Raise NoMatch unless queries, keys and values have the same batches and heads."""
    q, k, v = (tensor_of(value.type) for value in (scores.q, scores.k, op.b))
    if not q.rank == k.rank == v.rank >= 3:
        raise NoMatch(f"queries, keys and values have ranks {q.rank}, {k.rank}, {v.rank}")
    if not q.shape[:-2] == k.shape[:-2] == v.shape[:-2]:
        raise NoMatch("queries, keys and values differ in their batches or heads")


# -- masks -----------------------------------------------------------------------------------------


def _split_causal(scores: _Scores, rewriter: Rewriter) -> tuple[bool, list[_Mask]]:
    """Separate the masks that are constant lower triangles from the others."""
    queries = tensor_of(scores.q.type).shape[-2]
    keys = tensor_of(scores.k.type).shape[-1]
    others = [m for m in scores.masks if not _is_causal(m, queries, keys, rewriter)]
    return len(others) < len(scores.masks), [_as_selection(m, rewriter) for m in others]


def _is_causal(mask: _Mask, queries: int, keys: int, rewriter: Rewriter) -> bool:
    array = rewriter.find_constant(mask.value)
    if array is None or mask.factor <= 0 or array.shape[-2:] != (queries, keys) or queries == 1:
        return False
    kept = _kept(array, mask)
    return kept is not None and bool((kept == np.tri(queries, keys, dtype=bool)).all())


def _kept(array: Array, mask: _Mask) -> Array | None:
    """Return which scores a constant mask keeps; None when it does more than keep and drop."""
    if mask.selects:
        return array if mask.keeps else ~array
    kept = array == 0
    return kept if (kept | (array <= NEGLIGIBLE)).all() else None


def _build_mask(masks: Sequence[_Mask], like: ir.Value) -> ir.Value | None:
    """Build the one mask that amounts to all; `like` has the element type of the scores."""
    dtype = numpy_dtype(tensor_of(like.type).dtype)
    added: ir.Value | None = None
    kept: ir.Value | None = None
    for mask in masks:
        if mask.selects and mask.low == -math.inf:
            bools = mask.value if mask.keeps else tri.Not.build(mask.value).y
            kept = bools if kept is None else tri.And.build(kept, bools).y
        else:
            term = _term(mask, dtype)
            added = term if added is None else tri.Add.build(added, term).y
    if added is None or kept is None:
        return kept if added is None else added
    return tri.Where.build(kept, added, _number(-math.inf, dtype)).y


def _term(mask: _Mask, dtype: DType) -> ir.Value:
    """Build what a mask adds to the scores."""
    if mask.selects:
        zero, low = _number(0, dtype), _number(mask.low, dtype)
        kept, dropped = (zero, low) if mask.keeps else (low, zero)
        return tri.Where.build(mask.value, kept, dropped).y
    if mask.factor == 1:
        return mask.value
    return tri.Mul.build(mask.value, _number(mask.factor, dtype)).y


def _number(number: float, dtype: DType) -> ir.Value:
    return tri.Constant.build(value=np.array(number, dtype)).y
