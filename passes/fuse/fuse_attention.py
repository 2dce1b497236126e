"""Recognise attention."""

from dataclasses import dataclass, replace

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...dialects.core.op import Op
from ...dialects.core.tensor import Shape
from ..building import mul, reshape, shape_of, transpose
from ..core import Pass
from ..rewriting import NoMatch, Pattern, Rewriter, rewrite, users, uses
from .attention_masks import Mask, added_mask, build_masks, scaled, shape_for, take_triangle


class FuseAttention(Pass):
    """Recognise softmax(q @ k^T * scale + mask) @ v.

    The scale may stand at q, at k, at both, or at the scores. Masks may be added, or select scores
    by `where`; a constant lower triangle of -inf becomes `causal`. Reshapes may regroup batches
    and heads on the way. Results are the same for all scores and masks, as far as these are no
    NaN and not +inf, except where all scores of a query are -inf: attention gives zeros. So does a
    `where` that turns NaN to zero after the softmax, which is dropped; without it such a query
    gave NaN before.

        %s = tri.mat_mul %q, %k_transposed; %p = tri.softmax (tri.mul %s, 0.125)
        %y = tri.mat_mul %p, %v   =>   %y = tri.attention %q, (tri.transpose %k_transposed), %v
    """

    def run(self, module: Module) -> None:
        rewrite(module, _Attention())


@dataclass(frozen=True)
class _Scores:
    """Hold what the argument of the softmax is made of: `factors` multiply whole rows of q.

    `masks` are in the order in which the model has them, after the scale.

    `batches` are the shapes that scores take on the way, without queries and keys.
    """

    q: ir.Value
    k: ir.Value
    scale: float = 1.0
    factors: tuple[ir.Value, ...] = ()
    masks: tuple[Mask, ...] = ()
    batches: tuple[Shape, ...] = ()
    ops: tuple[Op, ...] = ()

    def scaled(self, op: tri.Mul | tri.Div, scale: float) -> "_Scores":
        """Return the scores after an op that multiplies them by a number."""
        masks = tuple(scaled(mask, scale, tensor_of(op.y.type).dtype) for mask in self.masks)
        return replace(self, scale=self.scale * scale, masks=masks, ops=(*self.ops, op))

    def masked(self, op: Op, mask: Mask) -> "_Scores":
        return replace(self, masks=(*self.masks, mask), ops=(*self.ops, op))


class _Attention(Pattern):
    root = tri.MatMul

    def rewrite(self, op: tri.MatMul, rewriter: Rewriter) -> None:
        softmax, others = _softmax(op.a, rewriter)
        scores = _scores(softmax.x, rewriter)
        _check_shapes(scores, op)
        masks, causal = take_triangle(scores.masks, tensor_of(softmax.x.type), rewriter)
        batch = _common_batch(scores, masks)
        with rewriter.before(op):
            q = scores.q
            for factor in scores.factors:
                q = mul(q, factor)
            rank = len(shape_of(scores.k))
            k = transpose(scores.k, *range(rank - 2), rank - 1, rank - 2)
            q, k, v = (_regrouped(value, batch) for value in (q, k, op.b))
            values, fills = build_masks(masks, batch)
            new: tri.Attention | tri.Reshape = tri.Attention.build(
                q, k, v, values, scale=scores.scale, causal=causal, fills=fills
            )
            if new.y.type != op.y.type:
                new = tri.Reshape.build(new.y, shape=shape_of(op.y))
        rewriter.replace(op, new, *scores.ops, softmax, *others)


def _softmax(value: ir.Value, rewriter: Rewriter) -> tuple[tri.Softmax, tuple[Op, ...]]:
    """Return the softmax that makes the weights, and the ops around it that do not matter.

    These are a reshape of batches and heads, and a guard from NaN.
    """
    around: list[Op] = []
    op = rewriter.find_producer(value)
    if isinstance(op, tri.Reshape) and _keeps_matrices(op):
        around.append(rewriter.sole_producer(value, tri.Reshape))
        value = op.x
        op = rewriter.find_producer(value)
    if isinstance(op, tri.Where):
        is_nan = rewriter.sole_producer(op.condition, tri.IsNan)
        if is_nan.x != op.b or rewriter.scalar(op.a) != 0:
            raise NoMatch("where does not turn NaN to zero")
        around += [rewriter.sole_producer(value, tri.Where), is_nan]
        value = op.b
    softmax = rewriter.producer(value, tri.Softmax)
    known = [op.operation for op in around]
    if uses(value) != 1 and not all(user in known for user in users(value)):
        raise NoMatch("weights have other uses")
    if softmax.axis not in (-1, len(shape_of(softmax.x)) - 1):
        raise NoMatch("softmax is not over the last axis")
    return softmax, tuple(around)


