"""What kernels make of numbers that trap, overflow, are NaN, or name places that are not there."""

import math
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from cpu_kernels import compile_cases, compile_groups, on_every_machine
from groups import Case, build_group
from trivium.dialects import tri
from trivium.dialects.core.machine import Machine, host_machine
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Array, Tensor

Numbers = tuple[float, ...]

NAN, INF = np.nan, np.inf
LEAST, MOST = -(2**31), 2**31 - 1
TIE = 1 + 2**-11 + 2**-30


def array(values: list[float], dtype: str) -> Array:
    return np.array(values, dtype)


def run(case: Case, *like: Array, machine: Machine | None = None) -> list[Array]:
    compiled = compile_cases([case], machine or host_machine())
    return compiled.run(0, case.inputs, [Tensor.of(x) for x in like])


# Each: an op, its attributes, its element types ("in>out"), operands, what comes out.
EXACT: list[tuple[type[Op], dict[str, Any], str, list[Numbers], Numbers]] = [
    (tri.Div, {}, "i4", [(7, -7, 5, LEAST, 0), (2, 2, 0, -1, 0)], (3, -3, 0, LEAST, 0)),
    (tri.Div, {}, "u1", [(200, 7), (3, 0)], (66, 0)),
    (tri.Mod, {}, "i4", [(7, -7, 7, -7, 5, LEAST), (3, 3, -3, -3, 0, -1)], (1, 2, -2, -1, 0, 0)),
    (tri.Mod, {"fmod": True}, "i4", [(7, -7, 7, 5), (3, 3, -3, 0)], (1, -1, 1, 0)),
    (tri.Mod, {}, "f4", [(5.5, -5.5, 5.5, 1, INF), (2, 2, -2, INF, 2)], (1.5, 0.5, -0.5, 1, NAN)),
    (tri.ShiftLeft, {}, "i4", [(1, 1, 1), (31, 32, 99)], (LEAST, 0, 0)),
    (tri.ShiftRight, {}, "i4", [(-8, -8, 8), (1, 40, 40)], (-4, -1, 0)),
    (tri.ShiftRight, {}, "u1", [(255, 255), (7, 8)], (1, 0)),
    (tri.Abs, {}, "i4", [(LEAST, -3)], (LEAST, 3)),
    (tri.Add, {}, "u1", [(250,), (10,)], (4,)),
    (tri.Pow, {}, "i4", [(2, -1, 3, 0, 2), (10, -3, -1, -1, 40)], (1024, -1, 0, 0, 0)),
    (tri.Relu, {}, "f4", [(NAN, -1, 2, -INF)], (NAN, 0, 2, 0)),
    (tri.Clip, {"min": -1.0, "max": 6.0}, "f4", [(NAN, -9, 9, INF)], (NAN, -1, 6, 6)),
    (tri.Clip, {"min": 5.0, "max": 1.0}, "f4", [(0, 2)], (1, 1)),
    (tri.Clip, {"min": NAN, "max": 1.0}, "f4", [(0, 2)], (NAN, NAN)),
    (tri.Clip, {"min": -1e39, "max": 1e39}, "f4", [(-INF, 2, INF)], (-INF, 2, INF)),
    (tri.Maximum, {}, "f4", [(NAN, 1, 3), (1, NAN, 2)], (NAN, NAN, 3)),
    (tri.Minimum, {}, "f4", [(NAN, 1, 3), (1, NAN, 2)], (NAN, NAN, 2)),
    (tri.Equal, {}, "f4>?", [(NAN, 1), (NAN, 1)], (False, True)),
    (tri.Sign, {}, "f4", [(NAN, -0.0, -5, INF)], (NAN, 0, -1, 1)),
    (tri.Round, {}, "f4", [(0.5, 1.5, 2.5, -0.5, -1.5)], (0, 2, 2, -0.0, -2)),
    (tri.Cast, {"to": "i1"}, "f4>?", [(NAN, -0.0, 0.5, INF)], (True, False, True, True)),
    (tri.Cast, {"to": "i32"}, "f4>i4", [(NAN, 1e30, -1e30, -2.9)], (0, MOST, LEAST, -2)),
    (tri.Cast, {"to": "i8"}, "f4>i1", [(NAN, 300, -300, 2.9)], (0, 127, -128, 2)),
    (tri.Cast, {"to": "ui64"}, "f4>u8", [(NAN, 1e30, -1, 2.9)], (0, 2**64 - 1, 0, 2)),
    (tri.Cast, {"to": "ui8"}, "i4>u1", [(300, -1)], (44, 255)),
    (tri.Cast, {"to": "f32"}, "u1>f4", [(255, 128)], (255, 128)),
    # In two steps, by f32, the last of these would be a tie and go to the even neighbour, 1.
    (tri.Cast, {"to": "f16"}, "f8>f2", [(65520, 65519, TIE)], (INF, 65504, 1 + 2**-10)),
]


