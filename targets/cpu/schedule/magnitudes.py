"""Bounds of numbers that are computed from integers."""

import numpy as np

from ....dialects import cpu, tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from ....dialects.core.tensor import DTYPES
from ....passes.rewriting import Rewriter

HUGE = 1e30
"""What no sum or product below overflows."""

DEEPEST = 32
"""The most ops in a row that are looked through."""

BYTES = 256.0
"""A bound of all bytes."""

MOVED = (tri.Cast, tri.Round, tri.Clip, tri.Relu, tri.MaxPool, cpu.Block)
"""Ops whose results are no larger than the operand."""

BOUNDED = (*MOVED, tri.Add, tri.Sub, tri.Mul, tri.Div)
"""Ops that are looked through."""


def is_finite(value: ir.Value, rewriter: Rewriter) -> bool:
    """Return whether a value is surely neither NaN nor infinite."""
    return magnitude(value, rewriter) < HUGE


def magnitude(value: ir.Value, rewriter: Rewriter, depth: int = DEEPEST) -> float:
    """Return a bound of the size of all elements, infinity where none is known."""
    unknown = float("inf")
    constant = rewriter.find_constant(value)
    if constant is not None and constant.dtype.kind in "fiu":
        finite = bool(np.isfinite(constant).all())
        return float(np.abs(constant.astype(np.float64)).max(initial=0.0)) if finite else unknown
    dtype = DTYPES[tensor_of(value.type).dtype]
    if dtype.kind in ("int", "uint"):
        unknown = 2.0**dtype.bits
    op = rewriter.find_producer(value)
    if not isinstance(op, BOUNDED) or depth == 0 or unknown <= BYTES:
        return unknown
    return min(_bound(op, rewriter, depth), unknown)


def _bound(op: Op, rewriter: Rewriter, depth: int) -> float:
    bounds = [magnitude(v, rewriter, depth - 1) for v in op.operation.operands]
    if isinstance(op, MOVED):
        return bounds[0]
    if isinstance(op, (tri.Add, tri.Sub)):
        return sum(bounds)
    if isinstance(op, tri.Mul) and max(bounds) < HUGE:
        return bounds[0] * bounds[1]
    if isinstance(op, tri.Div) and (divisor := rewriter.find_scalar(op.b)):
        return bounds[0] / abs(divisor)
    return float("inf")
