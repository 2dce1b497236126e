"""Lowerings of elementwise ops of one tensor: elementary functions, casts and GELU.

`targets/kernels/lower/` has the other elementwise lowerings, which all targets share.
"""

import math
from collections.abc import Callable

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.op import Op
from ....dialects.core.tensor import is_narrow
from ...element_types import MOVES
from ...kernels.conversion import convert
from ...kernels.lower.elementwise import register_elementwise
from ...kernels.narrow import narrowed_bits, power_bits, widened_bits
from ..kernels.conversion import cast, reinterpret, widened
from ..kernels.functions import approximation, gelu, of_bf16, trigonometry
from ..kernels.value import Value
from ..registry import TABLE, elementwise

MATH: dict[type[Op], str] = {
    tri.Acos: "acos",
    tri.Acosh: "acosh",
    tri.Asin: "asin",
    tri.Asinh: "asinh",
    tri.Atan: "atan",
    tri.Atanh: "atanh",
    tri.Ceil: "ceil",
    tri.Cosh: "cosh",
    tri.Floor: "floor",
    tri.Round: "roundeven",
    tri.Sinh: "sinh",
    tri.Tan: "tan",
    tri.Trunc: "trunc",
}
"""Ops that are one op of the `math` dialect."""


def _by_math(name: str) -> Callable[[Value], Value]:
    return widened(lambda x: x.apply(name))


FUNCTIONS: dict[type[Op], Callable[[Value], Value]] = {
    tri.Cos: trigonometry.cos,
    tri.Erf: approximation.erf,
    tri.Exp: approximation.exp,
    tri.Expm1: approximation.expm1,
    tri.Log: approximation.log,
    tri.Log1p: approximation.log1p,
    tri.Rsqrt: widened(lambda x: 1 / x.apply("sqrt")),
    tri.Sigmoid: approximation.sigmoid,
    tri.Sin: trigonometry.sin,
    tri.Softplus: approximation.softplus,
    tri.Sqrt: lambda x: x.apply("sqrt"),
    tri.Tanh: approximation.tanh,
    **{op: _by_math(name) for op, name in MATH.items()},
}

OF_BF16 = FUNCTIONS | {tri.Exp: of_bf16.exp, tri.Sigmoid: of_bf16.sigmoid}
"""The functions of ops whose results are bf16."""

register_elementwise(TABLE, FUNCTIONS, widened, {"bf16": OF_BF16})


@elementwise(tri.Cast, types=MOVES)
def lower_cast(op: tri.Cast, x: Value) -> Value:
    source = tensor_of(op.x.type).dtype
    if is_narrow(source):
        x, source = widened_bits(x, source)
    if is_narrow(op.to):
        return narrowed_bits(x, op.to, op.saturate)
    return cast(x, source, op.to)


@elementwise(tri.PowerOfTwo, types=MOVES)
def lower_power_of_two(op: tri.PowerOfTwo, x: Value) -> Value:
    return power_bits(convert(x, "f32"), op.saturate, op.round_mode)


@elementwise(tri.BitCast, types=MOVES)
def lower_bit_cast(op: tri.BitCast, x: Value) -> Value:
    return reinterpret(x, tensor_of(op.x.type).dtype, op.to)


@elementwise(tri.Gelu)
@widened
def lower_gelu(op: tri.Gelu, x: Value) -> Value:
    if x.dtype == "f64":
        return _gelu_by_library(op, x)
    if tensor_of(op.results[0].type).dtype == "bf16":
        return of_bf16.gelu(x) if op.approximate == "none" else of_bf16.gelu_tanh(x)
    return gelu.gelu(x) if op.approximate == "none" else gelu.gelu_tanh(x)


def _gelu_by_library(op: tri.Gelu, x: Value) -> Value:
    """Compute the tail of the distribution directly: 1 minus the rest would cancel."""
    if op.approximate == "none":
        return x * 0.5 * (x * -math.sqrt(0.5)).apply("erfc")
    inner = (x * x * x).fma(0.044715, x) * math.sqrt(8 / math.pi)
    return x * approximation.sigmoid(inner)
