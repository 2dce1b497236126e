"""Rules of regions and boxes against ONNX Runtime, where ONNX's own cases do not reach."""

import numpy as np
import onnx.parser
import pytest
import trivium
from trivium.dialects.core.errors import Invalid
from trivium.test.unit.compiler.frontends.onnx.graphs import array
from trivium.test.unit.compiler.frontends.onnx.single_node import agree, reference

onnxruntime = pytest.importorskip("onnxruntime")

RNG = np.random.default_rng(0)


ROIS = np.array([[1, 2, 9, 12], [0, 0, 3, 3], [4, 5, 4.2, 5.1], [-3, -2, 20, 22]], np.float32)
IMAGES = np.array([0, 1, 1, 0])


@pytest.mark.parametrize("opset", [10, 16])
@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("ratio", [0, 2])
def test_roi_align(opset: int, mode: str, ratio: int) -> None:
    agree(
        "RoiAlign",
        [array(2, 3, 8, 9), ROIS, IMAGES],
        opset,
        tolerance=1e-4,
        mode=mode,
        output_height=3,
        output_width=2,
        sampling_ratio=ratio,
        spatial_scale=0.5,
    )


def test_max_roi_pool() -> None:
    rois = np.concatenate([IMAGES[:, None].astype(np.float32), ROIS], axis=1)
    given = {"pooled_shape": [3, 2], "spatial_scale": 0.5}
    agree("MaxRoiPool", [array(2, 3, 8, 9), rois], 11, **given)


DEFORMED = """<ir_version: 10, opset_import: ["" : 22]>
    layer (float[N, 4, H, W] x, float[N, 36, p, q] f, float[N, 18, p, q] m, float[6, 2, 3, 3] w,
           float[6] b) => (float[n, 6, r, s] y) {
        y = DeformConv <group = 2, offset_group = 2, pads = [1, 0, 1, 2], strides = [2, 1]>
            (x, w, f, b, m)
    }"""


@pytest.mark.parametrize("sizes", [{"N": 2, "H": 7, "W": 40}, {"N": 1, "H": 2, "W": 1}])
def test_deform_conv_of_any_sizes(sizes: dict[str, int]) -> None:
    model = onnx.parser.parse_model(DEFORMED)
    batch, height, width = sizes.values()
    windows = (batch, -1, (height + 1) // 2, width)
    feeds = {"x": array(batch, 4, height, width), "w": array(6, 2, 3, 3), "b": array(6)}
    points = windows[2] * windows[3]
    for name, count, scale in (("f", 36, 3), ("m", 18, 1)):
        feeds[name] = array(batch, count, points).reshape(windows) * np.float32(scale)
    want = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)
    package = trivium.compile(model)
    np.testing.assert_allclose(package.run(feeds)["y"], want[0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("centered", [0, 1])
@pytest.mark.parametrize("count", [2, 100])
def test_non_max_suppression(centered: int, count: int) -> None:
    boxes = RNG.uniform(0, 1, (2, 20, 4)).astype(np.float32)
    scores = RNG.uniform(0, 1, (2, 3, 20)).astype(np.float32)
    limits = [np.array([count]), np.array([0.3], np.float32), np.array([0.2], np.float32)]
    agree("NonMaxSuppression", [boxes, scores, *limits], 11, center_point_box=centered)


def test_max_unpool_puts_maxima_back() -> None:
    values, places = array(1, 1, 2, 2), np.array([[[[5, 7], [13, 15]]]])
    given = {"kernel_shape": [2, 2], "strides": [2, 2]}
    agree("MaxUnpool", [values, places], 11, **given)


def test_affine_grid_of_one_pixel() -> None:
    for align in (0, 1):
        (got,) = reference(
            "AffineGrid", [array(1, 2, 3), np.array([1, 1, 1, 1])], 20, align_corners=align
        )
        np.testing.assert_allclose(got[0, 0, 0], array(1, 2, 3)[0, :, 2], 1e-6)


def test_an_image_file_is_decoded_in_a_session() -> None:
    """Images of several sizes, each the pixels behind a header of text."""
    session = trivium.compile(
        onnx.parser.parse_model("""<ir_version: 9, opset_import: ["" : 20]>
        g (uint8[N] x) => (uint8[H, W, 1] gray, uint8[H, W, 3] bgr) {
            gray = ImageDecoder<pixel_format = "Grayscale">(x)
            bgr = ImageDecoder<pixel_format = "BGR">(x)
        }""")
    )
    for height, width in ((2, 3), (5, 4)):
        pixels = np.random.default_rng(height).integers(0, 256, (height, width, 3), np.uint8)
        file = f"P6 {width} {height} 255\n".encode() + pixels.tobytes()
        results = session.run({"x": np.frombuffer(file, np.uint8)})
        np.testing.assert_array_equal(results["bgr"], pixels[..., ::-1])
        luma = pixels @ [0.299, 0.587, 0.114]  # ITU-R BT.601
        assert results["gray"].shape == (height, width, 1)
        assert np.abs(results["gray"][..., 0] - luma).max() <= 1
    with pytest.raises(Invalid, match="has 3 bytes that are no image"):
        session.run({"x": np.zeros(3, np.uint8)})
