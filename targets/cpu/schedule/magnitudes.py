"""Bounds of numbers that are computed from integers."""

import numpy as np

from ....dialects import cpu, tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.tensor import DTYPES
from ....passes.rewriting import Rewriter

HUGE = 1e30
"""What no sum or product below overflows."""

DEEPEST = 32
"""The most ops in a row that are looked through."""


def is_finite(value: ir.Value, rewriter: Rewriter) -> bool:
    """Return whether a value is surely neither NaN nor infinite."""
    return _magnitude(value, rewriter, DEEPEST) < HUGE


def _magnitude(value: ir.Value, rewriter: Rewriter, depth: int) -> float:
    """Return a bound of the size of all elements, infinity where none is known."""
    unknown = float("inf")
    constant = rewriter.find_constant(value)
    if constant is not None and constant.dtype.kind in "fiu":
        finite = bool(np.isfinite(constant).all())
        return float(np.abs(constant.astype(np.float64)).max(initial=0.0)) if finite else unknown
    tensor = tensor_of(value.type)
    if DTYPES[tensor.dtype].kind in ("int", "uint"):
        return 2.0 ** DTYPES[tensor.dtype].bits
    op = rewriter.find_producer(value)
    if op is None or depth == 0:
        return unknown
    bounds = [_magnitude(v, rewriter, depth - 1) for v in op.operation.operands]
    if isinstance(op, (tri.Cast, tri.Round, tri.Clip, tri.Relu, tri.MaxPool, cpu.Block)):
        return bounds[0]
    if isinstance(op, (tri.Add, tri.Sub)):
        return sum(bounds)
    if isinstance(op, tri.Mul) and max(bounds) < HUGE:
        return bounds[0] * bounds[1]
    if isinstance(op, tri.Div) and (divisor := rewriter.find_scalar(op.b)):
        return bounds[0] / abs(divisor)
    return unknown
