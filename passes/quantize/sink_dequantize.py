"""Sink dequantisation below products: multiply integers, then scale the result."""

import math
from dataclasses import dataclass

import numpy as np

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...dialects.core.tensor import Array, numpy_dtype
from ..constants import hint
from ..core import Pass
from ..rewriting import NoMatch, Pattern, Rewriter, rewrite

BYTES = ("ui8", "i8")

DEEPEST = (1 << 31) // (255 * 255)
"""Of so many products of bytes without their zero points, the sum always fits in i32."""


class SinkDequantize(Pass):
    """Multiply bytes by constant bytes as integers, where each is scaled before a product.

    The product is scaled instead, once: it is exact up to there, and as fast as integers are.
    Scales are constant: one for all of the input, one for each channel of the weights. A division
    that follows, by the scale of a result, becomes part of that.

        %a = tri.mul (tri.cast %x), %s; %w = tri.mul (tri.cast %v), %t; %y = tri.mat_mul %a, %w
            =>   %p = tri.mat_mul %x, %v; %y = tri.mul (tri.cast %p), %st
        tri.div (tri.add (tri.mul (tri.cast %p), %st), %b), %c
            =>   tri.add (tri.mul (tri.cast %p), %st/%c), %b/%c
    """

    def run(self, module: Module) -> None:
        rewrite(module, _MatMul(), _Gemm(), _Conv(), _Quotient())


@dataclass(frozen=True)
class _Scaled:
    """Hold a tensor as integers, of i32, and the scale that makes it what it was."""

    integers: ir.Value
    scale: Array


def _scaled(value: ir.Value, rewriter: Rewriter) -> _Scaled:
    """Look through a dequantisation; NoMatch where there is none, or not one of bytes."""
    product = rewriter.producer(value, tri.Mul)
    cast = rewriter.producer(product.a, tri.Cast)
    shifted = rewriter.find_producer(cast.x)
    wide = shifted.a if isinstance(shifted, tri.Sub) else cast.x
    source = rewriter.producer(wide, tri.Cast).x
    if tensor_of(cast.x.type).dtype != "i32" or tensor_of(source.type).dtype not in BYTES:
        raise NoMatch(f"scales {tensor_of(source.type)}, must be bytes")
    scale = rewriter.constants(product.b)
    if scale is None or tensor_of(cast.x.type).shape != tensor_of(value.type).shape:
        raise NoMatch("scale is not a constant, or broadcasts the tensor")
    return _Scaled(cast.x, scale)


def _input(value: ir.Value, rewriter: Rewriter) -> _Scaled:
    """Look through the dequantisation of an input: one scale, and one zero point if any."""
    found = _scaled(value, rewriter)
    if found.scale.size != 1:
        raise NoMatch(f"input has {found.scale.size} scales, must have one")
    shifted = rewriter.find_producer(found.integers)
    if not isinstance(shifted, tri.Sub):
        return found
    zero = rewriter.constants(shifted.b)
    if zero is None or zero.size != 1:
        raise NoMatch("input has several zero points, or one that is only known at run time")
    return found


def _weights(value: ir.Value, axis: int, rewriter: Rewriter) -> _Scaled:
    """Look through the dequantisation of constant weights, with scales along one axis at most."""
    found = _scaled(value, rewriter)
    if not _is_constant(found.integers, rewriter):
        raise NoMatch("weights are not constant")
    shape = tensor_of(value.type).shape
    full = (1,) * (len(shape) - found.scale.ndim) + found.scale.shape
    if any(size != 1 for other, size in enumerate(full) if other != axis % len(shape)):
        raise NoMatch(f"scales of shape {found.scale.shape} vary within a channel")
    if not math.prod(shape) or math.prod(shape) // shape[axis] > DEEPEST:
        raise NoMatch(f"weights are {shape}, must sum 1 to {DEEPEST} products")
    return _Scaled(found.integers, np.broadcast_to(found.scale.reshape(-1), shape[axis]))


def _is_constant(value: ir.Value, rewriter: Rewriter) -> bool:
    op = rewriter.find_producer(value)
    if op is None:
        return False
    return all(_is_constant(operand, rewriter) for operand in op.operation.operands)


