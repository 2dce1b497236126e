"""Rules of resampling against ONNX Runtime, where ONNX's own cases do not reach."""

import numpy as np
import onnx.parser
import pytest
import trivium
from onnx import numpy_helper
from trivium.compiler.frontends.onnx import import_onnx
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.mlir import new_context
from trivium.runtime.errors import RunError
from trivium.test.unit.compiler.frontends.onnx.graphs import array
from trivium.test.unit.compiler.frontends.onnx.single_node import agree, refused, single_node

ort = pytest.importorskip("onnxruntime")

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize(
    "scales", [[1.0, 1.0, 2.0, 3.0], [1.0, 1.0, 1.7, 1.2], [1.0, 1.0, 0.5, 0.6]]
)
def test_resizing_before_opset_11_goes_by_position(mode: str, scales: list[float]) -> None:
    x = array(1, 2, 7, 5)
    agree("Resize", [x, np.array(scales, np.float32)], 10, mode=mode)
    if min(scales) >= 1:
        agree("Upsample", [x, np.array(scales, np.float32)], 9, mode=mode)
        agree("Upsample", [x], 7, mode=mode, scales=scales)


TRANSFORMS = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("size", [(14, 15), (3, 2), (7, 9), (1, 1)])
def test_resize_to_sizes(mode: str, transform: str, size: tuple[int, int]) -> None:
    sizes = np.array([1, 2, *size])
    agree(
        "Resize",
        [array(1, 2, 7, 5), None, None, sizes],
        13,
        tolerance=1e-4,
        mode=mode,
        coordinate_transformation_mode=transform,
    )


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_resize_with_antialias(mode: str) -> None:
    agree(
        "Resize",
        [array(1, 2, 9, 11), None, None, np.array([4, 5])],
        18,
        tolerance=1e-4,
        mode=mode,
        antialias=1,
        axes=[2, 3],
    )


def test_resize_crops_regions() -> None:
    roi = np.array([0, 0, 0.1, 0.2, 1, 1, 0.8, 1.3], np.float32)
    agree(
        "Resize",
        [array(1, 2, 7, 5), roi, None, np.array([1, 2, 6, 8])],
        13,
        mode="linear",
        coordinate_transformation_mode="tf_crop_and_resize",
        extrapolation_value=9.0,
    )


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
def test_resize_keeps_the_aspect_ratio(policy: str) -> None:
    agree(
        "Resize",
        [array(1, 2, 7, 5), None, None, np.array([10, 9])],
        18,
        tolerance=1e-4,
        mode="linear",
        axes=[2, 3],
        keep_aspect_ratio_policy=policy,
    )


def test_resizing_that_makes_no_sense_is_refused() -> None:
    x, sizes, scales = array(1, 2, 4), np.array([1, 2, 8]), np.ones(3, np.float32)
    refused("has neither scales nor sizes", "Resize", [x], 13)
    refused("has 2 sizes, must have 3", "Resize", [x, None, None, sizes[:2]], 13)
    refused("must name each axis once", "Resize", [x, None, None, sizes[:2]], 18, axes=[2, -1])
    given = {"keep_aspect_ratio_policy": "bend"}
    refused("has keep_aspect_ratio_policy 'bend'", "Resize", [x, None, None, sizes], 18, **given)
    crop = {"coordinate_transformation_mode": "tf_crop_and_resize"}
    refused("has 0 entries in roi, must have 6", "Resize", [x, None, None, sizes], 13, **crop)
    refused("has 2 scales, must have 3", "Resize", [x, scales[:2]], 10)


def test_one_rounding_serves_all_known_scales_of_old_operators() -> None:
    made = single_node("Resize", [array(1, 2, 4), np.array([1, 2, 0.5], np.float32)], 10)
    known = numpy_helper.from_array(np.array([1, 2, 0.5], np.float32), "x1")
    made.graph.initializer.append(known)
    del made.graph.input[1]
    with new_context(), pytest.raises(CompileError, match="must all be at most 1 or all at least"):
        import_onnx(made)


@pytest.mark.parametrize("opset", [16, 20])
def test_grid_sample_has_other_names_of_modes_since_opset_20(opset: int) -> None:
    grid = RNG.uniform(-1.5, 1.5, (2, 3, 4, 2)).astype(np.float32)
    modes = ["bilinear", "bicubic"] if opset == 16 else ["linear", "cubic"]
    for mode in modes:
        agree("GridSample", [array(2, 3, 5, 6), grid], opset, tolerance=1e-4, mode=mode)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_an_axis_that_a_run_makes_empty(mode: str) -> None:
    text = f"""g (float[N, 4] x, bool[N] kept, float[2] computed)
        => (float[a, b] y, float[c, d] z) <float[2] scales = {{2, 2}}> {{
            some = Compress <axis = 0> (x, kept)
            y = Resize <mode = "{mode}"> (some, , scales)
            z = Resize <mode = "{mode}"> (some, , computed)
        }}"""
    proto = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]> {text}')
    session = trivium.compile(proto)
    expected = ort.InferenceSession(proto.SerializeToString())
    x = array(3, 4)
    for kept, scales in (
        ([0, 0, 0], [2, 2]),
        ([1, 1, 0], [2, 2]),
        ([1, 0, 0], [0.5, 2]),
        ([1, 1, 1], [2, 0.1]),
    ):
        feeds = {"x": x, "kept": np.array(kept, bool), "computed": np.float32(scales)}
        made = session.run(feeds).values()
        for got, wanted in zip(made, expected.run(None, feeds), strict=True):
            np.testing.assert_allclose(got, wanted, 1e-5, 1e-5, strict=True)
    for scales in ([2, 0], [-1, 2]):
        with pytest.raises(RunError, match="finds -1 for size"):
            session.run({"x": x, "kept": np.ones(3, bool), "computed": np.float32(scales)})
