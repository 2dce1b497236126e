"""Kernels of running sums, searches and the greatest few, along any axis and in any order."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from closeness import assert_close
from compiling import assemblies
from gpu_kernels import run_group
from groups import Case
from ordered import Order, build_ordered, drawn
from printed import run_printed
from sources import AMPERE, HOPPER, needs_triton
from trivium.dialects import tri
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.tensor import Array
from trivium.targets.gpu import TARGET
from trivium.targets.gpu.emit.compile_kernels import kernel_passes
from trivium.targets.gpu.schedule.architecture import Architecture

TYPES = ("float32", "float16", ml_dtypes.bfloat16, "float64", "int8", "uint16", "int32", "uint64")
SHAPES = [((3, 1), 1), ((3, 70), 1), ((2, 9001), 1), ((70, 3), 0), ((600, 20), 0)]
"""Rows that are one block and rows of several, along memory and across it."""


def run(case: Case, orders: list[Order], printed: bool = False) -> list[Array]:
    execute = {"execute": run_printed} if printed else {}
    build = lambda: build_ordered(case, orders, orders[0] if orders else ())  # noqa: E731
    return run_group(build, case.inputs, kernel_passes(HOPPER), **execute)


def agree(case: Case, order: Order = (), printed: bool = False) -> None:
    made = run(case, [order], printed)
    for got, want in zip(made, case.reference(), strict=True):
        assert_close(case, got, want, case.inputs)


def scan(cls: Any, x: Array, axis: int, exclusive: bool, reverse: bool) -> Case:
    attributes = {"axis": axis, "exclusive": exclusive, "reverse": reverse}
    return Case("scan", cls, (x,), attributes)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize(("shape", "axis"), SHAPES, ids=str)
@pytest.mark.parametrize("cls", [tri.CumSum, tri.CumProd])
def test_rows_are_accumulated(
    cls: Any, shape: tuple[int, int], axis: int, exclusive: bool, reverse: bool
) -> None:
    x = drawn(shape)
    if cls is tri.CumProd:
        x = np.abs(x) ** np.float32(0.001)
    else:  # numbers of which so many add up to about 1, along whichever axis
        x = x * np.float32((shape[-1] / shape[axis]) ** 0.5)
    agree(scan(cls, x, axis, exclusive, reverse))


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("length", [70, 5000])
def test_all_types_are_accumulated(dtype: Any, length: int) -> None:
    agree(scan(tri.CumSum, drawn((2, length), dtype), 1, exclusive=False, reverse=False))
    integers = np.dtype(dtype).kind in "iu"
    if integers:
        agree(scan(tri.CumProd, drawn((2, length), dtype), 1, exclusive=True, reverse=True))


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)], ids=str)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_any_axis_in_any_order_in_memory(axis: int, order: Order) -> None:
    x = drawn((5, 7, 33))
    agree(scan(tri.CumSum, x, axis, exclusive=True, reverse=False), order)
    agree(Case("first", tri.ArgMax, (x,), {"axis": axis, "keepdims": True}), order)
    agree(Case("few", tri.TopK, (x,), {"axis": axis, "k": 4}), order)


def test_infinities_and_nan_stay_behind_where_they_are() -> None:
    x = drawn((3, 9000))
    x[0, 5000], x[1, 17], x[2, 8999] = np.nan, np.inf, -np.inf
    agree(scan(tri.CumSum, x, 1, exclusive=False, reverse=False))
    agree(scan(tri.CumSum, x, 1, exclusive=False, reverse=True))


@pytest.mark.parametrize("length", [1, 70, 9000])
@pytest.mark.parametrize(("cls", "last"), [(tri.ArgMax, False), (tri.ArgMin, True)])
@pytest.mark.parametrize("dtype", TYPES[::2], ids=lambda dtype: np.dtype(dtype).name)
def test_of_equals_the_first_or_the_last_is_found(
    cls: Any, last: bool, dtype: Any, length: int
) -> None:
    x = (drawn((5, length), "int8") % 7).astype(dtype)
    if x.dtype.kind not in "iu":
        x[1, length // 2] = x[2, -1] = x[2, length // 3] = np.nan
        x[3] = -np.inf
        x[4] = np.nan
    agree(Case("search", cls, (x,), {"axis": 1, "keepdims": False, "select_last_index": last}))


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize(("length", "k"), [(1, 1), (10, 10), (1000, 5)])
def test_the_few_greatest_in_order(dtype: Any, largest: bool, length: int, k: int) -> None:
    x = drawn((4, length), dtype)
    x[0] = (drawn((length,), "int8") % 3).astype(dtype)
    if x.dtype.kind not in "iu":
        x[1, length // 2] = x[1, length // 3] = np.nan
        x[2, 0], x[2, -1] = np.inf, -np.inf
        x[3] = np.nan
    agree(Case("few", tri.TopK, (x,), {"axis": 1, "k": k, "largest": largest}))


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int32", "uint32", "int8"])
@pytest.mark.parametrize("largest", [False, True])
def test_the_ends_of_a_type_are_taken(dtype: str, largest: bool) -> None:
    info = np.iinfo(dtype)
    x = np.array([[info.min, info.max, 0, info.min, info.max, 1, info.min]], dtype)
    agree(Case("ends", tri.TopK, (x,), {"axis": 1, "k": 7, "largest": largest}))


def test_zeros_are_equal() -> None:
    x = np.array([[-0.0, 0.0, -1.0, 0.0, -0.0]], np.float32)
    case = Case("zeros", tri.TopK, (x,), {"axis": 1, "k": 5})
    values, places = run(case, [])
    assert places.tolist() == [[0, 1, 3, 4, 2]]
    assert np.signbit(values).tolist() == np.signbit(case.reference()[0]).tolist()


@pytest.mark.parametrize(("k", "length", "taken"), [(64, 16384, True), (65, 16384, False)])
def test_many_elements_are_taken_elsewhere(k: int, length: int, taken: bool) -> None:
    with new_context(), ir.Location.unknown():
        group = build_ordered(Case("few", tri.TopK, (drawn((2, length)),), {"k": k}), [])
        refusal = TARGET.refusal(tri.TopK(group.block.operations[0].operation))
    assert (refusal is None) == taken
    assert taken or refusal == "gpu takes at most 64 elements, of rows of at most 16384"


@needs_triton
def test_printed_kernels_walk_rows() -> None:
    x = drawn((2, 9001))
    agree(scan(tri.CumSum, x, 1, exclusive=True, reverse=True), printed=True)
    agree(scan(tri.CumProd, drawn((40, 3), "int32"), 0, False, False), printed=True)
    for dtype in ("float32", "uint64", "int8"):
        agree(Case("few", tri.TopK, (drawn((2, 70), dtype),), {"k": 3}), printed=True)
    x[1, 77] = np.nan
    agree(Case("search", tri.ArgMin, (x,), {"axis": 1}), printed=True)


@needs_triton
@pytest.mark.parametrize("architecture", [AMPERE, HOPPER], ids=lambda a: a.name)
def test_kernels_compile(architecture: Architecture) -> None:
    """Sums that a loop carries have crashed Triton."""
    along, across = np.zeros((512, 50000), "float32"), np.zeros((1000, 512), "float32")
    for x, axis in ((along, 1), (across, 0)):
        assert assemblies(scan(tri.CumSum, x, axis, False, True), architecture)
    x = np.zeros((300, 8400), "float32")
    assert assemblies(Case("few", tri.TopK, (x,), {"k": 50}), architecture)
    assert assemblies(Case("search", tri.ArgMax, (x,), {"axis": 0}), architecture)
