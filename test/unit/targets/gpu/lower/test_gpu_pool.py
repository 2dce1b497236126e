"""Kernels of pooling: windows of all kinds, orders of dims, types, padding, whole images."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from closeness import assert_close
from compiling import assemblies
from gpu_kernels import run_group
from groups import Case
from ordered import Order, build_ordered, check, drawn
from printed import run_printed
from sources import HOPPER, needs_triton
from trivium.dialects import tri
from trivium.dialects.core.tensor import Array
from trivium.targets.gpu.emit.compile_kernels import kernel_passes

CHANNELS_LAST = (0, 2, 3, 1)
ORDERS = [(), CHANNELS_LAST, (1, 0, 3, 2)]
POOLS = (tri.MaxPool, tri.AveragePool, tri.LpPool)

WINDOWS: list[dict[str, Any]] = [
    {"kernel": (3, 3), "strides": (2, 2), "pads": (1, 1, 1, 1), "dilations": (1, 1)},
    {"kernel": (2, 3), "strides": (1, 2), "pads": (0, 1, 1, 0), "dilations": (2, 1)},
    {"kernel": (2, 2), "strides": (3, 3), "pads": (0, 0, 0, 0), "dilations": (1, 1)},
    {"kernel": (5, 5), "strides": (1, 1), "pads": (2, 2, 2, 2), "dilations": (1, 1)},
    {"kernel": (1, 1), "strides": (2, 1), "pads": (0, 0, 0, 0), "dilations": (1, 1)},
]
"""Windows that are unrolled, and one that is not."""


def pool(cls: Any, x: Array, **attributes: Any) -> Case:
    return Case("pool", cls, (x,), attributes)


def run(case: Case, printed: bool = False) -> list[Array]:
    execute = {"execute": run_printed} if printed else {}
    return run_group(lambda: build_ordered(case, []), case.inputs, kernel_passes(HOPPER), **execute)


@pytest.mark.parametrize(
    ("ceil_mode", "order"), [(False, CHANNELS_LAST), (True, ()), (True, (1, 0, 3, 2))], ids=str
)
@pytest.mark.parametrize("window", WINDOWS, ids=lambda w: str(w["kernel"]))
@pytest.mark.parametrize("cls", POOLS, ids=lambda cls: cls.__name__)
def test_windows_slide(cls: Any, window: dict[str, Any], ceil_mode: bool, order: Order) -> None:
    x = drawn((2, 5, 11, 12))
    check(pool(cls, x, **window, ceil_mode=ceil_mode), [order], order, kernel_passes(HOPPER))


@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize("window", WINDOWS, ids=lambda w: str(w["kernel"]))
def test_averages_may_count_padding(window: dict[str, Any], ceil_mode: bool) -> None:
    x = drawn((2, 3, 11, 12))
    case = pool(tri.AveragePool, x, **window, ceil_mode=ceil_mode, count_include_pad=True)
    check(case, passes=kernel_passes(HOPPER))


@pytest.mark.parametrize("order", [(), CHANNELS_LAST], ids=str)
@pytest.mark.parametrize("dtype", ["float16", ml_dtypes.bfloat16, "float64"])
@pytest.mark.parametrize("cls", POOLS, ids=lambda cls: cls.__name__)
def test_all_types_of_floats(cls: Any, dtype: Any, order: Order) -> None:
    check(pool(cls, drawn((2, 5, 11, 12), dtype), **WINDOWS[0]), [order], (), kernel_passes(HOPPER))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64", "bool"])
@pytest.mark.parametrize("cls", [tri.MaxPool, tri.MaxPoolIndices])
def test_padding_never_wins(cls: Any, dtype: str) -> None:
    low = False if dtype == "bool" else np.iinfo(dtype).min
    for x in (np.full((1, 2, 5, 5), low, dtype), drawn((1, 2, 5, 5), "int8").astype(dtype)):
        case = pool(cls, x, **WINDOWS[0])
        for got, want in zip(run(case), case.reference(), strict=True):
            assert np.array_equal(got, want)


@pytest.mark.parametrize("printed", [False, pytest.param(True, marks=needs_triton)])
@pytest.mark.parametrize("window", WINDOWS, ids=lambda w: str(w["kernel"]))
@pytest.mark.parametrize("storage_order", [0, 1])
def test_places_of_maxima(window: dict[str, Any], storage_order: int, printed: bool) -> None:
    x = np.round(drawn((2, 3, 11, 12)) * np.float32(4))  # with ties
    x[0, 0, 3, 4] = np.nan
    x[0, 1, :4] = -np.inf
    case = pool(tri.MaxPoolIndices, x, **window, ceil_mode=True, storage_order=storage_order)
    made = run(case, printed)
    for got, want in zip(made, case.reference(), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("cls", [tri.MaxPool, tri.AveragePool])
@pytest.mark.parametrize("sizes", [(7, 7), (40, 55)])
def test_whole_images_are_reduced(cls: Any, sizes: tuple[int, int], order: Order) -> None:
    window = {"kernel": sizes, "strides": (1, 1), "pads": (0, 0, 0, 0), "dilations": (1, 1)}
    check(pool(cls, drawn((2, 20, *sizes)), **window), [order], order, kernel_passes(HOPPER))


def test_one_and_three_dims() -> None:
    line = {"kernel": (3,), "strides": (2,), "pads": (1, 1), "dilations": (1,)}
    cube = {"kernel": (2, 3, 3), "strides": (1, 2, 1), "pads": (0, 1, 1, 1, 0, 1)}
    for cls in POOLS:
        check(pool(cls, drawn((2, 5, 20)), **line), passes=kernel_passes(HOPPER))
        x = drawn((1, 3, 5, 6, 7))
        case = pool(cls, x, **cube, dilations=(1, 1, 2))
        check(case, [(0, 2, 3, 4, 1)], (0, 2, 3, 4, 1), kernel_passes(HOPPER))


@pytest.mark.parametrize("p", [1, 2, 3])
def test_norms_of_windows(p: int) -> None:
    check(pool(tri.LpPool, drawn((2, 3, 11, 12)), **WINDOWS[3], p=p), passes=kernel_passes(HOPPER))


@needs_triton
@pytest.mark.parametrize("window", [WINDOWS[0], WINDOWS[3]], ids=lambda w: str(w["kernel"]))
@pytest.mark.parametrize("cls", POOLS, ids=lambda cls: cls.__name__)
def test_printed_kernels_pool(cls: Any, window: dict[str, Any]) -> None:
    case = pool(cls, drawn((1, 3, 11, 12)), **window)
    assert_close(case, run(case, printed=True)[0], case.reference()[0], case.inputs)


@needs_triton
def test_channels_that_lie_last_are_read_side_by_side() -> None:
    x = np.broadcast_to(np.zeros((), np.float16), (8, 64, 112, 112))
    case = pool(tri.MaxPool, x, **WINDOWS[0])
    (text,) = assemblies(case, HOPPER, [CHANNELS_LAST], CHANNELS_LAST)
    assert "ld.global.v4.b32" in text
