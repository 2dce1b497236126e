"""Quantised types, conversions and fixed points, against MLIR, ONNX Runtime and exact fractions."""

import io
import math
import operator
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper
from trivium.dialects import tri
from trivium.dialects.core.errors import Invalid, Unsupported
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module
from trivium.dialects.core.numerics.fixed_point import (
    ROUNDINGS,
    common_shift,
    fixed_point,
    multiply_shift,
)
from trivium.dialects.core.quantized import QuantizedType, storage_range
from trivium.dialects.core.tensor import DTYPES, Array, Tensor, numpy_dtype
from trivium.passes.decompose import Decompose
from trivium.passes.quantize.expose_storage import ExposeStorage

LAW = settings(derandomize=True, deadline=None, max_examples=200, database=None)
SCALES = st.floats(2.0**-40, 2.0**40)
RANDOM = np.random.default_rng(3)


@LAW
@given(st.data())
def test_text_is_a_type_of_mlir_and_comes_back(data: st.DataObject) -> None:
    storage = data.draw(st.sampled_from(["i8", "ui8", "i16", "ui16", "i32"]))
    axis = data.draw(st.sampled_from([None, 0, 2]))
    scales = data.draw(st.lists(SCALES, min_size=1, max_size=1 if axis is None else 4))
    low, high = storage_range(storage)
    points = [data.draw(st.integers(low + 1, high)) for _ in scales]
    narrow = low + 1 if data.draw(st.booleans()) else low
    kind = QuantizedType.of(storage, scales, points, axis=axis, low=narrow)
    with new_context():
        printed = str(ir.Type.parse(str(kind)))
    assert QuantizedType.parse(printed) == QuantizedType.parse(str(kind)) == kind


def test_the_table_of_types_answers_for_the_storage() -> None:
    dtype = "!quant.uniform<u8:f32, 5.000000e-01:3>"
    assert (DTYPES[dtype].bits, DTYPES[dtype].kind) == (8, "quantized")
    assert numpy_dtype(dtype) == np.uint8
    assert Tensor((2, 3), dtype).size_bytes == 6
    assert dtype not in DTYPES  # what lists the types that there are leaves it out


def test_keeps_its_type_in_bytecode() -> None:
    text = """func.func @f(%x: tensor<2x!quant.uniform<i8:f32:0, {0.1, 0.2:1}>>)
        -> tensor<2x!quant.uniform<i8:f32:0, {0.1, 0.2:1}>> {
      return %x : tensor<2x!quant.uniform<i8:f32:0, {0.1, 0.2:1}>> }"""
    with new_context():
        module, stream = Module.parse(text), io.BytesIO()
        module.operation.write_bytecode(stream)
        assert str(Module.parse(stream.getvalue())) == str(module)


@pytest.mark.parametrize("counts", [([0.5, 0.5], [1, 2, 3], 0), ([0.5, 0.5], [1], None)])
def test_refuses_counts_that_do_not_fit(counts: tuple[Any, Any, Any]) -> None:
    scales, points, axis = counts
    with pytest.raises(ValueError, match="quantised type has"):
        QuantizedType.of("i8", scales, points, axis=axis)


# -- conversions ------------------------------------------------------------------------------


