"""Lowerings of elementwise ops of one tensor: elementary functions, casts and GELU.

`targets/kernels/lower/` has the other elementwise lowerings, which all targets share.
"""

import math
from collections.abc import Callable
from functools import partial

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.op import Op
from ....dialects.core.tensor import COMPUTED, is_narrow
from ....dialects.tile.types import FLOAT8
from ...element_types import ElementTypes
from ...kernels.lower.elementwise import register_elementwise
from ..kernels.conversion import cast, narrow, reinterpret
from ..kernels.functions import approximation, hyperbolic, trigonometry
from ..kernels.value import Value
from ..registry import TABLE, elementwise

UNARY: dict[type[Op], str] = {
    tri.Ceil: "ceil",
    tri.Cos: "cos",
    tri.Erf: "erf",
    tri.Exp: "exp",
    tri.Floor: "floor",
    tri.Log: "log",
    tri.Sin: "sin",
    tri.Sqrt: "sqrt",
}
"""Ops that are one function of `tile.unary`."""


def rsqrt(x: Value) -> Value:
    # The hardware's function computes half of the bits of an f64.
    return 1 / x.apply("sqrt") if x.dtype == "f64" else x.apply("rsqrt")


FUNCTIONS: dict[type[Op], Callable[[Value], Value]] = {
    tri.Acos: trigonometry.acos,
    tri.Acosh: hyperbolic.acosh,
    tri.Asin: trigonometry.asin,
    tri.Asinh: hyperbolic.asinh,
    tri.Atan: trigonometry.atan,
    tri.Atanh: hyperbolic.atanh,
    tri.Cosh: hyperbolic.cosh,
    tri.Expm1: approximation.expm1,
    tri.Log1p: approximation.log1p,
    tri.Round: approximation.round_to_even,
    tri.Rsqrt: rsqrt,
    tri.Sigmoid: approximation.sigmoid,
    tri.Sinh: hyperbolic.sinh,
    tri.Softplus: approximation.softplus,
    tri.Tan: trigonometry.tan,
    tri.Tanh: approximation.tanh,
    tri.Trunc: approximation.truncate,
    **{op: partial(Value.apply, function=name) for op, name in UNARY.items()},
}

register_elementwise(TABLE, FUNCTIONS)


@elementwise(tri.Cast, types=ElementTypes((*COMPUTED, *FLOAT8)))
def lower_cast(op: tri.Cast, x: Value) -> Value:
    if tensor_of(op.x.type).dtype == op.to:
        return x
    return narrow(x, op.to, op.saturate) if is_narrow(op.to) else cast(x, op.to)


@elementwise(tri.BitCast)
def lower_bit_cast(op: tri.BitCast, x: Value) -> Value:
    return reinterpret(x, tensor_of(op.x.type).dtype, op.to)


@elementwise(tri.Gelu)
def lower_gelu(op: tri.Gelu, x: Value) -> Value:
    if op.approximate == "none":
        return x * 0.5 * ((x * math.sqrt(0.5)).apply("erf") + 1)
    inner = (x * x * x * 0.044715 + x) * math.sqrt(2 / math.pi)
    return x * 0.5 * (approximation.tanh(inner) + 1)
