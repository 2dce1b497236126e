"""Lowerings of arithmetic and transcendental functions of one tensor."""

from ...dialects import tri
from ...dialects.core.op import Op
from .number import Number
from .target import elementwise

SAME: dict[type[Op], str] = {
    tri.Abs: "abs",
    tri.Ceil: "ceil",
    tri.Cos: "cos",
    tri.Erf: "erf",
    tri.Exp: "exp",
    tri.Floor: "floor",
    tri.Log: "log",
    tri.Neg: "neg",
    tri.Rsqrt: "rsqrt",
    tri.Sin: "sin",
    tri.Sqrt: "sqrt",
}
"""Ops that are one function of `tile.unary`."""


@elementwise(*SAME)
def lower_function(op: Op, x: Number) -> Number:
    return x.apply(SAME[type(op)])
