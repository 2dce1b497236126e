"""Kernels of reductions: short and long rows, one huge row, all orders of dims, types, NaN."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from closeness import assert_close
from gpu_kernels import run_group
from groups import Case, build_group
from ordered import Order, build_ordered, check, drawn
from printed import run_printed
from sources import HOPPER, needs_triton
from trivium.dialects import tri
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.tensor import Array
from trivium.targets.gpu.emit.compile_kernels import kernel_passes
from trivium.targets.gpu.schedule.row_plan import reduction_plan

FLOATS = ("float32", "float16", ml_dtypes.bfloat16, "float64")
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
NUMBERS = (tri.ReduceSum, tri.ReduceMean, tri.ReduceMax, tri.ReduceMin, tri.ReduceProd)
SQUARES = (tri.ReduceL1, tri.ReduceL2, tri.ReduceSumSquare)
ALL = (*NUMBERS, *SQUARES, tri.ReduceLogSum, tri.ReduceLogSumExp)

LONG = [((1, 9000), (1,)), ((133, 2100), (1,)), ((5000, 20), (0,)), ((700, 40), (0,))]


def reduction(cls: Any, x: Array, axes: Sequence[int], keepdims: bool = False) -> Case:
    return Case("reduction", cls, (x,), {"axes": tuple(axes), "keepdims": keepdims})


def run(case: Case, order: Order = (), printed: bool = False) -> Array:
    """Run a case, through all passes on kernels."""
    execute = {"execute": run_printed} if printed else {}
    build = lambda: build_ordered(case, [order])  # noqa: E731
    (made,) = run_group(build, case.inputs, kernel_passes(HOPPER), **execute)
    return made


def test_the_long_shapes_take_all_roads() -> None:
    plans = [
        reduction_plan(shape[1 - axes[0]], shape[axes[0]], axes == (1,)) for shape, axes in LONG
    ]
    assert [(plan.parts > 1, plan.whole) for plan in plans] == [
        (True, True),
        (False, False),
        (True, True),
        (False, False),
    ]
    assert reduction_plan(3, 1 << 22, along=True).parts > 1
    assert not reduction_plan(3, 1 << 22, along=True).whole


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)], ids=str)
@pytest.mark.parametrize("axes", [a for n in (1, 2, 3) for a in combinations(range(3), n)], ids=str)
def test_any_dims_are_reduced_in_any_order_in_memory(axes: tuple[int, ...], order: Order) -> None:
    x = drawn((5, 7, 33))
    check(reduction(tri.ReduceSum, x, axes), [order], passes=kernel_passes(HOPPER))
    check(reduction(tri.ReduceMax, x, axes, keepdims=True), [order], order, kernel_passes(HOPPER))


@pytest.mark.parametrize(("shape", "axes"), LONG, ids=str)
@pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.__name__)
def test_long_rows_are_walked_and_split(cls: Any, shape: tuple[int, int], axes: tuple[int]) -> None:
    x = np.abs(drawn(shape)) + np.float32(0.5)
    x = x**0.001 if cls is tri.ReduceProd else x
    check(reduction(cls, x, axes), passes=kernel_passes(HOPPER))


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS], ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("cls", [tri.ReduceSum, tri.ReduceMean, tri.ReduceMin, tri.ReduceProd])
@pytest.mark.parametrize("shape", [(3, 70), (1, 9000)], ids=str)
def test_all_types_are_reduced(cls: Any, dtype: Any, shape: tuple[int, int]) -> None:
    x = drawn(shape, dtype)
    if cls is tri.ReduceProd and x.dtype.kind not in "iu":
        x = (np.abs(x.astype(np.float64)) ** 0.001).astype(x.dtype)
    case = reduction(cls, x, (1,))
    (want,) = case.reference()
    assert_close(case, run(case), want, case.inputs)


def test_bytes_wrap_around_as_numpy_has_it() -> None:
    x = np.full((2, 5000), -128, np.int8)
    assert np.array_equal(run(reduction(tri.ReduceL1, x, (1,))), np.abs(x).sum(1, dtype=np.int8))
    assert np.array_equal(run(reduction(tri.ReduceSum, x, (1,))), x.sum(1, dtype=np.int8))


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int8", "uint8"])
def test_the_ends_of_a_type_are_found(dtype: str) -> None:
    info = np.iinfo(dtype)
    x = np.full((2, 4500), info.min, dtype)
    assert run(reduction(tri.ReduceMax, x, (1,))).tolist() == [info.min] * 2
    assert run(reduction(tri.ReduceMin, x, (1,))).tolist() == [info.min] * 2
    x = np.full((2, 3), info.max, dtype)
    assert run(reduction(tri.ReduceMin, x, (1,))).tolist() == [info.max] * 2
    assert run(reduction(tri.ReduceMax, x, (1,))).tolist() == [info.max] * 2


def test_bools_are_any_and_all() -> None:
    x = drawn((4, 5000)) > np.float32(0.05)
    x[1], x[2] = False, True
    assert np.array_equal(run(reduction(tri.ReduceMax, x, (1,))), x.any(1))
    assert np.array_equal(run(reduction(tri.ReduceMin, x, (1,))), x.all(1))


@pytest.mark.parametrize("length", [3, 70, 9000])
@pytest.mark.parametrize("cls", [tri.ReduceMax, tri.ReduceMin, tri.ReduceSum, tri.ReduceLogSumExp])
@pytest.mark.parametrize("printed", [False, pytest.param(True, marks=needs_triton)])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_nan_and_infinities_are_what_the_reference_makes_of_them(
    cls: Any, length: int, printed: bool
) -> None:
    x = drawn((6, length))
    x[0, length // 2] = np.nan
    x[1] = -np.inf
    x[2, length - 1] = np.inf
    x[3] = np.nan
    x[4, 0], x[4, length - 1] = np.inf, np.nan
    case = reduction(cls, x, (1,))
    (want,) = case.reference()
    assert_close(case, run(case, printed=printed), want, [drawn((1,))])


@pytest.mark.parametrize("cls", NUMBERS)
@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_nothing_is_reduced_to_what_the_reference_says(cls: Any, dtype: str) -> None:
    case = reduction(cls, np.zeros((3, 0), dtype), (1,))
    assert_close(case, run(case), case.reference()[0], [])
    case = reduction(cls, np.zeros((0, 3), dtype), (1,))
    assert run(case).shape == (0,)


@needs_triton
@pytest.mark.parametrize(("shape", "axes"), [LONG[0], LONG[3], ((3, 40, 16), (0, 2))], ids=str)
def test_printed_kernels_reduce(shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    for cls in (tri.ReduceSum, tri.ReduceMax, tri.ReduceLogSumExp):
        case = reduction(cls, drawn(shape), axes)
        assert_close(case, run(case, printed=True), case.reference()[0], case.inputs)


def test_a_sum_in_parts_is_the_same_each_time() -> None:
    case = reduction(tri.ReduceSum, drawn((1, 40000)), (1,))
    assert len({run(case).tobytes() for _ in range(2)}) == 1


def test_what_is_computed_before_is_reduced() -> None:
    """An elementwise op in front of the reduction is computed where it reads."""
    x = drawn((1, 9000))

    def build() -> tri.Group:
        case = Case("square", tri.Mul, (x, x))

        def behind(values: Sequence[ir.Value]) -> list[Any]:
            return [tri.ReduceSum.build(values[0], axes=(1,), keepdims=True)]

        return build_group(case, epilogue=behind)

    (made,) = run_group(build, [x, x], kernel_passes(HOPPER))
    np.testing.assert_allclose(made, (x.astype(np.float64) ** 2).sum(1, keepdims=True), rtol=4e-6)
