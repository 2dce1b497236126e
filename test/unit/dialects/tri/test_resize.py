import numpy as np
import pytest
from trivium.dialects import tri
from trivium.dialects.core.errors import Invalid
from trivium.dialects.core.tensor import Tensor

torch = pytest.importorskip("torch")
functional = torch.nn.functional

MODES = {"nearest": "nearest", "linear": "bilinear", "cubic": "bicubic"}
IMAGE = np.random.default_rng(0).standard_normal((2, 3, 7, 9)).astype(np.float32)


def resized(x, size, **attributes):
    sizes = (*x.shape[:2], *size)
    scales = tuple(new / old for new, old in zip(sizes, x.shape, strict=True))
    return tri.Resize(sizes=sizes, scales=scales, **attributes).reference(x)


@pytest.mark.parametrize("size", [(7, 13), (14, 18), (3, 4), (2, 27), (7, 9)])
@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_interpolation_is_what_torch_computes(size, align, mode):
    transform = "align_corners" if align else "pytorch_half_pixel"
    got = resized(IMAGE, size, mode=mode, coordinate_transform=transform)
    want = functional.interpolate(torch.tensor(IMAGE), size, mode=MODES[mode], align_corners=align)
    np.testing.assert_allclose(got, want, 1e-4, 1e-5)


@pytest.mark.parametrize("size", [(3, 4), (14, 18), (5, 20)])
@pytest.mark.parametrize(("mode", "a"), [("linear", -0.75), ("cubic", -0.5)])
def test_antialiased_interpolation_is_what_torch_computes(size, mode, a):
    got = resized(IMAGE, size, mode=mode, antialias=True, exclude_outside=True, cubic_coeff_a=a)
    want = functional.interpolate(
        torch.tensor(IMAGE), size, mode=MODES[mode], antialias=True, align_corners=False
    )
    np.testing.assert_allclose(got, want, 1e-4, 1e-5)


@pytest.mark.parametrize("size", [(3, 4), (14, 18), (5, 20)])
@pytest.mark.parametrize(
    ("mode", "transform", "nearest_mode"),
    [("nearest", "asymmetric", "floor"), ("nearest-exact", "half_pixel", "round_prefer_ceil")],
)
def test_nearest_is_what_torch_computes(size, mode, transform, nearest_mode):
    got = resized(IMAGE, size, coordinate_transform=transform, nearest_mode=nearest_mode)
    want = functional.interpolate(torch.tensor(IMAGE), size, mode=mode)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("nearest_mode", "want"),
    [
        ("round_prefer_floor", [0, 2, 4]),
        ("round_prefer_ceil", [1, 3, 5]),
        ("floor", [0, 2, 4]),
        ("ceil", [1, 3, 5]),
    ],
)
def test_a_tie_goes_where_the_nearest_mode_says(nearest_mode, want):
    x = np.arange(6, dtype=np.float32)  # samples are at 0.5, 2.5 and 4.5
    got = tri.Resize(sizes=(3,), scales=(0.5,), nearest_mode=nearest_mode).reference(x)
    assert got.tolist() == want


def test_cropping_puts_the_extrapolation_value_outside():
    x = np.array([[1, 2, 3, 4]], np.float32)
    got = tri.Resize(
        sizes=(1, 4),
        scales=(1.0, 1.0),
        mode="linear",
        coordinate_transform="tf_crop_and_resize",
        extrapolation_value=9.0,
        roi=(0.0, 0.5, 1.0, 1.5),
    ).reference(x)
    assert got.tolist() == [[2.5, 3.5, 9, 9]]


def test_integers_are_interpolated_and_cut_off():
    x = np.array([[0, 3]], np.uint8)
    got = tri.Resize(sizes=(1, 4), scales=(1.0, 2.0), mode="linear").reference(x)
    assert (got.dtype, got.tolist()) == (np.uint8, [[0, 0, 2, 3]])


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", list(MODES))
def test_grid_sample_is_what_torch_computes(mode, padding_mode, align_corners):
    grid = np.random.default_rng(1).uniform(-2, 2, (2, 4, 5, 2)).astype(np.float32)
    got = tri.GridSample(
        mode=mode, padding_mode=padding_mode, align_corners=align_corners
    ).reference(IMAGE, grid)
    want = functional.grid_sample(
        torch.tensor(IMAGE), torch.tensor(grid), MODES[mode], padding_mode, align_corners
    )
    np.testing.assert_allclose(got, want, 1e-4, 1e-5)


