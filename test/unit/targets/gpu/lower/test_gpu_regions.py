"""Kernels that pool regions of images: all types, both orders of channels, regions of any form."""

from typing import Any

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
from trivium.targets.gpu.emit.compile_kernels import kernel_passes
from trivium.targets.gpu.schedule.architecture import Architecture

PLAIN: Order = (0, 1, 2, 3)
CHANNELS_LAST: Order = (0, 2, 3, 1)
X = drawn((3, 21, 13, 17))
BOXES = np.array(
    [
        [0, 0, 16, 12],
        [2.5, 3.25, 9.125, 4],
        [-7, -2, 5, 30],
        [9, 9, 2, 3],  # ends before it starts
        [40, 1, 50, 9],  # beside the image
        [4, 4, 4, 4],
        [5, np.nan, 9, 8],
        [-np.inf, 1, np.inf, 5],
    ],
    np.float32,
)


def align(x: Any = X, boxes: Any = BOXES, **attributes: Any) -> Case:
    images = (np.arange(len(boxes)) % len(x)).astype(attributes.pop("images", "int64"))
    return Case("align", tri.RoiAlign, (x, boxes.astype(x.dtype), images), attributes)


def top(x: Any = X, boxes: Any = BOXES, **attributes: Any) -> Case:
    images = np.arange(len(boxes))[:, None] % len(x)
    regions = np.concatenate([images, boxes], 1).astype(x.dtype)
    return Case("top", tri.MaxRoiPool, (x, regions), attributes)


def agree(case: Case, order: Order = PLAIN, result: Order = PLAIN, printed: bool = False) -> None:
    execute = {"execute": run_printed} if printed else {}
    (got,) = run_group(
        lambda: build_ordered(case, [order], result), case.inputs, kernel_passes(HOPPER), **execute
    )
    (want,) = case.reference()
    np.testing.assert_array_equal(np.isfinite(got), np.isfinite(want))
    assert_close(case, got, want, case.inputs)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("half_pixel", [False, True])
@pytest.mark.parametrize("sampling_ratio", [0, 3])
@pytest.mark.parametrize("mode", ["avg", "max"])
def test_regions_of_any_form_are_sampled(mode: str, sampling_ratio: int, half_pixel: bool) -> None:
    more = {"mode": mode, "sampling_ratio": sampling_ratio, "half_pixel": half_pixel}
    agree(align(sizes=(3, 2), **more))
    agree(align(sizes=(1, 7), spatial_scale=0.25, images="int32", **more))


@pytest.mark.parametrize("scale", [1.0, 0.5, 0.3])
@pytest.mark.parametrize("sizes", [(1, 1), (3, 2), (7, 20)], ids=str)
def test_cells_of_regions_of_any_form(sizes: tuple[int, int], scale: float) -> None:
    boxes = np.where(np.isinf(BOXES), 1e30, BOXES)
    agree(top(boxes=boxes, sizes=sizes, spatial_scale=scale))


@pytest.mark.parametrize("dtype", ["float16", "float64"])
@pytest.mark.parametrize("make", [align, top])
def test_types(make: Any, dtype: str) -> None:
    agree(make(X.astype(dtype), BOXES[:6], sizes=(3, 2)))


@pytest.mark.parametrize("result", [PLAIN, CHANNELS_LAST], ids=str)
@pytest.mark.parametrize("order", [PLAIN, CHANNELS_LAST], ids=str)
@pytest.mark.parametrize("make", [align, top])
def test_channels_are_in_any_order(make: Any, order: Order, result: Order) -> None:
    agree(make(boxes=BOXES[:4], sizes=(3, 2)), order, result)


@pytest.mark.parametrize("make", [align, top])
def test_nan_of_an_image_stays(make: Any) -> None:
    x = X.copy()
    x[:, 1, 4, 4] = np.nan
    agree(make(x, BOXES[:5], sizes=(3, 2)))


def test_no_regions_give_nothing() -> None:
    agree(align(boxes=BOXES[:0], sizes=(3, 2)))
    agree(top(boxes=BOXES[:0], sizes=(3, 2)))


def test_a_cell_of_a_whole_number_of_elements_has_one_sample_for_each() -> None:
    for cells in (3, 5, 7, 11):
        boxes = np.array([[0, 0, cells * n, cells * n] for n in (1, 2, 3)], np.float32)
        agree(align(X[:, :2], boxes, sizes=(cells, 1)))


@needs_triton
@pytest.mark.parametrize("make", [align, top])
def test_printed_kernels_pool_regions(make: Any) -> None:
    agree(make(X[:, :5], BOXES[:5], sizes=(3, 2)), printed=True)


@needs_triton
@pytest.mark.parametrize("architecture", [AMPERE, HOPPER], ids=lambda a: a.name)
@pytest.mark.parametrize("make", [align, top])
def test_kernels_compile(make: Any, architecture: Architecture) -> None:
    assert assemblies(make(boxes=BOXES[:4], sizes=(7, 7)), architecture)
