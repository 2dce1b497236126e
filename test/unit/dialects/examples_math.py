"""Examples of ops that compute numbers: elementwise ops, reductions and scans."""

import numpy as np
from examples import (
    ANY,
    BOOLS,
    FLOATS,
    INTEGERS,
    NUMBERS,
    Example,
    Maker,
    Pick,
    along,
    mapped,
    paired,
)
from examples_expressions import expressions
from trivium.dialects import tri


def requantize(pick: Pick) -> Example:
    x = pick.array(pick.shape((1, 3), (1, 4)), "i32")
    axis = pick.axis(x.ndim)
    count = pick.one(1, x.shape[axis])
    attributes = {
        "multiplier": pick.ints(count, 0, (1 << 31) - 1),
        "shift": pick.ints(count, 0, 62),
        "zero_point": pick.between(-9, 9),
        "low": pick.between(0, 3),
        "high": pick.between(4, 127),
        "rounding": pick.one("half_away", "half_even", "half_up"),
        "axis": axis,
        "to": pick.one("i8", "ui8", "i16", "ui16", "i32"),
    }
    return Example((x,), attributes)


def quantize_rows(pick: Pick) -> Example:
    x = pick.array(pick.shape((1, 3), (1, 4)), pick.one("f32", "f16", "bf16"))
    return Example((np.where(np.isfinite(x.astype(np.float64)), x, 1).astype(x.dtype),), {})


def requantize_mean(pick: Pick) -> Example:
    shape = pick.shape()
    count = pick.array(pick.narrowed(shape), "i32")
    attributes = {
        "multiplier": pick.between(0, (1 << 20) - 1),
        "shift": pick.between(0, 30),
        "zero_point": pick.between(-9, 9),
        "low": pick.between(0, 3),
        "high": pick.between(4, 127),
        "to": pick.one("i8", "ui8", "i16", "ui16", "i32"),
    }
    return Example((pick.array(shape, "i32"), np.abs(count) + 1), attributes)


def flag(pick: Pick) -> bool:
    return pick.flag()


def number(pick: Pick) -> float:
    return pick.number()


def positive(pick: Pick) -> float:
    return pick.number(0.125, 2.0)


def prelu(pick: Pick) -> Example:
    shape, dtype = pick.shape(), pick.one(*NUMBERS)
    return Example((pick.array(shape, dtype), pick.array(pick.narrowed(shape), dtype)))


def power(pick: Pick) -> Example:
    shape = pick.shape()
    bases, exponents = pick.narrowed(shape), pick.narrowed(shape)
    return Example((pick.array(bases, *NUMBERS), pick.array(exponents, *NUMBERS)))


def where(pick: Pick) -> Example:
    shape, dtype = pick.shape(), pick.one(*ANY)
    condition = pick.array(pick.narrowed(shape), "i1")
    a, b = (pick.array(pick.narrowed(shape), dtype) for _ in "ab")
    return Example((condition, a, b))


SAME_WIDTH = (("f64", "i64", "ui64"), ("f32", "i32", "ui32"), ("bf16", "f16", "i16"), ("i8", "ui8"))


def bit_cast(pick: Pick) -> Example:
    family = pick.one(*SAME_WIDTH)
    return Example((pick.array(pick.shape(), *family),), {"to": pick.one(*family)})


def reduction(*dtypes: str) -> Maker:
    def make(pick: Pick) -> Example:
        x = pick.array(pick.shape(), *dtypes)
        return Example((x,), {"axes": pick.axes(x.ndim), "keepdims": pick.flag()})

    return make


def top_k(pick: Pick) -> Example:
    x = pick.array(pick.shape((1, 3)), *NUMBERS)
    axis = pick.axis(x.ndim)
    k = pick.between(0, x.shape[axis])
    return Example((x,), {"k": k, "axis": axis, "largest": pick.flag(), "sorted": pick.flag()})


search = along(*NUMBERS, smallest=1, keepdims=flag, select_last_index=flag)
scan = along(*NUMBERS, exclusive=flag, reverse=flag)