def onnx_result(op: str, inputs: Sequence[Array], axis: int) -> Array:
    names = [f"i{i}" for i in range(len(inputs))]
    infos = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for n, a in zip(names, inputs, strict=True)
    ]
    kind = inputs[2].dtype if op == "QuantizeLinear" else np.dtype(np.float32)
    element = helper.np_dtype_to_tensor_dtype(kind)
    outputs = [helper.make_tensor_value_info("y", element, inputs[0].shape)]
    graph = helper.make_graph([helper.make_node(op, names, ["y"], axis=axis)], "g", infos, outputs)
    opset = [helper.make_opsetid("", 21)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return session.run(None, dict(zip(names, inputs, strict=True)))[0]


def executed(text: str, x: Array) -> list[Array]:
    """Run a function by references, and again as arithmetic."""
    with new_context():
        module = Module.parse(text)
        (direct,) = run(module, [x])
        Decompose(ops=("quantize", "dequantize")).run(module)
        ExposeStorage().run(module)
        module.verify()
        (arithmetic,) = run(module, [x])
    return [direct, arithmetic]


@pytest.mark.parametrize("storage", ["i8", "ui8", "i16", "ui16"])
@pytest.mark.parametrize("axis", [None, 1])
def test_conversions_are_those_of_onnx_runtime(storage: str, axis: int | None) -> None:
    dtype = numpy_dtype(storage)
    count = 1 if axis is None else 3
    scales = RANDOM.uniform(0.01, 0.5, count).astype(np.float32)
    scales[0] = 0.25  # for halves
    zeros = RANDOM.integers(0, 9, count).astype(dtype)
    kind = QuantizedType.of(storage, scales.tolist(), zeros.tolist(), axis=axis)
    x = RANDOM.normal(0, 40, (2, 3, 50)).astype(np.float32)
    x.flat[:5] = [0.125, 0.375, -0.125, 1e9, -1e9]
    x[:, 0] = np.where(RANDOM.random((2, 50)) < 0.5, np.rint(x[:, 0] * 8) / 8, x[:, 0])
    shape = () if axis is None else (3,)
    given_scales = [scales.reshape(shape), zeros.reshape(shape)]
    q = onnx_result("QuantizeLinear", [x, *given_scales], axis or 1)
    text = f"""func.func @f(%x: tensor<2x3x50xf32>) -> tensor<2x3x50x{kind}> {{
      %y = "tri.quantize"(%x) {{to = "{kind}"}} : (tensor<2x3x50xf32>) -> tensor<2x3x50x{kind}>
      return %y : tensor<2x3x50x{kind}> }}"""
    for y in executed(text, x):
        np.testing.assert_array_equal(y, q)
    d = onnx_result("DequantizeLinear", [q, *given_scales], axis or 1)
    text = f"""func.func @f(%x: tensor<2x3x50x{kind}>) -> tensor<2x3x50xf32> {{
      %y = "tri.dequantize"(%x) {{of = "{kind}"}} : (tensor<2x3x50x{kind}>) -> tensor<2x3x50xf32>
      return %y : tensor<2x3x50xf32> }}"""
    for y in executed(text, q):
        np.testing.assert_array_equal(y, d)


# -- fixed points -----------------------------------------------------------------------------


@LAW
@given(st.floats(1e-30, 1e6), st.integers(2, 31))
def test_fixed_points_are_the_nearest(factor: float, bits: int) -> None:
    try:
        multiplier, shift = fixed_point(factor, bits)
    except Unsupported:
        assert factor >= 2 ** (bits - 1)
        return
    assert 0 <= shift <= 62
    assert 0 <= multiplier < 1 << bits
    assert shift == 62 or multiplier >= 1 << (bits - 1)
    apart = abs(Fraction(multiplier, 1 << shift) - Fraction(factor))
    assert apart <= Fraction(1, 1 << (shift + 1))


def test_fixed_points_round_up_to_the_next_power() -> None:
    assert fixed_point(1 - 2.0**-40) == (1 << 30, 30)
    assert fixed_point(0.75, 16) == (3 << 14, 16)


@pytest.mark.parametrize("factor", [0.0, -1.0, math.inf, math.nan])
def test_fixed_points_are_of_positive_numbers(factor: float) -> None:
    with pytest.raises(ValueError, match="must be positive and finite"):
        fixed_point(factor)


@LAW
@given(st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=3), st.integers(2, 31), st.data())
def test_common_shifts_are_the_greatest(
    factors: list[float], bits: int, data: st.DataObject
) -> None:
    largest = [data.draw(st.sampled_from([127, 255, 65535])) for _ in factors]

    def multipliers_at(shift: int) -> list[int]:
        return [round(Fraction(factor) * (1 << shift)) for factor in factors]

    def fits(shift: int) -> bool:
        reach = sum(map(operator.mul, largest, multipliers_at(shift)))
        return max(multipliers_at(shift)) < 1 << bits and reach < 1 << 31

    try:
        multipliers, shift = common_shift(factors, largest, bits)
    except Unsupported:
        assert not any(fits(shift) for shift in range(63) if 1 << shift > sum(largest))
        return
    assert list(multipliers) == multipliers_at(shift)
    assert fits(shift)
    assert shift == 62 or not fits(shift + 1)
    assert shift >= 7


def test_fixed_points_shift_to_the_right_alone() -> None:
    with pytest.raises(Unsupported, match="is too large for a multiplier of 16 bits"):
        fixed_point(65536.0, 16)


