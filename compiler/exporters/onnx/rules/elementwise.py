"""ONNX rules for ops that compute each element from the elements at the same place."""

import math
from typing import Any

import numpy as np

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.errors import Unsupported
from .....dialects.core.mlir import ir
from .....dialects.core.op import Op
from .....dialects.core.tensor import Array, is_float, numpy_dtype
from ..graph import OnnxGraph, element_type, exports

SAME: dict[type[Op], str | tuple[str, int]] = {
    tri.Abs: "Abs",
    tri.Acos: "Acos",
    tri.Acosh: "Acosh",
    tri.Add: "Add",
    tri.And: "And",
    tri.Asin: "Asin",
    tri.Asinh: "Asinh",
    tri.Atan: "Atan",
    tri.Atanh: "Atanh",
    tri.BitwiseAnd: "BitwiseAnd",
    tri.BitwiseNot: "BitwiseNot",
    tri.BitwiseOr: "BitwiseOr",
    tri.BitwiseXor: "BitwiseXor",
    tri.Ceil: "Ceil",
    tri.Celu: "Celu",
    tri.Cos: "Cos",
    tri.Cosh: "Cosh",
    tri.Det: "Det",
    tri.Div: "Div",
    tri.Elu: "Elu",
    tri.Equal: ("Equal", 19),
    tri.Erf: "Erf",
    tri.Exp: "Exp",
    tri.Floor: "Floor",
    tri.Gelu: ("Gelu", 20),
    tri.Greater: "Greater",
    tri.GreaterEqual: "GreaterOrEqual",
    tri.HardSigmoid: "HardSigmoid",
    tri.Hardswish: "HardSwish",
    tri.IsNan: ("IsNaN", 20),
    tri.LeakyRelu: "LeakyRelu",
    tri.Less: "Less",
    tri.LessEqual: "LessOrEqual",
    tri.Log: "Log",
    tri.Maximum: "Max",
    tri.Minimum: "Min",
    tri.Mish: "Mish",
    tri.Mul: "Mul",
    tri.Neg: "Neg",
    tri.Not: "Not",
    tri.Or: "Or",
    tri.Pow: "Pow",
    tri.Prelu: "PRelu",
    tri.Reciprocal: "Reciprocal",
    tri.Relu: "Relu",
    tri.Round: "Round",
    tri.Selu: "Selu",
    tri.Sigmoid: "Sigmoid",
    tri.Sign: "Sign",
    tri.Silu: ("Swish", 24),
    tri.Sin: "Sin",
    tri.Sinh: "Sinh",
    tri.Softplus: "Softplus",
    tri.Softsign: "Softsign",
    tri.Sqrt: "Sqrt",
    tri.Sub: "Sub",
    tri.Swish: ("Swish", 24),
    tri.Tan: "Tan",
    tri.Tanh: "Tanh",
    tri.ThresholdedRelu: "ThresholdedRelu",
    tri.Where: "Where",
    tri.Xor: "Xor",
}
"""Ops whose operands and attributes are those of ONNX's operator; with its opset if it is new."""


@exports(*SAME)
def same(op: Op, graph: OnnxGraph) -> None:
    entry = SAME[type(op)]
    name, since = entry if isinstance(entry, tuple) else (entry, 0)
    graph.add(name, graph.values(op), op.results, since=since, **op.attributes)


@exports(tri.Rsqrt)
def rsqrt(op: tri.Rsqrt, graph: OnnxGraph) -> None:
    """Write two steps, of half types in f32: they round once."""
    dtype = tensor_of(op.x.type).dtype
    if dtype not in ("f16", "bf16"):
        root = graph.between(op.x, "sqrt")
        graph.add("Sqrt", [op.x], [root])
        graph.add("Reciprocal", [root], [op.y])
        return
    wide, root, inverse = (graph.named(f"{hint}_f32", "f32") for hint in ("x", "sqrt", "rsqrt"))
    graph.add("Cast", [op.x], [wide], since=19, to=element_type("f32"))
    graph.add("Sqrt", [wide], [root])
    graph.add("Reciprocal", [root], [inverse])
    graph.add("Cast", [inverse], [op.y], since=19, to=element_type(dtype))


