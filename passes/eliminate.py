"""Remove ops that do nothing and ops that nobody needs."""

import math

from ..dialects import tri
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module, functions, ops
from ..dialects.core.op import Op
from ..dialects.core.sizes.dim import symbols_of
from ..dialects.core.symbol_scope import symbols_defined, symbols_needed
from ..dialects.core.symbol_table import checks_of, set_symbols, symbols_of_function
from ..dialects.tri.reduction.reduce import Reduction
from .core import Pass
from .rewriting import NoMatch, Pattern, Rewriter, rewrite, uses


class Eliminate(Pass):
    """Remove ops that return an operand unchanged, unused ops, and unused weights.

    %y = tri.reshape %x to its own shape; %z = tri.relu %y   =>   %z = tri.relu %x
    """

    def run(self, module: Module) -> None:
        rewrite(module, _Identity())
        remove_unused(module)


class _Identity(Pattern):
    root = Op

    def rewrite(self, op: Op, rewriter: Rewriter) -> None:
        operand = _equal_operand(op, rewriter)
        if operand is None:
            raise NoMatch("computes something")
        if operand.type != op.results[0].type:
            raise NoMatch(f"changes the type from {operand.type} to {op.results[0].type}")
        rewriter.replace(op, [operand])


def _equal_operand(op: Op, rewriter: Rewriter) -> ir.Value | None:
    """Return the operand whose elements the result has, in order, or None."""
    match op:
        case tri.Reshape() | tri.Expand() | tri.Tile() | tri.Cast():
            return op.x  # their types say it all
        case tri.Transpose():
            return op.x if op.permutation == tuple(range(len(op.permutation))) else None
        case tri.Slice():
            return op.x if not any(op.starts) and set(op.steps) <= {1} else None
        case tri.Pad():
            return op.x if not any(op.pads) else None
        case tri.Resize():
            return op.x if set(op.scales) <= {1} and not op.roi else None
        case tri.Clip():
            return op.x if (op.min, op.max) == (-math.inf, math.inf) else None
        case tri.Concat() | tri.Split():
            return op.operation.operands[0] if len(op.results) == 1 else None
        case Reduction():
            return op.x if isinstance(op, KEEPS_ONE) and not op.axes else None
        case tri.Where():
            condition = rewriter.find_scalar(op.condition)
            return None if condition is None else op.a if condition else op.b
        case tri.Add() | tri.Or() | tri.Xor():
            return _other_than(0, op, rewriter)
        case tri.Mul() | tri.And():
            return _other_than(1, op, rewriter)
        case tri.Sub():
            return op.a if rewriter.find_scalar(op.b) == 0 else None
        case tri.Div() | tri.Pow():
            return op.a if rewriter.find_scalar(op.b) == 1 else None
        case _:
            return None


KEEPS_ONE = (tri.ReduceSum, tri.ReduceMean, tri.ReduceProd, tri.ReduceMax, tri.ReduceMin)
"""The reductions of one element that are this element."""


def _other_than(
    neutral: float, op: tri.Add | tri.Mul | tri.And | tri.Or | tri.Xor, rewriter: Rewriter
) -> ir.Value | None:
    if rewriter.find_scalar(op.b) == neutral:
        return op.a
    return op.b if rewriter.find_scalar(op.a) == neutral else None


def remove_unused(module: Module) -> None:
    """Remove the ops, outside and in bodies, and the weights of a module that nobody needs."""
    _remove_unused_ops(module.operation)
    named = {op.name for op in ops(module.operation) if isinstance(op, tri.Weight)}
    for name in [name for name in module.weights if name not in named]:
        del module.weights[name]


def _remove_unused_ops(scope: ir.Operation) -> None:
    """Remove the ops of which neither a result is used nor a symbol that they define.

    Symbols that a part of a function defines are used outside of it, where they are declared.
    """
    dynamic = [function for function in functions(scope) if symbols_of_function(function)]
    checks = (check for function in dynamic for check in checks_of(function))
    needed = {name for check in checks for name in symbols_of(check.expression)}
    removed: set[str] = set()
    for op in reversed(ops(scope)):
        if op.pure and not op.terminator and not any(map(uses, op.results)):
            defined = symbols_defined(op)
            if needed.isdisjoint(defined) and (dynamic or not defined):
                removed |= defined
                op.operation.erase()
                continue
        if dynamic:
            needed |= symbols_needed(op)
    for function in dynamic if removed else ():
        ranges = symbols_of_function(function)
        set_symbols(function, {name: ranges[name] for name in ranges if name not in removed})