def rounded(x: int, multiplier: int, shift: int, rounding: str) -> int:
    exact = Fraction(x * multiplier, 1 << shift)
    below = math.floor(exact)
    rest = exact - below
    if rest != Fraction(1, 2):
        return below + (rest > Fraction(1, 2))
    up = {"half_up": True, "half_even": below % 2 == 1, "half_away": exact > 0}
    return below + up[rounding]


@LAW
@given(
    st.integers(-(1 << 31), (1 << 31) - 1) | st.integers(-9, 9),
    st.integers(0, (1 << 31) - 1) | st.integers(0, 9),
    st.integers(0, 62) | st.integers(0, 3),
    st.sampled_from(ROUNDINGS),
)
def test_shifts_round_as_they_say(x: int, multiplier: int, shift: int, rounding: str) -> None:
    arrays = [np.array([number], np.int64) for number in (x, multiplier, shift)]
    (y,) = multiply_shift(*arrays, rounding)
    assert y == rounded(x, multiplier, shift, rounding)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize(
    ("multiplier", "shift"),
    [((3,), (1,)), ((1,), (0,)), ((3, 1 << 30, 5), (2, 0, 33)), (((1 << 31) - 1, 1, 7), (1, 1, 0))],
)
def test_requantizes_exactly(
    multiplier: tuple[int, ...], shift: tuple[int, ...], rounding: str
) -> None:
    x = RANDOM.integers(-(1 << 31), 1 << 31, (3, 40)).astype(np.int32)
    x[:, :8] = [-(1 << 31), (1 << 31) - 1, 0, 1, -1, 3, -3, 5]
    text = f"""func.func @f(%x: tensor<3x40xi32>) -> tensor<3x40xi16> {{
      %y = "tri.requantize"(%x) {{multiplier = array<i64: {", ".join(map(str, multiplier))}>,
        shift = array<i64: {", ".join(map(str, shift))}>, zero_point = 7, low = -30000,
        high = 31000, rounding = "{rounding}", axis = 0, to = "i16"}}
        : (tensor<3x40xi32>) -> tensor<3x40xi16>
      return %y : tensor<3x40xi16> }}"""
    rows = [(multiplier * 3)[:3], (shift * 3)[:3]] if len(multiplier) == 1 else [multiplier, shift]
    want = [
        [min(max(rounded(int(v), m, s, rounding) + 7, -30000), 31000) for v in row]
        for row, m, s in zip(x, *rows, strict=True)
    ]
    with new_context():
        module = Module.parse(text)
        (direct,) = run(module, [x])
        Decompose(ops=("requantize",)).run(module)
        (arithmetic,) = run(module, [x])
    assert direct.tolist() == arithmetic.tolist() == want


def test_means_are_divided_exactly() -> None:
    x = RANDOM.integers(-(1 << 24), 1 << 24, (3, 40)).astype(np.int32)
    count = RANDOM.integers(1, 50, 40).astype(np.int32)
    x[0], x[1, :9] = 3 * count, 0  # halves, and nothing
    multiplier, shift = 5, 1
    text = f"""func.func @f(%x: tensor<3x40xi32>, %n: tensor<40xi32>) -> tensor<3x40xi16> {{
      %y = "tri.requantize_mean"(%x, %n) {{multiplier = {multiplier}, shift = {shift},
        zero_point = 7, low = -30000, high = 31000, to = "i16"}}
        : (tensor<3x40xi32>, tensor<40xi32>) -> tensor<3x40xi16>
      return %y : tensor<3x40xi16> }}"""

    def away(real: Fraction) -> int:
        return int(math.copysign(math.floor(abs(real) + Fraction(1, 2)), real))

    want = [
        [
            min(max(away(Fraction(int(v) * multiplier, int(n) << shift)) + 7, -30000), 31000)
            for v, n in zip(row, count, strict=True)
        ]
        for row in x
    ]
    with new_context():
        module = Module.parse(text)
        (direct,) = run(module, [x, count])
        Decompose(ops=("requantize_mean",)).run(module)
        (arithmetic,) = run(module, [x, count])
    assert direct.tolist() == arithmetic.tolist() == want


def test_says_what_is_no_type_of_storage() -> None:
    with pytest.raises(Invalid, match="are held in i64, must be i8"):
        QuantizedType.of("i64", [1.0])
    assert tri.StorageCast(to="!quant.uniform<i8:f32, 1.0>").infer(Tensor((2,), "i8")).shape == (2,)