def _scores(value: ir.Value, rewriter: Rewriter) -> _Scores:
    """Take the argument of the softmax apart, from the outside in, to the product of q and k."""
    op = rewriter.find_producer(value)
    if op is None or uses(value) != 1:
        raise NoMatch("scores come from an input, or have other uses")
    match op:
        case tri.MatMul():
            return _product(op, rewriter)
        case tri.Mul() | tri.Div():
            return _multiplied(op, rewriter)
        case tri.Add():
            return _added(op, rewriter)
        case tri.Where():
            return _selected(op, rewriter)
        case tri.Reshape() if _keeps_matrices(op):
            scores = _scores(op.x, rewriter)
            batches = (*scores.batches, op.shape[:-2])
            return replace(scores, batches=batches, ops=(*scores.ops, op))
        case _:
            raise NoMatch(f"scores are made by {op.op_name}")


def _multiplied(op: tri.Mul | tri.Div, rewriter: Rewriter) -> _Scores:
    value, scale = _unscaled_operand(op, rewriter)
    if value is not None:
        return _scores(value, rewriter).scaled(op, scale)
    if isinstance(op, tri.Mul):
        for value, factor in ((op.a, op.b), (op.b, op.a)):
            if set(shape_of(factor)[-2:]) == {1} and value.type == op.y.type:
                scores = _scores(value, rewriter)
                if scores.masks or len(scores.batches) > 1:
                    raise NoMatch("factor of rows comes after a mask or a reshape")
                factors = (*scores.factors, factor)
                return replace(scores, factors=factors, ops=(*scores.ops, op))
    raise NoMatch(f"scores are made by {op.op_name} of tensors")


def _added(op: tri.Add, rewriter: Rewriter) -> _Scores:
    for value, mask in ((op.a, op.b), (op.b, op.a)):
        if value.type == op.y.type:
            added = added_mask(mask, shape_of(op.y)[:-2], rewriter)
            try:
                return _scores(value, rewriter).masked(op, added)
            except NoMatch:
                continue
    raise NoMatch("neither operand of the sum is a product of queries and keys")


def _selected(op: tri.Where, rewriter: Rewriter) -> _Scores:
    for value, other, keeps in ((op.a, op.b, True), (op.b, op.a, False)):
        fill = rewriter.find_scalar(other)
        if fill is not None and value.type == op.y.type:
            mask = Mask(op.condition, shape_of(op.y)[:-2], keeps=keeps, fill=fill)
            return _scores(value, rewriter).masked(op, mask)
    raise NoMatch("where does not put a constant number in place of scores")


def _product(op: tri.MatMul, rewriter: Rewriter) -> _Scores:
    q, q_scale, q_ops = _unscaled(op.a, rewriter)
    k, k_scale, k_ops = _unscaled(op.b, rewriter)
    batch = shape_of(op.y)[:-2]
    return _Scores(q, k, q_scale * k_scale, batches=(batch,), ops=(*q_ops, *k_ops, op))


def _unscaled(value: ir.Value, rewriter: Rewriter) -> tuple[ir.Value, float, tuple[Op, ...]]:
    """Return what a constant number multiplies, the number, and the op that does."""
    op = rewriter.find_producer(value)
    if isinstance(op, (tri.Mul, tri.Div)):
        inner, scale = _unscaled_operand(op, rewriter)
        if inner is not None and inner.type == value.type:
            return inner, scale, (op,)
    return value, 1.0, ()


def _unscaled_operand(op: tri.Mul | tri.Div, rewriter: Rewriter) -> tuple[ir.Value | None, float]:
    """Return the operand that the op multiplies by a number, and the number; None without one."""
    if scale := rewriter.find_scalar(op.b):
        return op.a, 1 / scale if isinstance(op, tri.Div) else scale
    if isinstance(op, tri.Mul) and (scale := rewriter.find_scalar(op.a)):
        return op.b, scale
    return None, 1.0


def _keeps_matrices(op: tri.Reshape) -> bool:
    """Return whether a reshape regroups only the axes before the last two."""
    return op.shape[-2:] == shape_of(op.x)[-2:] and len(op.shape) > 2


def _check_shapes(scores: _Scores, op: tri.MatMul) -> None:
    """Raise NoMatch unless queries, keys and values have the same batches and heads."""
    q, k, v = (shape_of(value)[:-2] for value in (scores.q, scores.k, op.b))
    if q != k or v != shape_of(op.a)[:-2] or not q:
        raise NoMatch(f"queries, keys and values have batches {q}, {k}, {v}")


def _common_batch(scores: _Scores, masks: list[Mask]) -> Shape:
    """Return the shape, of those that scores take on the way, to which all masks broadcast."""
    for batch in dict.fromkeys(scores.batches):
        try:
            for mask in masks:
                shape_for(mask, batch)
            return batch
        except NoMatch:
            continue
    raise NoMatch("masks are for scores of different shapes")


def _regrouped(value: ir.Value, batch: Shape) -> ir.Value:
    shape = shape_of(value)
    return value if shape[:-2] == batch else reshape(value, *batch, *shape[-2:])
