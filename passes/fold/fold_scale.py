"""Fold constant factors and terms into the weights and bias of the op before them."""

import numpy as np

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...dialects.core.tensor import Array
from ...dialects.tri.constant import INLINE_BYTES
from ..core import Pass
from ..rewriting import NoMatch, Pattern, Rewriter, rewrite, uses
from .channels import Affine, Linear, channel_axis, fold_affine, need_linear, weights_of


class FoldScale(Pass):
    """Fold a constant factor or term for each channel into the weights and bias before it.

    The op before is a Conv, ConvTranspose, Gemm, MatMul, GroupNorm or InstanceNorm of whose result
    this is the only use. Terms are not folded into a MatMul, which has no bias.

        %c = tri.conv %x, %w; %y = tri.add %c, %t   (%t is 1xCx1x1)   =>   %y = tri.conv %x, %w, %t'
        %m = tri.mat_mul %x, %w; %y = tri.mul %m, %s                  =>   %y = tri.mat_mul %x, %w'
    """

    def run(self, module: Module) -> None:
        rewrite(module, _Factor(), _Term())


class _Factor(Pattern):
    root = (tri.Mul, tri.Div)

    def rewrite(self, op: tri.Mul | tri.Div, rewriter: Rewriter) -> None:
        linear, other = _linear_and_other(op, rewriter)
        if isinstance(op, tri.Div) and other != op.b:
            raise NoMatch("divides a constant")
        factor = _per_channel(rewriter.constant(other), linear)
        affine = Affine(factor=factor if isinstance(op, tri.Mul) else 1 / factor)
        weights = weights_of(linear)
        if uses(weights) != 1 and tensor_of(weights.type).size_bytes > INLINE_BYTES:
            raise NoMatch("weights have other uses, and would be there twice")
        rewriter.replace(op, fold_affine(linear, affine, rewriter, op), linear)


class _Term(Pattern):
    root = (tri.Add, tri.Sub)

    def rewrite(self, op: tri.Add | tri.Sub, rewriter: Rewriter) -> None:
        linear, other = _linear_and_other(op, rewriter)
        if isinstance(op, tri.Sub) and other != op.b:
            raise NoMatch("subtracts from a constant")
        if isinstance(linear, tri.MatMul):
            raise NoMatch("a matrix product has no bias")
        term = _per_channel(rewriter.constant(other), linear)
        affine = Affine(term=term if isinstance(op, tri.Add) else -term)
        rewriter.replace(op, fold_affine(linear, affine, rewriter, op), linear)


def _linear_and_other(
    op: tri.Mul | tri.Div | tri.Add | tri.Sub, rewriter: Rewriter
) -> tuple[Linear, ir.Value]:
    """Return the operand's op that can take the other operand in, and that other operand."""
    first, second = rewriter.find_producer(op.a), rewriter.find_producer(op.b)
    value, producer, other = (op.b, second, op.a) if _is_leaf(first) else (op.a, first, op.b)
    linear = need_linear(producer)
    if uses(value) != 1 or value.type != op.y.type:
        raise NoMatch("result before it has other uses, or broadcasts")
    return linear, other


def _is_leaf(op: object) -> bool:
    return isinstance(op, (tri.Constant, tri.Weight))


def _per_channel(array: Array, linear: Linear) -> Array:
    """Return a constant as one number for each channel; NoMatch when it varies elsewhere."""
    result = tensor_of(linear.y.type)
    axis = channel_axis(linear)
    shape = (1,) * (result.rank - array.ndim) + array.shape
    if any(size != 1 for other, size in enumerate(shape) if other != axis):
        raise NoMatch(f"constant of shape {array.shape} varies within a channel")
    return np.broadcast_to(array.astype(np.float64).reshape(-1), result.shape[axis])
