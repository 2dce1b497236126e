"""Change what an op with constant weights computes, channel by channel of its result."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.op import Op
from ...dialects.core.tensor import Array, numpy_dtype
from ..constants import hint
from ..rewriting import NoMatch, Rewriter

Linear = tri.Conv | tri.ConvTranspose | tri.Gemm | tri.MatMul | tri.GroupNorm | tri.InstanceNorm
"""The ops whose result is linear in weights and a bias, of which each channel has its own."""


@dataclass(frozen=True)
class Affine:
    """What to do to each channel: multiply by a factor, then add a term; in f64.

    None stands for factors of one, and for terms of zero.
    """

    factor: Array | None = None
    term: Array | None = None


def need_linear(op: Op | None) -> Linear:
    """Return an op whose weights make the channels of its result; raise NoMatch for others."""
    if isinstance(op, (tri.Conv, tri.ConvTranspose, tri.Gemm, tri.GroupNorm, tri.InstanceNorm)):
        return op
    if isinstance(op, tri.MatMul) and tensor_of(op.b.type).rank == 2:
        return op
    raise NoMatch(f"{op.op_name if op else 'an input'} has no weights for each channel")


def channel_axis(op: Linear) -> int:
    """Return the axis of the result in which the channels lie."""
    is_product = isinstance(op, (tri.Gemm, tri.MatMul))
    return tensor_of(op.y.type).rank - 1 if is_product else 1


def fold_affine(op: Linear, affine: Affine, rewriter: Rewriter, place: Op) -> Op:
    """Build `op` before `place` with such weights and bias that the result is `affine` of it.

    A matrix product has no bias: an Add follows it. Weights that are stored narrow, as integers and
    scales, are not widened: their scales change. Raises NoMatch, before it builds anything, unless
    all that has to change is constant.
    """
    old = weights_of(op)
    if affine.factor is not None:
        rewriter.need_constant(old)
    b = _changed_bias(op, affine, rewriter)
    with rewriter.before(place):
        weights = old
        if affine.factor is not None:
            weights = _scaled(old, _spread_factor(op, affine.factor), rewriter)
        bias = None if b is None else _constant(b, old, rewriter)
        return _rebuilt(op, weights, bias)


def fold_held(op: Linear, factor: ir.Value, term: ir.Value, rewriter: Rewriter, place: Op) -> Op:
    """Build `op` before `place` with weights and bias that compute `factor` times it and `term`.

    Nobody may look at the weights: ops compute the new ones, of one factor and term for each
    channel, when the package is loaded. `need_foldable` says for which ops.
    """
    old, bias = need_foldable(op, rewriter)
    with rewriter.before(place):
        weights = _multiplied(op, old, factor)
        if bias is not None:
            term = tri.Add.build(tri.Mul.build(bias, factor).y, term).y
        return _rebuilt(op, weights, term)


def _multiplied(op: Linear, old: ir.Value, factor: ir.Value) -> ir.Value:
    """Build weights times the factor of each channel, at the insertion point."""
    if not isinstance(op, tri.ConvTranspose):
        shape = _spread_factor(op, np.empty(tensor_of(factor.type).shape)).shape
        return tri.Mul.build(old, tri.Reshape.build(factor, shape=shape).y).y
    # Inputs of a group have the same factors.
    inputs, outputs, *kernel = whole = tensor_of(old.type).shape
    apart = tri.Reshape.build(old, shape=(op.group, inputs // op.group, outputs, *kernel)).y
    factors = tri.Reshape.build(factor, shape=(op.group, 1, outputs, *(1 for _ in kernel))).y
    return tri.Reshape.build(tri.Mul.build(apart, factors).y, shape=whole).y


def need_foldable(op: Linear, rewriter: Rewriter) -> tuple[ir.Value, ir.Value | None]:
    """Return weights and bias of an op that `fold_held` takes; NoMatch where it does not."""
    weights, bias = weights_of(op), _bias_of(op)
    for value in (weights, bias):
        if value is not None:
            rewriter.need_weight(value)
            if tensor_of(value.type).dtype != "f32":
                raise NoMatch("weights that may be updated are not f32")
    return weights, bias


def _bias_of(op: Linear) -> ir.Value | None:
    match op:
        case tri.MatMul():
            return None
        case tri.Gemm():
            if op.c is not None and op.beta != 1:
                raise NoMatch("bias has a factor")
            return op.c
        case tri.GroupNorm() | tri.InstanceNorm():
            return op.bias
        case tri.Conv() | tri.ConvTranspose():
            return op.b


def weights_of(op: Linear) -> ir.Value:
    """Return the operand that a factor of the result can be put into."""
    match op:
        case tri.Conv() | tri.ConvTranspose():
            return op.w
        case tri.Gemm() | tri.MatMul():
            return op.b
        case tri.GroupNorm() | tri.InstanceNorm():
            return op.scale


def _spread_factor(op: Linear, factor: Array) -> Array:
    """Shape the factors of channels so that they broadcast to the weights."""
    shape = tensor_of(weights_of(op).type).shape
    ones = (1,) * (len(shape) - 2)
    match op:
        case tri.Conv():
            return factor.reshape(-1, 1, *ones)
        case tri.ConvTranspose():  # [inputs, outputs / group, …], one part of both per group
            inputs, outputs = shape[:2]
            parts = factor.reshape(op.group, 1, outputs)
            return parts.repeat(inputs // op.group, axis=1).reshape(inputs, outputs, *ones)
        case tri.Gemm():
            return factor[:, None] if op.trans_b else factor
        case tri.MatMul() | tri.GroupNorm() | tri.InstanceNorm():
            return factor


def _scaled(w: ir.Value, factor: Array, rewriter: Rewriter) -> ir.Value:
    """Build constant weights times a factor, at the insertion point."""
    stored = rewriter.find_constant(w)
    if stored is not None:
        product = np.empty(stored.shape, stored.dtype)
        # In f64, piece by piece: an array of twice the size of all weights costs more than this.
        np.multiply(stored, factor, out=product, dtype=np.float64, casting="unsafe")
        return _constant(product, w, rewriter)
    maker = rewriter.find_producer(w)
    if isinstance(maker, tri.Mul) and (scale := rewriter.find_constant(maker.b)) is not None:
        scales = _constant(scale.astype(np.float64) * factor, w, rewriter)
        return tri.Mul.build(maker.a, scales).y
    return tri.Mul.build(w, _constant(factor, w, rewriter)).y


def _changed_bias(op: Linear, affine: Affine, rewriter: Rewriter) -> Array | None:
    match op:
        case tri.MatMul():
            return affine.term
        case tri.Gemm():
            old, beta = op.c, op.beta
        case tri.GroupNorm() | tri.InstanceNorm():
            old, beta = op.bias, 1.0
        case tri.Conv() | tri.ConvTranspose():
            old, beta = op.b, 1.0
    if old is None:
        return affine.term
    bias = rewriter.constant(old).astype(np.float64) * beta
    bias = bias if affine.factor is None else bias * affine.factor
    return bias if affine.term is None else bias + affine.term


def _constant(array: Array, like: ir.Value, rewriter: Rewriter) -> ir.Value:
    """Build a constant of the element type of a weight, named after it."""
    owner = rewriter.find_producer(like)
    name = hint(owner) if owner else "weight"
    dtype = numpy_dtype(tensor_of(like.type).dtype)
    array = array.astype(dtype, copy=False)
    return tri.build_constant(rewriter.module, array, name).results[0]


def _rebuilt(op: Linear, w: ir.Value, b: ir.Value | None) -> Op:
    match op:
        case tri.Conv():
            return tri.Conv.build(op.x, w, b, **op.attributes)
        case tri.ConvTranspose():
            return tri.ConvTranspose.build(op.x, w, b, **op.attributes)
        case tri.Gemm():
            attributes: dict[str, Any] = op.attributes | {"beta": 1.0}
            return tri.Gemm.build(op.a, w, b, **attributes)
        case tri.MatMul():
            product = tri.MatMul.build(op.a, w)
            return product if b is None else tri.Add.build(product.y, b)
        case tri.GroupNorm():
            return tri.GroupNorm.build(op.x, w, b, **op.attributes)
        case tri.InstanceNorm():
            return tri.InstanceNorm.build(op.x, w, b, **op.attributes)