@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_grid_sample_of_volumes_is_what_torch_computes(mode, padding_mode):
    rng = np.random.default_rng(2)
    x = rng.standard_normal((2, 3, 4, 5, 6)).astype(np.float32)
    grid = rng.uniform(-2, 2, (2, 3, 4, 2, 3)).astype(np.float32)
    got = tri.GridSample(mode=mode, padding_mode=padding_mode).reference(x, grid)
    want = functional.grid_sample(
        torch.tensor(x), torch.tensor(grid), MODES[mode], padding_mode, align_corners=False
    )
    np.testing.assert_allclose(got, want, 1e-4, 1e-5)


X = Tensor((1, 2, 4), "f32")
SAME = {"sizes": (1, 2, 4), "scales": (1.0, 1.0, 1.0)}


@pytest.mark.parametrize(
    ("x", "changed", "message"),
    [
        (X, {"sizes": (1, 2)}, "sizes has 2 entries, must have 3"),
        (X, {"scales": (1.0,)}, "scales has 1 entries, must have 3"),
        (X, {"sizes": (1, -1, 4)}, r"sizes is \(1, -1, 4\), must be at least 0"),
        (Tensor((1, 0, 4), "f32"), {}, "must not be empty along axis 1"),
        (X, {"mode": "bilinear"}, "mode is 'bilinear', must be one of nearest, linear, cubic"),
        (
            X,
            {"coordinate_transform": "x"},
            "coordinate_transform is 'x', must be one of half_pixel",
        ),
        (X, {"nearest_mode": "up"}, "nearest_mode is 'up', must be one of round_prefer_floor"),
        (
            X,
            {"coordinate_transform": "tf_crop_and_resize"},
            "roi has 0 entries, must have 6",
        ),
        (
            Tensor((1, 2, 4), "i1"),
            {"mode": "linear"},
            "element type is i1, mode 'linear' must have a number",
        ),
    ],
)
def test_resize_refuses_what_does_not_fit(x, changed, message):
    with pytest.raises(Invalid, match=message):
        tri.Resize(**SAME | changed).infer(x)


@pytest.mark.parametrize(
    ("grid", "changed", "message"),
    [
        (Tensor((1, 5, 1), "i32"), {}, "grid has element type i32, must be a float"),
        (Tensor((1, 5), "f32"), {}, "input has rank 3, grid 2, must be the same, 3 or more"),
        (Tensor((2, 5, 1), "f32"), {}, "grid is tensor<2x5x1xf32>, must have 1 batches and 1 axes"),
        (Tensor((1, 5, 2), "f32"), {}, "grid is tensor<1x5x2xf32>, must have 1 batches and 1 axes"),
        (Tensor((1, 5, 1), "f32"), {"mode": "x"}, "mode is 'x', must be one of nearest"),
        (
            Tensor((1, 5, 1), "f32"),
            {"padding_mode": "x"},
            "padding_mode is 'x', must be one of zeros",
        ),
    ],
)
def test_grid_sample_refuses_what_does_not_fit(grid, changed, message):
    with pytest.raises(Invalid, match=message):
        tri.GridSample(**changed).infer(X, grid)


def size_after(x, sizes, scales, **attributes):
    return tri.Resize(sizes=sizes, scales=scales, **attributes).infer(Tensor(x, "f32")).shape


def test_tables_of_an_axis_have_a_bounded_size():
    assert size_after((1, 64), (1, 1 << 20), (1.0, 16384.0), mode="linear") == (1, 1 << 20)
    with pytest.raises(Invalid, match="needs 268435456 weights to resample axis 1"):
        size_after((1, 64), (1, 1 << 22), (1.0, 65536.0), mode="cubic")
    with pytest.raises(Invalid, match="needs 1000000000 weights"):
        size_after((8,), (10**9,), (1.25e8,))
    with pytest.raises(Invalid, match="to resample axis 0"):
        size_after((8,), (8,), (1e-310,), mode="linear", antialias=True)


def test_an_axis_that_stays_needs_no_table():
    assert size_after((10**9, 2), (10**9, 3), (1.0, 1.5), mode="linear") == (10**9, 3)


@pytest.mark.parametrize("scale", [float("nan"), float("inf"), 0.0])
def test_scales_are_positive_and_finite(scale):
    with pytest.raises(Invalid, match="must be above 0 and finite"):
        size_after((2,), (2,), (scale,))