@exports(tri.Trunc)
def trunc(op: tri.Trunc, graph: OnnxGraph) -> None:
    size, floor, sign = (graph.between(op.x, hint) for hint in ("abs", "floor", "sign"))
    graph.add("Abs", [op.x], [size])
    graph.add("Floor", [size], [floor])
    graph.add("Sign", [op.x], [sign])
    graph.add("Mul", [floor, sign], [op.y])


@exports(tri.Mod)
def mod(op: tri.Mod, graph: OnnxGraph) -> None:
    if is_float(tensor_of(op.a.type).dtype) and not op.fmod:
        raise Unsupported("takes floats with the sign of the divisor, ONNX's Mod with the other")
    graph.add("Mod", [op.a, op.b], [op.y], fmod=int(op.fmod))


@exports(tri.ShiftLeft, tri.ShiftRight)
def shift(op: tri.ShiftLeft | tri.ShiftRight, graph: OnnxGraph) -> None:
    direction = "LEFT" if isinstance(op, tri.ShiftLeft) else "RIGHT"
    graph.add("BitShift", [op.a, op.b], [op.y], direction=direction)


@exports(tri.IsInf)
def is_inf(op: tri.IsInf, graph: OnnxGraph) -> None:
    wanted = {key: int(value) for key, value in op.attributes.items()}
    graph.add("IsInf", [op.x], [op.y], since=20, **wanted)


@exports(tri.Shrink)
def shrink(op: tri.Shrink, graph: OnnxGraph) -> None:
    graph.add("Shrink", [op.x], [op.y], bias=op.bias, lambd=op.threshold)


@exports(tri.Clip)
def clip(op: tri.Clip, graph: OnnxGraph) -> None:
    """Write both limits: a missing one is the greatest finite number in ONNX."""
    if math.isnan(op.min) or math.isnan(op.max):
        raise Unsupported("has a limit of NaN, which is none in ONNX Runtime")
    dtype = tensor_of(op.x.type).dtype
    graph.add("Clip", [op.x, scalar(op.min, dtype), scalar(op.max, dtype)], [op.y])


VERSIONS = {"i4": 21, "ui4": 21, "f4E2M1FN": 23, "f8E8M0FNU": 24, "i2": 25, "ui2": 25}
"""The first version of ONNX that has each of the newer element types."""


@exports(tri.Cast)
def cast(op: tri.Cast, graph: OnnxGraph) -> None:
    saturate: dict[str, Any] = {} if op.saturate else {"saturate": 0}
    since = max(VERSIONS.get(each, 19) for each in (tensor_of(op.x.type).dtype, op.to))
    graph.add("Cast", [op.x], [op.y], since=since, to=element_type(op.to), **saturate)


@exports(tri.PowerOfTwo)
def power_of_two(op: tri.PowerOfTwo, graph: OnnxGraph) -> None:
    given = {"saturate": int(op.saturate), "round_mode": op.round_mode}
    code = element_type(tensor_of(op.y.type).dtype)
    graph.add("Cast", [op.x], [op.y], since=24, to=code, **given)


@exports(tri.BitCast)
def bit_cast(op: tri.BitCast, graph: OnnxGraph) -> None:
    graph.add("BitCast", [op.x], [op.y], since=26, to=element_type(op.to))


def scalar(value: float, dtype: str) -> Array:
    """Return a number as a tensor without axes."""
    return np.array(value, numpy_dtype(dtype))


def as_i64(value: ir.Value, graph: OnnxGraph) -> ir.Value | str:
    """Return integers as i64, for operators that take no others."""
    if tensor_of(value.type).dtype == "i64":
        return value
    wide = graph.named(f"{graph.names.of(graph.flow.resolve(value))}.i64", "i64")
    graph.add("Cast", [value], [wide], since=19, to=element_type("i64"))
    return wide
