"""Numbers at the edges: what ops that compute make of overflow, NaN, zero and half types."""

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from trivium.dialects import tri
from trivium.dialects.core.numerics.functions import erf
from trivium.dialects.core.tensor import Array

inf, nan = math.inf, math.nan
I8 = np.int8


def i8(*values: int) -> Array:
    return np.array(values, I8)


def f32(*values: float) -> Array:
    return np.array(values, np.float32)


Call = tuple[tuple[Array, ...], dict[str, Any]]


def call(*operands: Array, **attributes: Any) -> Call:
    return operands, attributes


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with np.errstate(all="ignore"):
        yield


EXACT: list[tuple[type[tri.TriOp], Call, Any]] = [
    # integers wrap around
    (tri.Add, call(i8(127), i8(1)), i8(-128)),
    (tri.Sub, call(i8(-128), i8(1)), i8(127)),
    (tri.Mul, call(i8(64), i8(4)), i8(0)),
    (tri.Neg, call(i8(-128, 5)), i8(-128, -5)),
    (tri.Abs, call(i8(-128, -5)), i8(-128, 5)),
    (tri.ReduceSum, call(i8(100, 100), axes=(0,), keepdims=False), np.array(-56, I8)),
    (tri.ReduceProd, call(i8(16, 16), axes=(0,), keepdims=False), np.array(0, I8)),
    (tri.CumSum, call(i8(100, 100), axis=0, exclusive=False, reverse=False), i8(100, -56)),
    # integers divide toward zero
    (tri.Div, call(i8(7, -7, 7, -7, 6), i8(2, 2, -2, -2, -3)), i8(3, -3, -3, 3, -2)),
    (tri.Div, call(i8(7, 0), i8(0, 0)), i8(0, 0)),
    (tri.ReduceMean, call(i8(-3, -4), axes=(0,), keepdims=False), np.array(-3, I8)),
    (tri.ReduceMean, call(i8(127, 127, 125), axes=(0,), keepdims=False), np.array(126, I8)),
    # the remainder has the sign of the divisor, or of the dividend
    (tri.Mod, call(i8(-7, 7, -7), i8(3, -3, -3), fmod=False), i8(2, -2, -1)),
    (tri.Mod, call(i8(-7, 7, -7), i8(3, -3, -3), fmod=True), i8(-1, 1, -1)),
    (tri.Mod, call(f32(-7, 1, 5), f32(3, inf, -inf), fmod=False), f32(2, 1, -inf)),
    # powers of integers
    (tri.Pow, call(i8(2, 3, -2, 2), i8(3, 4, 3, 7)), i8(8, 81, -8, -128)),
    (tri.Pow, call(i8(1, -1, -1, 2, 0), i8(-3, -3, -4, -1, -1)), i8(1, -1, 1, 0, 0)),
    (tri.Pow, call(np.array([3], np.int64), f32(2.5)), np.array([15])),
    (tri.Pow, call(f32(4), np.array([-1], np.int64)), f32(0.25)),
    # shifts by more than there are bits
    (tri.ShiftLeft, call(i8(1, 1, 1), i8(7, 8, -1)), i8(-128, 0, 0)),
    (tri.ShiftRight, call(i8(-128, -1, 64), i8(7, 9, 9)), i8(-1, -1, 0)),
    # NaN spreads, and compares false
    (tri.Maximum, call(f32(nan, 1), f32(1, nan)), f32(nan, nan)),
    (tri.Minimum, call(f32(nan, 1), f32(1, nan)), f32(nan, nan)),
    (tri.Relu, call(f32(nan, -inf, inf)), f32(nan, 0, inf)),
    (tri.Clip, call(f32(nan, -9, 9), min=-1, max=1), f32(nan, -1, 1)),
    (tri.Clip, call(f32(0), min=2, max=1), f32(1)),
    (tri.ReduceMax, call(f32(1, nan), axes=(0,), keepdims=True), f32(nan)),
    (tri.Equal, call(f32(nan), f32(nan)), np.array([False])),
    (tri.GreaterEqual, call(f32(nan), f32(nan)), np.array([False])),
    (tri.Sign, call(f32(nan, -0.0, -3)), f32(nan, 0, -1)),
    (tri.ThresholdedRelu, call(f32(nan, 2, 1), alpha=1.0), f32(nan, 2, 0)),
    (tri.Elu, call(f32(nan, -inf, inf), alpha=2.0), f32(nan, -2, inf)),
    (
        tri.IsInf,
        call(f32(inf, -inf, nan), detect_negative=False, detect_positive=True),
        np.array([True, False, False]),
    ),
    # halves round to even
    (tri.Round, call(f32(0.5, 1.5, 2.5, -0.5, -1.5)), f32(0, 2, 2, -0.0, -2)),
    # nothing to reduce
    (tri.ReduceMax, call(f32(), axes=(0,), keepdims=False), np.float32(-inf)),
    (tri.ReduceMin, call(i8(), axes=(0,), keepdims=False), np.array(127, I8)),
    (tri.ReduceLogSum, call(f32(), axes=(0,), keepdims=False), np.float32(-inf)),
    (tri.ReduceLogSumExp, call(f32(), axes=(0,), keepdims=False), np.float32(-inf)),
    (tri.ReduceMean, call(f32(), axes=(0,), keepdims=False), np.float32(nan)),
    # large powers do not overflow
    (
        tri.ReduceLogSumExp,
        call(f32(1000, 1000), axes=(0,), keepdims=False),
        np.float32(1000 + math.log(2)),
    ),
    (tri.ReduceLogSumExp, call(f32(-inf, -inf), axes=(0,), keepdims=False), np.float32(-inf)),
    (tri.ReduceLogSumExp, call(f32(inf, 1), axes=(0,), keepdims=False), np.float32(inf)),
    (tri.Softplus, call(f32(-1000, 1000)), f32(0, 1000)),
    (tri.Sigmoid, call(f32(-1000, 1000, 0)), f32(0, 1, 0.5)),
    (tri.Silu, call(f32(-1000, 1000)), f32(-0.0, 1000)),
    # of equal elements the first wins, or the last one if asked for
    (
        tri.ArgMax,
        call(i8(1, 3, 3), axis=0, keepdims=False, select_last_index=False),
        np.array(1),
    ),
    (
        tri.ArgMax,
        call(i8(1, 3, 3), axis=0, keepdims=False, select_last_index=True),
        np.array(2),
    ),
    (tri.ArgMin, call(i8(3, 3), axis=-1, keepdims=True, select_last_index=True), np.array([1])),
    # casts
    (tri.Cast, call(f32(1.9, -1.9), to="i8", saturate=True), i8(1, -1)),
    (tri.Cast, call(np.array([200, 300]), to="i8", saturate=True), i8(-56, 44)),
    (tri.Cast, call(f32(nan, 0.1, 0), to="i1", saturate=True), np.array([True, True, False])),
    (tri.Cast, call(f32(1e9), to="f16", saturate=True), np.array([inf], np.float16)),
    (tri.BitCast, call(f32(1), to="i32"), np.array([0x3F800000], np.int32)),
]