MATH: dict[type[tri.TriOp], Maker] = {
    # one tensor of numbers
    tri.Abs: mapped(*NUMBERS),
    tri.Neg: mapped(*NUMBERS),
    tri.Sign: mapped(*NUMBERS),
    tri.Relu: mapped(*NUMBERS),
    tri.Shrink: mapped(*NUMBERS, bias=number, threshold=positive),
    # one tensor of floats
    tri.Exp: mapped(*FLOATS),
    tri.Expm1: mapped(*FLOATS),
    tri.Log: mapped(*FLOATS),
    tri.Log1p: mapped(*FLOATS),
    tri.Lgamma: mapped(*FLOATS),
    tri.Sqrt: mapped(*FLOATS),
    tri.Rsqrt: mapped(*FLOATS),
    tri.Reciprocal: mapped(*FLOATS),
    tri.Sin: mapped(*FLOATS),
    tri.Cos: mapped(*FLOATS),
    tri.Tan: mapped(*FLOATS),
    tri.Asin: mapped(*FLOATS),
    tri.Acos: mapped(*FLOATS),
    tri.Atan: mapped(*FLOATS),
    tri.Sinh: mapped(*FLOATS),
    tri.Cosh: mapped(*FLOATS),
    tri.Tanh: mapped(*FLOATS),
    tri.Asinh: mapped(*FLOATS),
    tri.Acosh: mapped(*FLOATS),
    tri.Atanh: mapped(*FLOATS),
    tri.Erf: mapped(*FLOATS),
    tri.Floor: mapped(*FLOATS),
    tri.Ceil: mapped(*FLOATS),
    tri.Round: mapped(*FLOATS),
    tri.Trunc: mapped(*FLOATS),
    tri.Sigmoid: mapped(*FLOATS),
    tri.Silu: mapped(*FLOATS),
    tri.Hardswish: mapped(*FLOATS),
    tri.Softplus: mapped(*FLOATS),
    tri.Softsign: mapped(*FLOATS),
    tri.Mish: mapped(*FLOATS),
    tri.Gelu: mapped(*FLOATS, approximate=lambda pick: pick.one("none", "tanh")),
    tri.HardSigmoid: mapped(*FLOATS, alpha=number, beta=number),
    tri.LeakyRelu: mapped(*FLOATS, alpha=number),
    tri.Elu: mapped(*FLOATS, alpha=number),
    tri.Celu: mapped(*FLOATS, alpha=positive),
    tri.Selu: mapped(*FLOATS, alpha=number, gamma=number),
    tri.ThresholdedRelu: mapped(*FLOATS, alpha=number),
    tri.Swish: mapped(*FLOATS, alpha=number),
    tri.Clip: mapped(*FLOATS, min=number, max=number),
    tri.QuantizeRows: quantize_rows,
    tri.Requantize: requantize,
    tri.RequantizeMean: requantize_mean,
    tri.IsNan: mapped(*FLOATS),
    tri.IsInf: mapped(*FLOATS, detect_negative=flag, detect_positive=flag),
    # one tensor of others
    tri.Not: mapped(*BOOLS),
    tri.BitwiseNot: mapped(*INTEGERS),
    tri.Cast: mapped(*ANY, to=lambda pick: pick.one(*ANY), saturate=flag),
    tri.BitCast: bit_cast,
    tri.PowerOfTwo: mapped(
        *FLOATS, saturate=flag, round_mode=lambda pick: pick.one("up", "down", "nearest")
    ),
    # two tensors and more
    tri.Add: paired(*NUMBERS),
    tri.Sub: paired(*NUMBERS),
    tri.Mul: paired(*NUMBERS),
    tri.Div: paired(*NUMBERS),
    tri.Mod: paired(*NUMBERS, fmod=flag),
    tri.Atan2: paired(*FLOATS),
    tri.Expression: expressions,
    tri.Pow: power,
    tri.Minimum: paired(*NUMBERS),
    tri.Maximum: paired(*NUMBERS),
    tri.Equal: paired(*ANY),
    tri.Less: paired(*NUMBERS),
    tri.Greater: paired(*NUMBERS),
    tri.LessEqual: paired(*NUMBERS),
    tri.GreaterEqual: paired(*NUMBERS),
    tri.And: paired(*BOOLS),
    tri.Or: paired(*BOOLS),
    tri.Xor: paired(*BOOLS),
    tri.BitwiseAnd: paired(*INTEGERS),
    tri.BitwiseOr: paired(*INTEGERS),
    tri.BitwiseXor: paired(*INTEGERS),
    tri.ShiftLeft: paired(*INTEGERS),
    tri.ShiftRight: paired(*INTEGERS),
    tri.Prelu: prelu,
    tri.Where: where,
    # reductions, searches, scans
    tri.ReduceSum: reduction(*NUMBERS),
    tri.ReduceMean: reduction(*NUMBERS),
    tri.ReduceMax: reduction(*ANY),
    tri.ReduceMin: reduction(*ANY),
    tri.ReduceProd: reduction(*NUMBERS),
    tri.ReduceL1: reduction(*NUMBERS),
    tri.ReduceL2: reduction(*NUMBERS),
    tri.ReduceSumSquare: reduction(*NUMBERS),
    tri.ReduceLogSum: reduction(*NUMBERS),
    tri.ReduceLogSumExp: reduction(*NUMBERS),
    tri.ArgMax: search,
    tri.ArgMin: search,
    tri.CumSum: scan,
    tri.CumProd: scan,
    tri.TopK: top_k,
}