class _MatMul(Pattern):
    root = tri.MatMul

    def rewrite(self, op: tri.MatMul, rewriter: Rewriter) -> None:
        if tensor_of(op.a.type).rank < 2 or tensor_of(op.b.type).rank != 2:
            raise NoMatch("is not a product with a matrix")
        a, b = _input(op.a, rewriter), _weights(op.b, 1, rewriter)
        with rewriter.before(op):
            product = tri.MatMul.build(a.integers, b.integers).y
            rewriter.replace(op, _rescaled(op, product, a.scale * b.scale, (), rewriter))


class _Gemm(Pattern):
    root = tri.Gemm

    def rewrite(self, op: tri.Gemm, rewriter: Rewriter) -> None:
        if op.trans_a or op.alpha != 1 or op.beta != 1:
            raise NoMatch("has scales of its own, or a is transposed")
        a, b = _input(op.a, rewriter), _weights(op.b, 0 if op.trans_b else 1, rewriter)
        with rewriter.before(op):
            right = b.integers
            if op.trans_b:
                right = tri.Transpose.build(right, permutation=(1, 0)).y
            product = tri.MatMul.build(a.integers, right).y
            scaled = _rescaled(op, product, a.scale * b.scale, (), rewriter)
            rewriter.replace(op, scaled if op.c is None else tri.Add.build(scaled.y, op.c))


class _Conv(Pattern):
    root = tri.Conv

    def rewrite(self, op: tri.Conv, rewriter: Rewriter) -> None:
        w = tensor_of(op.w.type)
        x, weights = _input(op.x, rewriter), _weights(op.w, 0, rewriter)
        spatial = (1,) * (w.rank - 2)
        with rewriter.before(op):
            product = tri.Conv.build(x.integers, weights.integers, None, **op.attributes).y
            scaled = _rescaled(op, product, x.scale * weights.scale, spatial, rewriter)
            if op.b is not None:
                bias = tri.Reshape.build(op.b, shape=(w.shape[0], *spatial)).y
                scaled = tri.Add.build(scaled.y, bias)
            rewriter.replace(op, scaled)


def _rescaled(
    op: tri.MatMul | tri.Gemm | tri.Conv,
    product: ir.Value,
    scale: Array,
    behind: tuple[int, ...],
    rewriter: Rewriter,
) -> tri.Mul:
    """Build the product of integers, scaled: one number for each channel, with axes behind it."""
    dtype = tensor_of(op.y.type).dtype
    array = scale.reshape(-1, *behind).astype(numpy_dtype(dtype))
    factor = tri.build_constant(rewriter.module, array, f"{hint(op)}.scale").results[0]
    return tri.Mul.build(tri.Cast.build(product, to=dtype).y, factor)


class _Quotient(Pattern):
    root = tri.Div

    def rewrite(self, op: tri.Div, rewriter: Rewriter) -> None:
        divisor = _constant(op.b, rewriter)
        if divisor.size != 1 or op.a.type != op.y.type:
            raise NoMatch("does not divide by one number")
        has_bias = isinstance(rewriter.find_producer(op.a), tri.Add)
        total = rewriter.sole_producer(op.a, tri.Add) if has_bias else None
        scaled = rewriter.sole_producer(op.a if total is None else total.a, tri.Mul)
        cast = rewriter.sole_producer(scaled.a, tri.Cast)
        product = rewriter.find_producer(cast.x)
        if not isinstance(product, (tri.MatMul, tri.Conv)) or not _is_integer(cast.x):
            raise NoMatch("what is scaled is not a product of integers")
        factor = _constant(scaled.b, rewriter) / divisor.reshape(())
        bias = None if total is None else _constant(total.b, rewriter) / divisor.reshape(())
        with rewriter.before(op):
            new: tri.Mul | tri.Add = tri.Mul.build(scaled.a, _build(op, factor, "scale", rewriter))
            if bias is not None:
                new = tri.Add.build(new.y, _build(op, bias, "bias", rewriter))
        rewriter.replace(op, new, scaled, *([] if total is None else [total]))


def _constant(value: ir.Value, rewriter: Rewriter) -> Array:
    """Return the value of a constant, or of what is made of constants, in f64."""
    array = rewriter.constants(value)
    if array is None:
        raise NoMatch("scale or bias is not a constant")
    return array.astype(np.float64)


def _build(op: tri.Div, array: Array, what: str, rewriter: Rewriter) -> ir.Value:
    narrow = array.astype(numpy_dtype(tensor_of(op.y.type).dtype))
    return tri.build_constant(rewriter.module, narrow, f"{hint(op)}.{what}").results[0]


def _is_integer(value: ir.Value) -> bool:
    return tensor_of(value.type).dtype == "i32"
