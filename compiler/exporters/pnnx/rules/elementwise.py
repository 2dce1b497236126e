"""PNNX rules for ops that compute each element from the elements at the same place."""

import math

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.errors import Unsupported
from .....dialects.core.mlir import ir
from .....dialects.core.op import Op
from .....dialects.core.tensor import is_float
from ..graph import PnnxGraph, exports

UNARY: dict[type[Op], str] = {
    tri.Abs: "abs",
    tri.Acos: "acos",
    tri.Acosh: "acosh",
    tri.Asin: "asin",
    tri.Asinh: "asinh",
    tri.Atan: "atan",
    tri.Atanh: "atanh",
    tri.Ceil: "ceil",
    tri.Cos: "cos",
    tri.Cosh: "cosh",
    tri.Erf: "erf",
    tri.Exp: "exp",
    tri.Expm1: "expm1",
    tri.Floor: "floor",
    tri.Log: "log",
    tri.Log1p: "log1p",
    tri.Neg: "neg",
    tri.Reciprocal: "reciprocal",
    tri.Round: "round",
    tri.Rsqrt: "rsqrt",
    tri.Sin: "sin",
    tri.Sinh: "sinh",
    tri.Sqrt: "sqrt",
    tri.Tan: "tan",
    tri.Tanh: "tanh",
    tri.Trunc: "trunc",
}
BINARY: dict[type[Op], str] = {
    tri.Add: "add",
    tri.Atan2: "atan2",
    tri.BitwiseAnd: "and",
    tri.BitwiseOr: "or",
    tri.BitwiseXor: "xor",
    tri.Div: "div",
    tri.Maximum: "maximum",
    tri.Minimum: "minimum",
    tri.Mul: "mul",
    tri.Pow: "pow",
    tri.ShiftLeft: "lshift",
    tri.ShiftRight: "rshift",
    tri.Sub: "sub",
}
"""Functions of `pnnx.Expression`."""

FUNCTIONS: dict[type[Op], str] = {
    tri.BitwiseNot: "torch.bitwise_not",
    tri.IsNan: "torch.isnan",
    tri.Lgamma: "torch.lgamma",
    tri.Not: "torch.logical_not",
}
PAIRS: dict[type[Op], str] = {
    tri.And: "torch.logical_and",
    tri.Equal: "torch.eq",
    tri.Greater: "torch.gt",
    tri.GreaterEqual: "torch.ge",
    tri.Less: "torch.lt",
    tri.LessEqual: "torch.le",
    tri.Or: "torch.logical_or",
    tri.Xor: "torch.logical_xor",
}
"""Functions of torch that take one tensor, or two."""

TYPES = {
    "f64": "torch.double",
    "f32": "torch.float",
    "f16": "torch.half",
    "bf16": "torch.bfloat16",
    "i64": "torch.long",
    "i32": "torch.int",
    "i16": "torch.short",
    "i8": "torch.int8",
    "ui8": "torch.uint8",
    "i1": "torch.bool",
}
LITERALS = ("f64", "f32", "i64", "i32")
"""Types of which a number in an expression means what a tensor of one element means."""

OF_FLOATS = (tri.Div, tri.Pow)


@exports(*UNARY)
def unary(op: Op, graph: PnnxGraph) -> None:
    (x,) = op.operation.operands
    graph.add("pnnx.Expression", [x], op.results, expr=f"{UNARY[type(op)]}(@0)")


@exports(tri.Sign)
def sign(op: tri.Sign, graph: PnnxGraph) -> None:
    """Write torch's function, which makes 0 of NaN, and keep NaN beside it."""
    x = tensor_of(op.x.type)
    if not is_float(x.dtype):
        graph.add("pnnx.Expression", [op.x], [op.y], expr="sign(@0)")
        return
    made, strange = (graph.between(op.x, x.shape, hint) for hint in ("sign", "nan"))
    strange.dtype = "bool"
    graph.add("pnnx.Expression", [op.x], [made], expr="sign(@0)")
    graph.add("torch.isnan", {"input": op.x}, [strange])
    graph.add("torch.where", {"condition": strange, "input": op.x, "other": made}, [op.y])


@exports(*BINARY)
def binary(op: Op, graph: PnnxGraph) -> None:
    a, b = op.operation.operands
    types = [tensor_of(v.type).dtype for v in (a, b)]
    if isinstance(op, OF_FLOATS) and not is_float(types[0]):
        raise Unsupported(f"takes {types[0]}, of which torch makes floats or refuses them")
    if types[0] != types[1]:
        raise Unsupported(f"takes {types[0]} and {types[1]}, which torch promotes to one type")
    _expression(op, graph, f"{BINARY[type(op)]}({{}},{{}})")


@exports(tri.Mod)
def mod(op: tri.Mod, graph: PnnxGraph) -> None:
    divisor = graph.array(op.b)
    if divisor is not None and divisor.dtype.kind in "iu" and not divisor.all():
        raise Unsupported("divides integers by zero, which torch refuses")
    _expression(op, graph, "fmod({},{})" if op.fmod else "remainder({},{})")


def _expression(op: Op, graph: PnnxGraph, form: str) -> None:
    """Add an expression of two operands; a constant of one element is a number in it."""
    a, b = op.operation.operands
    numbers = [_number(graph, value, other) for value, other in ((a, b), (b, a))]
    taken = [v for v, number in zip((a, b), numbers, strict=True) if number is None]
    places = iter(range(len(taken)))
    words = [f"@{next(places)}" if number is None else number for number in numbers]
    graph.add("pnnx.Expression", taken, op.results, expr=form.format(*words))


def _number(graph: PnnxGraph, value: ir.Value, other: ir.Value) -> str | None:
    """Spell a constant of one element that is neither above nor beside its partner in rank."""
    array = graph.array(value)
    if array is None or array.size != 1 or array.ndim > tensor_of(other.type).rank:
        return None
    if tensor_of(value.type).dtype not in LITERALS or graph.array(other) is not None:
        return None
    number = array.reshape(()).item()
    return repr(number) if math.isfinite(number) else None


@exports(tri.Expression)
def expression(op: tri.Expression, graph: PnnxGraph) -> None:
    graph.add("pnnx.Expression", list(op.xs), [op.y], expr=op.expr)


@exports(*FUNCTIONS)
def function(op: Op, graph: PnnxGraph) -> None:
    (x,) = op.operation.operands
    graph.add(FUNCTIONS[type(op)], {"input": x}, op.results)


@exports(*PAIRS)
def pair(op: Op, graph: PnnxGraph) -> None:
    a, b = op.operation.operands
    graph.add(PAIRS[type(op)], {"input": a, "other": b}, op.results)


@exports(tri.Where)
def where(op: tri.Where, graph: PnnxGraph) -> None:
    inputs = {"condition": op.condition, "input": op.a, "other": op.b}
    graph.add("torch.where", inputs, [op.y])


@exports(tri.Cast)
def cast(op: tri.Cast, graph: PnnxGraph) -> None:
    if op.to not in TYPES:
        raise Unsupported(f"makes {op.to}, which torch does not have")
    graph.add("Tensor.to", {"input": op.x}, [op.y], copy=False, dtype=TYPES[op.to])


@exports(tri.IsInf)
def is_inf(op: tri.IsInf, graph: PnnxGraph) -> None:
    if not (op.detect_negative and op.detect_positive):
        raise Unsupported("asks for infinities of one sign, torch for both")
    graph.add("torch.isinf", {"input": op.x}, [op.y])
