"""Move bytes instead of the numbers that they stand for."""

from collections.abc import Sequence

import numpy as np

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...dialects.core.op import Op
from ...dialects.core.tensor import Array
from ..core import Pass
from ..rewriting import NoMatch, Pattern, Rewriter, rewrite, uses
from .byte_functions import BYTES, ByteFunction

Step = tri.Cast | tri.Round | tri.Clip | tri.Add | tri.Sub | tri.Mul | tri.Div
"""What quantisation and dequantisation consist of."""


class KeepBytes(Pass):
    """Quantise before values are joined, pool before they are dequantised, drop what keeps bytes.

    Quantisation of each part of a tensor is that of the whole. The larger one of two bytes stands
    for the larger number, so a maximum may be taken of bytes. Bytes that are dequantised and then
    quantised by the same scale are as they were. So values between kernels are bytes, of which four
    times as many move in the same time.

        quantize (tri.concat %a, %b)        =>   tri.concat (quantize %a), (quantize %b)
        tri.max_pool (dequantize %bytes)    =>   dequantize (tri.max_pool %bytes)
        quantize (dequantize %bytes)        =>   %bytes
    """

    def run(self, module: Module) -> None:
        rewrite(module, _QuantizedConcat(), _MaxOfBytes(), _Identity())


class _QuantizedConcat(Pattern):
    root = tri.Cast

    def rewrite(self, op: tri.Cast, rewriter: Rewriter) -> None:
        if tensor_of(op.y.type).dtype not in BYTES:
            raise NoMatch("does not make bytes")
        steps = _steps(op, rewriter)
        joined = rewriter.sole_producer(_input(steps[0]), tri.Concat)
        if any(uses(step.results[0]) != 1 for step in steps[:-1]):
            raise NoMatch("what is quantised has other uses")
        with rewriter.before(op):
            parts = [_again(steps, part) for part in joined.xs]
            rewriter.replace(op, tri.Concat.build(parts, axis=joined.axis), *steps[:-1], joined)


class _MaxOfBytes(Pattern):
    root = tri.MaxPool

    def rewrite(self, op: tri.MaxPool, rewriter: Rewriter) -> None:
        sides = zip((*op.kernel, *op.kernel), op.pads, strict=True)
        if any(pad >= taps for taps, pad in sides):
            raise NoMatch("windows may see nothing, whose maximum differs")
        last = rewriter.find_producer(op.x)
        if not isinstance(last, Step):
            raise NoMatch("does not pool what was dequantised")
        steps = _steps(last, rewriter)
        source = _input(steps[0])
        if tensor_of(source.type).dtype not in BYTES:
            raise NoMatch(f"pools what is computed from {tensor_of(source.type)}, must be bytes")
        values = ByteFunction.of(op.x, rewriter, nearest=True).values
        if not (np.diff(values[np.argsort(_numbers(source))]) >= 0).all():
            raise NoMatch("the larger byte does not stand for the larger number")
        with rewriter.before(op):
            pooled = tri.MaxPool.build(source, **op.attributes).y
            rewriter.replace(op, [_again(steps, pooled)])


def _numbers(source: ir.Value) -> Array:
    return ByteFunction.domain(tensor_of(source.type).dtype)


class _Identity(Pattern):
    root = tri.Cast

    def rewrite(self, op: tri.Cast, rewriter: Rewriter) -> None:
        function = ByteFunction.of(op.y, rewriter, nearest=True)
        if function.source.type != op.y.type:
            raise NoMatch(f"is computed from {tensor_of(function.source.type)}")
        if not np.array_equal(function.values, _numbers(function.source)):
            raise NoMatch("changes bytes")
        rewriter.replace(op, [function.source])


def _steps(last: Op, rewriter: Rewriter) -> list[Step]:
    """List the ops from bytes, or from what is no such op, to the last one, in order."""
    steps: list[Step] = []
    op: Op | None = last
    while isinstance(op, Step) and _is_step(op, rewriter):
        steps.insert(0, op)
        if tensor_of(_input(op).type).dtype in BYTES:
            break
        op = rewriter.find_producer(_input(op))
    if not steps:
        raise NoMatch("has an operand that is not one number")
    return steps


def _is_step(op: Step, rewriter: Rewriter) -> bool:
    if tensor_of(_input(op).type).shape != tensor_of(op.results[0].type).shape:
        return False
    others = list(op.operation.operands)[1:]
    return all(
        tensor_of(v.type).size == 1 and rewriter.find_constant(v) is not None for v in others
    )


def _input(op: Op) -> ir.Value:
    value: ir.Value = op.operation.operands[0]
    return value


def _again(steps: Sequence[Step], value: ir.Value) -> ir.Value:
    """Build the same ops on another value."""
    for step in steps:
        made = type(step).build(value, *list(step.operation.operands)[1:], **step.attributes)
        value = made.results[0]
    return value
