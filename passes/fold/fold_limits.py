"""Limit numbers once, where they become integers."""

import math

import numpy as np

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.module import Module
from ...dialects.core.op import Op
from ...dialects.core.tensor import DTYPES, Array, numpy_dtype
from ..core import Pass
from ..rewriting import NoMatch, Pattern, Rewriter, rewrite

Step = tri.Mul | tri.Div | tri.Add | tri.Sub | tri.Round
"""What lies between two limits of quantised numbers: all of it increases, or stays as it is."""


class FoldLimits(Pass):
    """Limit numbers once that are limited, scaled, rounded, limited again and made integers.

    The quotient of the larger number is not the smaller one, and what rounds keeps the order, too.
    So the first limits, scaled and rounded, are limits of the integers: often those of their type,
    and an activation before quantisation costs nothing. Integers are the same, NaN included.

        tri.cast (tri.clip (tri.round (tri.div (tri.relu %x), %s)) {-128, 127}) to i8
            =>   tri.cast (tri.clip (tri.round (tri.div %x, %s)) {0, 127}) to i8
    """

    def run(self, module: Module) -> None:
        rewrite(module, _LimitedTwice())


class _LimitedTwice(Pattern):
    root = tri.Cast

    def rewrite(self, op: tri.Cast, rewriter: Rewriter) -> None:
        if DTYPES[tensor_of(op.y.type).dtype].kind not in ("int", "uint"):
            raise NoMatch("does not make integers, of which zero has no sign")
        last = rewriter.sole_producer(op.x, tri.Clip)
        steps: list[Step] = []
        value = last.x
        while not isinstance(first := rewriter.find_producer(value), tri.Relu | tri.Clip):
            steps.insert(0, _increasing(first, rewriter))
            rewriter.sole_producer(value, type(steps[0]))
            value = steps[0].operation.operands[0]
        rewriter.sole_producer(value, type(first))
        low, high = (_limited(_after(steps, limit, rewriter), last) for limit in _limits(first))
        with rewriter.before(op, last, *steps, first):
            made = first.x
            for step in steps:
                others = list(step.operation.operands)[1:]
                made = type(step).build(made, *others, **step.attributes).results[0]
            new = tri.Cast.build(tri.Clip.build(made, min=low, max=high).y, **op.attributes)
        rewriter.replace(op, new, last, *steps, first)


def _increasing(op: Op | None, rewriter: Rewriter) -> Step:
    """Return an op of the first operand and one number, if it keeps the order of its operands."""
    if not isinstance(op, Step):
        raise NoMatch(f"{op.op_name if op else 'an input'} is limited, and was not before")
    if tensor_of(op.operation.operands[0].type) != tensor_of(op.results[0].type):
        raise NoMatch(f"{op.op_name} broadcasts what is limited, or changes its type")
    if not isinstance(op, tri.Round):
        number = rewriter.scalar(op.b)
        if not math.isfinite(number):
            raise NoMatch(f"the operand of {op.op_name} is {number}, must be finite")
        if isinstance(op, tri.Mul | tri.Div) and number <= 0:
            raise NoMatch(f"{op.op_name} is by {number}, which reverses the order")
    return op


def _limits(op: tri.Relu | tri.Clip) -> tuple[Array, Array]:
    dtype = numpy_dtype(tensor_of(op.x.type).dtype)
    low, high = (0.0, math.inf) if isinstance(op, tri.Relu) else (op.min, op.max)
    return np.asarray(low, dtype), np.asarray(high, dtype)


def _after(steps: list[Step], limit: Array, rewriter: Rewriter) -> Array:
    """Compute what becomes of a limit, in the element type of the numbers."""
    with np.errstate(all="ignore"):
        for step in steps:
            others = [rewriter.constant(v).reshape(()) for v in list(step.operation.operands)[1:]]
            limit = np.asarray(step.reference(limit, *others))
    return limit


def _limited(limit: Array, last: tri.Clip) -> float:
    if np.isnan(limit):
        raise NoMatch("a limit is NaN")
    return float(np.minimum(np.maximum(limit, last.min), last.max))
