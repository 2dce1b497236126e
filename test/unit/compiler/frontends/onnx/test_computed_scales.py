"""Resizing by sizes or scales that a run computes, against ONNX Runtime."""

import numpy as np
import onnx.parser
import pytest
from test_selection_rules import check
from trivium.compiler.driver import compile
from trivium.compiler.frontends.onnx import import_onnx
from trivium.dialects.core.errors import CompileError, Invalid
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.sizes.symbols import Range
from trivium.runtime.errors import RunError

ort = pytest.importorskip("onnxruntime")

X = np.random.default_rng(0).random((1, 2, 4, 5), np.float32)
SIZES = [(8, 5), (3, 7), (4, 5), (1, 1)]
SCALES = [(2, 1), (0.6, 1.5), (1, 3), (0.25, 0.4)]
NEAREST = 'mode = "nearest"'
TRANSFORMS = ["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"]


def by_sizes(options: str, dims: str = "1, 2, 4, 5") -> str:
    return f"""main (float[{dims}] x, int64[2] s) => (float[a, b, c, d] y)
        <int64[2] front = {{1, 2}}, float[0] none = {{}}> {{
            sizes = Concat <axis = 0> (front, s)
            y = Resize <{options}> (x, none, none, sizes)
        }}"""


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_sizes(mode: str, transform: str) -> None:
    text = by_sizes(f'mode = "{mode}", coordinate_transformation_mode = "{transform}"')
    check(text, [{"x": X, "s": np.array(s)} for s in SIZES])


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_known_sizes(mode: str, transform: str) -> None:
    text = by_sizes(f'mode = "{mode}", coordinate_transformation_mode = "{transform}"')
    known = text.replace(", int64[2] s", "").replace("none = {}", "none = {}, int64[2] s = {3, 7}")
    check(known, [{"x": X}])


@pytest.mark.parametrize("rounding", ["round_prefer_ceil", "floor", "ceil"])
def test_nearest_modes(rounding: str) -> None:
    check(
        by_sizes(f'nearest_mode = "{rounding}"', "1, 2, H, W"),
        [{"x": X, "s": np.array(s)} for s in SIZES],
    )


def test_what_is_outside_counts_nothing() -> None:
    text = by_sizes('mode = "cubic", exclude_outside = 1, cubic_coeff_a = -0.5')
    check(text, [{"x": X, "s": np.array(s)} for s in SIZES])


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
def test_aspect_ratios_are_kept(policy: str) -> None:
    text = f"""main (float[1, 2, 4, 5] x, int64[2] s) => (float[a, b, c, d] y) {{
        y = Resize <axes = [2, 3], mode = "linear", keep_aspect_ratio_policy = "{policy}">
            (x, , , s)
    }}"""
    check(text, [{"x": X, "s": np.array(s)} for s in SIZES], 18)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_scales(mode: str) -> None:
    text = f"""main (float[1, 2, 4, 5] x, float[2] s) => (float[a, b, c, d] y)
        <float[2] front = {{1, 1}}, float[0] none = {{}}> {{
            scales = Concat <axis = 0> (front, s)
            y = Resize <mode = "{mode}"> (x, none, scales)
        }}"""
    feeds = [{"x": X, "s": np.array(s, np.float32)} for s in SCALES]
    check(text, feeds)
    made = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]>\n{text}')
    with new_context():
        module = import_onnx(made)
        *_, end = module.main_block.operations
        (y,) = end.operands
        assert str(y.type).startswith("tensor<1x2x?x?xf32")


@pytest.mark.parametrize(("op", "opset"), [("Upsample", 9), ("Resize", 10)])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_scales_of_old_operators(op: str, opset: int, mode: str) -> None:
    text = f"""main (float[1, 2, 4, 5] x, float[4] s) => (float[a, b, c, d] y)
        {{ y = {op} <mode = "{mode}"> (x, s) }}"""
    scales = [(1, 1, 2, 3), (1, 1, 1, 2)] + [(1, 1, 0.5, 0.6)] * (op == "Resize")
    check(text, [{"x": X, "s": np.array(s, np.float32)} for s in scales], opset)


def test_parts_of_axes() -> None:
    text = """main (float[1, 2, 4, 5] x, float[8] roi, int64[4] s) => (float[a, b, c, d] y)
        <float[0] none = {}> {
            y = Resize <mode = "linear", coordinate_transformation_mode = "tf_crop_and_resize",
                        extrapolation_value = 7.0> (x, roi, none, s)
        }"""
    parts = [(0, 0, 0.1, 0.2, 1, 1, 0.8, 0.9), (0, 0, -0.5, 0.4, 1, 1, 0.5, 1.5)]
    sizes = [(1, 2, 3, 3), (1, 2, 1, 4)]
    feeds = [{"roi": np.array(p, np.float32), "s": np.array(s)} for p in parts for s in sizes]
    check(text, [{"x": X} | each for each in feeds])


PYRAMID = """<ir_version: 8, opset_import: ["" : 17]>
main (float[1, 2, h, w] x, float[1, 2, H, W] fine) => (float[1, 2, H, W] y)
    <float[0] none = {}> {
        size = Shape (fine)
        coarse = Resize <mode = "linear"> (x, none, none, size)
        y = Add (coarse, fine)
    }"""