@on_every_machine
@pytest.mark.parametrize(("op", "attributes", "dtypes", "operands", "expected"), EXACT)
def test_numbers_at_the_edges(
    op: type[Op],
    attributes: dict[str, Any],
    dtypes: str,
    operands: list[Numbers],
    expected: Numbers,
    machine: Machine,
) -> None:
    taken, _, made = dtypes.partition(">")
    want = np.array(expected, made or taken)
    arrays = tuple(np.array(values, taken) for values in operands)
    (got,) = run(Case("", op, arrays, attributes), want, machine=machine)
    np.testing.assert_array_equal(got, want)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("exponent", [-1.0, 0.5, 1.0, 2.0, 3.0, 1.5])
def test_constant_exponents_need_no_library(exponent: float) -> None:
    x = np.array([0.0, -0.0, 1.5, -2.0, 7.0, INF, -INF, NAN], np.float32)
    power = np.array([exponent], np.float32)

    def build() -> tri.Group:
        def then(values: Sequence[ir.Value]) -> list[Op]:
            return [tri.Pow.build(values[0], tri.Constant.build(value=power).y)]

        return build_group(Case("", tri.Abs, (np.abs(x),)), (), then)

    (got,) = compile_groups([build], host_machine()).run(0, [np.abs(x)], [Tensor.of(x)])
    np.testing.assert_allclose(got, np.abs(x) ** power, rtol=1e-6)


def test_the_root_of_negative_zero_and_infinity_is_that_of_a_power() -> None:
    x = np.array([-0.0, -INF], np.float32)

    def build() -> tri.Group:
        def then(values: Sequence[ir.Value]) -> list[Op]:
            return [tri.Pow.build(values[0], tri.Constant.build(value=np.float32([0.5])).y)]

        return build_group(Case("", tri.Neg, (-x,)), (), then)

    (got,) = compile_groups([build], host_machine()).run(0, [-x], [Tensor.of(x)])
    np.testing.assert_array_equal(got, [math.pow(v, 0.5) for v in x.tolist()])
    assert not np.signbit(got).any()


def test_logical_results_are_zero_or_one_whatever_byte_true_is() -> None:
    case = Case("", tri.Not, (np.array([0, 1, 2, 255], np.uint8).view(np.bool_),))
    (got,) = run(case, case.inputs[0])
    np.testing.assert_array_equal(got.view(np.uint8), [1, 0, 0, 0])


@pytest.mark.parametrize("dtype", ["i4", "i8"])
def test_indices_outside_of_the_axis_stay_inside_of_memory(dtype: str) -> None:
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    far = array([99, -99, np.iinfo(dtype).max, np.iinfo(dtype).min], dtype)
    (rows,) = run(Case("", tri.Gather, (x, far), {"axis": 0}), x)
    np.testing.assert_array_equal(rows, x[[3, 0, 3, 0]])
    (columns,) = run(Case("", tri.Gather, (x, far), {"axis": 1}), np.zeros((4, 4), np.float32))
    np.testing.assert_array_equal(columns, x[:, [2, 0, 2, 0]])
    for op in (tri.GatherNd, tri.ScatterNd):
        others = (x,) if op is tri.ScatterNd else ()
        run(Case("", op, (x, far[:, None], *others)), x)
    for op in (tri.GatherElements, tri.ScatterElements):
        others = (far[None].astype(np.float32),) if op is tri.ScatterElements else ()
        run(Case("", op, (np.zeros((1, 9), np.float32), far[None], *others), {"axis": 1}),
            np.zeros((1, 9 if others else 4), np.float32))  # fmt: skip


def test_the_last_of_several_updates_wins() -> None:
    x, updates = np.zeros(3, np.float32), array([1, 2, 3], "f4")
    (got,) = run(Case("", tri.ScatterElements, (x, array([1, 1, 1], "i8"), updates)), x)
    np.testing.assert_array_equal(got, [0, 3, 0])


def test_a_half_type_adds_up_in_f32() -> None:
    ones = np.ones(4096, np.float16)
    (total,) = run(Case("", tri.ReduceSum, (ones,), {"axes": (0,)}), ones[:1])
    np.testing.assert_array_equal(total, [4096])
    zero, names = np.zeros(1, np.float16), np.zeros(4096, np.int64)
    attributes = {"axis": 0, "reduction": "add"}
    (kept,) = run(Case("", tri.ScatterElements, (zero, names, ones), attributes), zero)
    np.testing.assert_array_equal(kept, [4096])


@pytest.mark.parametrize(
    ("dtype", "found"),
    [("float8_e4m3fn", [2, 3]), ("float8_e5m2", [2, 3]), ("float8_e8m0fnu", [0, 1, 2, 3])],
)
def test_zeros_of_narrow_floats_are_not_those_of_bytes(dtype: str, found: list[int]) -> None:
    """A negative zero is none to be found, and powers of two have no zero: every byte is one."""
    x = np.array([0x80, 0, 1, 0x7F], np.uint8).view(getattr(ml_dtypes, dtype))
    like = np.zeros((1, 4), np.int64), np.array(0)
    places, count = run(Case("found", tri.PaddedNonZero, (x,)), *like)
    assert places[0, : int(count)].tolist() == found
