"""Kernels that pool regions of images: all types, both orders of channels, regions of any form."""

from typing import Any

import numpy as np
import onnx.parser
import onnxruntime
import pytest
import trivium
from closeness import assert_close
from compiling import assemblies
from gpu_kernels import run_group
from groups import Case
from interpreted import interpreted
from ordered import Order, build_ordered, drawn
from printed import run_printed
from sources import AMPERE, HOPPER, needs_triton
from trivium.dialects import tri
from trivium.runtime.gpu.step import GpuStep
from trivium.runtime.session import Session
from trivium.targets.gpu.emit.compile_kernels import kernel_passes
from trivium.targets.gpu.schedule.architecture import Architecture
from trivium.test.unit.runtime.gpu.stand_in import StandIn

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


HEAD = """
    <ir_version: 8, opset_import: ["" : 17]>
    head (float[N, 3, H, W] x, float[R, 4] boxes) => (float[R, 3, 2, 3] y, float[R, 3, 2, 2] top)
    <int64 none = {0}, int64 one = {1}, int64[2] column = {-1, 1}, float half = {0.5}> {
        images = Shape <start = 0, end = 1> (x)
        counted = Shape <start = 0, end = 1> (boxes)
        count = Squeeze (counted)
        [numbers] numbers = Range (none, count, one)
        image = Mod (numbers, images)
        [align] y = RoiAlign <output_height = 2, output_width = 3> (x, boxes, image)
        narrow = Cast <to = 1> (image)
        first = Reshape (narrow, column)
        regions = Concat <axis = 1> (first, boxes)
        [top] top = MaxRoiPool <pooled_shape = [2, 2], spatial_scale = 0.5> (x, regions)
    }
"""


@needs_triton
def test_a_package_pools_regions_of_images_of_all_sizes(stand_in: StandIn) -> None:
    model = onnx.parser.parse_model(HEAD)
    ranges = {name: trivium.Range(1, 64, likely=16) for name in "NHWR"}
    package = trivium.build(model, target="gpu:sm_90", shapes=ranges)
    steps = [step for step in package.manifest.steps if isinstance(step, GpuStep)]
    assert {"numbers", "align", "top"} < {node for step in steps for node in step.nodes}
    other = onnxruntime.InferenceSession(model.SerializeToString())
    stand_in.execute(package, lambda run: interpreted(package, run))
    random = np.random.default_rng(1)
    with Session(package, device=stand_in.device()) as session:
        for images, height, width, count in ((1, 1, 1, 1), (2, 9, 14, 5), (3, 12, 5, 1)):
            stand_in.sizes = {"N": images, "H": height, "W": width, "R": count}
            x = random.standard_normal((images, 3, height, width), np.float32)
            corners = random.random((count, 2, 2), np.float32) * np.float32([width, height])
            feeds = {"x": x, "boxes": np.sort(corners, 1).reshape(count, 4)}
            results = session.run(feeds)
            assert not stand_in.errors
            for got, want in zip(results.values(), other.run(None, feeds), strict=True):
                np.testing.assert_allclose(got, want, 1e-4, 1e-5)