def test_a_coarse_image_becomes_as_large_as_a_fine_one() -> None:
    made = onnx.parser.parse_model(PYRAMID)
    session = compile(made, target="host")
    reference = ort.InferenceSession(made.SerializeToString())
    for height, width in ((8, 9), (4, 5), (3, 2)):
        feeds = {"x": X, "fine": np.ones((1, 2, height, width), np.float32)}
        (expected,) = reference.run(None, feeds)
        np.testing.assert_allclose(session.run(feeds)["y"], expected, 1e-5, 1e-5)


def test_computed_sizes_must_not_be_0() -> None:
    made = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]>\n{by_sizes(NEAREST)}')
    with new_context():
        module = import_onnx(made)
        with pytest.raises(Invalid, match=r"resizes axis 2 of .* to u0 elements, must be above 0"):
            run(module, [X, np.array([0, 3])])


@pytest.mark.parametrize("dims", ["1, 2, 4, 5", "N, 2, H, W"])
@pytest.mark.parametrize("outside", [0, 1])
@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_smoothing_to_sizes(mode: str, outside: int, dims: str) -> None:
    text = by_sizes(f'mode = "{mode}", antialias = 1, exclude_outside = {outside}', dims)
    check(text, [{"x": X, "s": np.array(s)} for s in SIZES], 18)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_smoothing_by_scales(mode: str) -> None:
    text = f"""main (float[N, 2, H, W] x, float[2] s) => (float[a, b, c, d] y)
        {{ y = Resize <mode = "{mode}", antialias = 1, axes = [2, 3]> (x, , s) }}"""
    check(text, [{"x": X, "s": np.array(s, np.float32)} for s in SCALES], 18)


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
def test_smoothing_keeps_aspect_ratios(policy: str) -> None:
    text = f"""main (float[1, 2, H, W] x, int64[2] s) => (float[a, b, c, d] y) {{
        y = Resize <axes = [2, 3], mode = "linear", antialias = 1,
                    keep_aspect_ratio_policy = "{policy}"> (x, , , s)
    }}"""
    check(text, [{"x": X, "s": np.array(s)} for s in SIZES], 18)


def test_kernels_smooth_images_of_any_size() -> None:
    text = """<ir_version: 8, opset_import: ["" : 18]>
    main (float[1, 2, H, W] x) => (float[1, 2, 6, 3] y) <int64[2] s = {6, 3}>
        { y = Resize <mode = "linear", antialias = 1, axes = [2, 3]> (x, , , s) }"""
    made = onnx.parser.parse_model(text)
    session = compile(made)
    assert {step.kind for step in session.manifest.steps} == {"cpu"}
    reference = ort.InferenceSession(made.SerializeToString())
    for shape in ((1, 2, 31, 17), (1, 2, 6, 2), (1, 2, 1, 70)):
        x = np.random.default_rng(1).random(shape, np.float32)
        (expected,) = reference.run(None, {"x": x})
        np.testing.assert_allclose(session.run({"x": x})["y"], expected, 1e-5, 1e-5)


@pytest.mark.parametrize("antialias", [0, 1])
def test_unknown_modes(antialias: int) -> None:
    text = by_sizes(f'mode = "area", antialias = {antialias}')
    made = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]>\n{text}')
    with new_context(), pytest.raises(CompileError, match="has mode 'area', must be one of"):
        import_onnx(made)


RESIZES_OF_BATCHES = [
    'int64[2] s = {6, 3}> { y = Resize <mode = "linear", axes = [2, 3]> (x, , , s) }',
    'int64[2] s = {6, 3}> { y = Resize <mode = "cubic", axes = [2, 3], antialias = 1> (x, , , s) }',
    "float[4] s = {1, 1, 2, 3}> { y = Resize (x, , s) }",
    "float[2] s = {1.5, 0.5}> { y = Resize <axes = [2, 3]> (x, , s) }",
]


@pytest.mark.parametrize("batch", ["N", "0"])
@pytest.mark.parametrize("rest", RESIZES_OF_BATCHES)
def test_a_batch_may_be_empty(rest: str, batch: str) -> None:
    text = f"""<ir_version: 8, opset_import: ["" : 18]>
    main (float[{batch}, 2, H, W] x) => (float[n, 2, a, b] y) <{rest}"""
    made = onnx.parser.parse_model(text)
    session = compile(made, shapes={"N": Range(0)} if batch == "N" else {})
    reference = ort.InferenceSession(made.SerializeToString())
    for size in (0, 2) if batch == "N" else (0,):
        x = np.random.default_rng(1).random((size, 2, 8, 9), np.float32)
        (expected,) = reference.run(None, {"x": x})
        found = session.run({"x": x})["y"]
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, 1e-5, 1e-5)


def test_axes_that_change_must_not_be_empty() -> None:
    text = """<ir_version: 8, opset_import: ["" : 18]>
    main (float[1, 0] x, int64[2] s) => (float[a, b] y) { y = Resize (x, , , s) }"""
    session = compile(onnx.parser.parse_model(text))
    assert session.run({"x": np.ones((1, 0), np.float32), "s": np.array([3, 0])})["y"].size == 0
    with pytest.raises(RunError, match=r"resizes axis 1 of tensor<1x0xf32> to .*, must not be"):
        session.run({"x": np.ones((1, 0), np.float32), "s": np.array([3, 2])})
