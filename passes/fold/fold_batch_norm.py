"""Get rid of batch normalisation: in inference it is a factor and a term for each channel."""

import numpy as np

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...dialects.core.op import Op
from ...dialects.core.tensor import Array, numpy_dtype
from ..constants import hint
from ..core import Pass
from ..rewriting import NoMatch, Pattern, Rewriter, rewrite, uses
from .channels import (
    Affine,
    Linear,
    channel_axis,
    fold_affine,
    fold_held,
    need_foldable,
    need_linear,
    weights_of,
)


class FoldBatchNorm(Pass):
    """Fold batch normalisations into the weights and bias of the op before them.

    That op is a Conv, ConvTranspose, Gemm or MatMul, perhaps with a reshape that keeps the
    channels in between, and nothing else may use its result. Other batch normalisations become a
    product and a sum, but with `alone=false`. All parameters must be constants; they are combined
    in f64. Where some are weights that may be updated, ops combine them when a package is loaded.

        %c = tri.conv %x, %w; %y = tri.batch_norm %c   =>   %y = tri.conv %x, %w', %b'
        %y = tri.batch_norm %x                         =>   %m = tri.mul %x, %s; %y = tri.add %m, %t
    """

    alone: bool = True

    def run(self, module: Module) -> None:
        rewrite(module, _AfterLinear(), _AfterReshape())
        if self.alone:
            rewrite(module, _Alone())


class _AfterLinear(Pattern):
    root = tri.BatchNorm

    def rewrite(self, op: tri.BatchNorm, rewriter: Rewriter) -> None:
        linear = need_linear(rewriter.find_producer(op.x))
        _check_only_use(op.x)
        if channel_axis(linear) != 1:
            raise NoMatch("normalises another axis than that of the channels")
        rewriter.replace(op, _folded(op, linear, rewriter), linear)


class _AfterReshape(Pattern):
    root = tri.BatchNorm

    def rewrite(self, op: tri.BatchNorm, rewriter: Rewriter) -> None:
        reshape = rewriter.producer(op.x, tri.Reshape)
        linear = need_linear(rewriter.find_producer(reshape.x))
        _check_only_use(op.x)
        _check_only_use(reshape.x)
        shape = tensor_of(reshape.x.type).shape
        keeps = len(reshape.shape) == 2 and channel_axis(linear) == len(shape) - 1
        if not keeps or reshape.shape[-1] != shape[-1]:
            raise NoMatch("reshape does not keep the channels")
        new = _folded(op, linear, rewriter)
        with rewriter.before(op):
            reshaped = tri.Reshape.build(new.results[0], shape=reshape.shape)
        rewriter.replace(op, reshaped, reshape, linear)


class _Alone(Pattern):
    root = tri.BatchNorm

    def rewrite(self, op: tri.BatchNorm, rewriter: Rewriter) -> None:
        x = tensor_of(op.x.type)
        shape = (*tensor_of(op.scale.type).shape, *[1] * (x.rank - 2))
        if _is_held(op, rewriter):
            with rewriter.before(op):
                factor, term = (
                    tri.Reshape.build(v, shape=shape).y for v in _combined(op, rewriter)
                )
                rewriter.replace(op, tri.Add.build(tri.Mul.build(op.x, factor).y, term))
            return
        affine = _affine(op, rewriter)
        dtype = numpy_dtype(x.dtype)
        with rewriter.before(op):
            factor, term = (
                _constant(array.reshape(shape).astype(dtype), op, rewriter)
                for array in (affine.factor, affine.term)
                if array is not None
            )
            new = tri.Add.build(tri.Mul.build(op.x, factor).y, term)
        rewriter.replace(op, new)


def _folded(op: tri.BatchNorm, linear: Linear, rewriter: Rewriter) -> Op:
    """Build, before a batch normalisation, the op before it with what it does to each channel."""
    if not _is_held(op, rewriter) and not rewriter.is_held(weights_of(linear)):
        return fold_affine(linear, _affine(op, rewriter), rewriter, op)
    need_foldable(linear, rewriter)
    for value in _parameters(op):
        rewriter.need_weight(value)
    with rewriter.before(op):
        factor, term = _combined(op, rewriter)
    return fold_held(linear, factor, term, rewriter, op)


def _parameters(op: tri.BatchNorm) -> tuple[ir.Value, ...]:
    return op.scale, op.bias, op.mean, op.var


def _is_held(op: tri.BatchNorm, rewriter: Rewriter) -> bool:
    """Return whether parameters are weights that may be updated; NoMatch unless these are f32."""
    held = any(map(rewriter.is_held, _parameters(op)))
    if held and tensor_of(op.scale.type).dtype != "f32":
        raise NoMatch("weights that may be updated are not f32")
    return held


def _combined(op: tri.BatchNorm, rewriter: Rewriter) -> tuple[ir.Value, ir.Value]:
    """Build, at the insertion point, the factor and the term of each channel."""
    epsilon = _constant(np.full(1, op.epsilon, np.float32), op, rewriter)
    deviation = tri.Sqrt.build(tri.Add.build(op.var, epsilon).y).y
    factor = tri.Div.build(op.scale, deviation).y
    return factor, tri.Sub.build(op.bias, tri.Mul.build(op.mean, factor).y).y


def _constant(array: Array, op: Op, rewriter: Rewriter) -> ir.Value:
    return tri.build_constant(rewriter.module, array, hint(op)).results[0]


def _affine(op: tri.BatchNorm, rewriter: Rewriter) -> Affine:
    """Return what a batch normalisation does to each channel; NoMatch unless that is constant."""
    scale, bias, mean, var = (
        rewriter.constant(value).astype(np.float64)
        for value in (op.scale, op.bias, op.mean, op.var)
    )
    factor = scale / np.sqrt(var + op.epsilon)
    return Affine(factor, bias - mean * factor)


def _check_only_use(value: ir.Value) -> None:
    if (count := uses(value)) != 1:
        raise NoMatch(f"value before it has {count} uses, must have 1")