@pytest.mark.parametrize(("op", "given", "expected"), EXACT)
def test_edge_case(op: type[tri.TriOp], given: Call, expected: Any) -> None:
    operands, attributes = given
    got = np.asarray(op(**attributes).reference(*operands))
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


def test_erf_is_exact_to_two_units_in_the_last_place() -> None:
    x = np.concatenate(
        [np.linspace(-7, 7, 20001), 10.0 ** -np.arange(1, 300, 7), [inf, -inf, -0.0]]
    )
    expected = np.array([math.erf(v) for v in x])
    error = np.abs(erf(x) - expected)
    assert (error <= 2 * np.spacing(np.abs(expected))).all()
    assert math.copysign(1, erf(np.array(-0.0))) == -1
    assert math.isnan(erf(np.array(nan)))


FUNCTIONS = {
    tri.Erf: torch.special.erf,
    tri.Gelu: torch.nn.functional.gelu,
    tri.Mish: torch.nn.functional.mish,
    tri.Silu: torch.nn.functional.silu,
    tri.Softplus: torch.nn.functional.softplus,
    tri.Selu: torch.nn.functional.selu,
    tri.Celu: torch.nn.functional.celu,
    tri.Hardswish: torch.nn.functional.hardswish,
    tri.Tanh: torch.tanh,
    tri.Sigmoid: torch.sigmoid,
    tri.Rsqrt: torch.rsqrt,
    tri.Exp: torch.exp,
}


@pytest.mark.parametrize("op", FUNCTIONS, ids=lambda op: op.op_name)
def test_half_types_round_once(op: type[tri.Unary]) -> None:
    """The result is torch's f64 result, rounded; rounding f32 first may be off by one place."""
    x = np.linspace(-6, 6, 999)
    defaults = {f.name: f.default for f in op.fields.attributes}
    for dtype in (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)):
        narrow = x.astype(dtype)
        exact = FUNCTIONS[op](torch.from_numpy(narrow.astype(np.float64))).numpy()
        got = op(**defaults).reference(narrow)
        assert got.dtype == dtype
        bits = [v.astype(dtype).view(np.int16).astype(int) for v in (got, exact)]
        small = np.abs(exact) < 1e-4  # results next to zero cancel
        off = np.abs(bits[0] - bits[1])[~small & ~np.isnan(exact)]
        assert off.max() <= 1
        assert (off == 1).mean() < 0.01


def test_sums_of_many_half_numbers_do_not_get_stuck() -> None:
    ones = np.ones(10000, ml_dtypes.bfloat16)
    total = tri.ReduceSum(axes=(0,), keepdims=False).reference(ones)
    assert float(total) == float(ml_dtypes.bfloat16(10000))
    running = tri.CumSum(axis=0, exclusive=False, reverse=False).reference(ones)
    assert float(running[-1]) == float(ml_dtypes.bfloat16(10000))


def test_top_k_keeps_the_order_of_equal_elements() -> None:
    x = f32(1, nan, 3, 3, 1)
    values, indices = tri.TopK(k=4, axis=0, largest=True, sorted=True).reference(x)
    np.testing.assert_array_equal(indices, [1, 2, 3, 0])
    np.testing.assert_array_equal(values, x[indices])
    _, indices = tri.TopK(k=5, axis=0, largest=False, sorted=True).reference(x)
    np.testing.assert_array_equal(indices, [0, 4, 2, 3, 1])


def test_top_k_of_unsigned_integers_does_not_negate() -> None:
    x = np.array([0, 255, 1], np.uint8)
    values, _ = tri.TopK(k=3, axis=0, largest=True, sorted=True).reference(x)
    np.testing.assert_array_equal(values, [255, 1, 0])
