"""Rules for resampling."""

import math

from .....dialects import tri
from .....dialects.core.errors import Invalid, Unsupported
from .....dialects.core.tensor import Shape
from ...core.reals import real
from ...core.resampling import Resampled, Sampling, resample
from ...core.scales import scale_between, scaled
from ...core.values import tensor
from ..registry import Value, torch_op
from ..views import Ints
from .adaptive_pool import average_to

Floats = tuple[float, ...]

MODES = {
    "nearest": "nearest",
    "nearest-exact": "nearest",
    "linear": "linear",
    "bilinear": "linear",
    "trilinear": "linear",
    "bicubic": "cubic",
}
"""Torch's modes and ours."""

CUBIC, CUBIC_OF_ANTIALIAS = -0.75, -0.5
"""Torch's coefficients of cubic interpolation."""


@torch_op("F.interpolate", "F.upsample", "nn.Upsample")
def interpolate(
    input: Value,
    *,
    size: Ints | None = None,
    scale_factor: Floats | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Value:
    shape = tensor(input).shape
    sizes = _sizes(shape, size, scale_factor)
    if mode == "area":
        return average_to(input, sizes)
    if mode not in MODES:
        raise Invalid(f"has mode '{mode}', must be area or one of {', '.join(MODES)}")
    # Where corners are aligned, torch looks at the sizes alone.
    rounds = align_corners or recompute_scale_factor
    keeps_factor = scale_factor is not None and not rounds and size is None
    pixels = shape[2:]
    if keeps_factor and scale_factor is not None:
        scales = _each(scale_factor, len(pixels))
    else:
        known = [scale_between(*pair) for pair in zip(sizes, pixels, strict=True)]
        scales = tuple(scale for scale in known if scale is not None)
    if antialias and mode not in ("bilinear", "bicubic"):
        raise Unsupported(f"has antialias with mode '{mode}', must be bilinear or bicubic")
    if antialias and align_corners:
        raise Unsupported("has antialias with aligned corners, must have one of them")
    if len(scales) < len(pixels):
        return _resampled(input, sizes, mode, bool(align_corners), antialias)
    return tri.Resize.build(
        input,
        sizes=(*shape[:2], *sizes),
        scales=(1.0, 1.0, *scales),
        mode=MODES[mode],
        coordinate_transform=_transform(mode, bool(align_corners)),
        nearest_mode=_nearest(mode),
        cubic_coeff_a=CUBIC_OF_ANTIALIAS if antialias else CUBIC,
        antialias=antialias,
        exclude_outside=antialias,
    ).y


def _resampled(x: Value, sizes: Shape, mode: str, align_corners: bool, antialias: bool) -> Value:
    """Resize axes to sizes, of which the scales are known when the model runs."""
    how = Sampling(
        MODES[mode],
        _transform(mode, align_corners),
        _nearest(mode),
        CUBIC_OF_ANTIALIAS if antialias else CUBIC,
        exclude_outside=antialias,
        antialias=antialias,
    )
    pairs = zip(sizes, tensor(x).shape[2:], strict=True)
    axes = [
        Resampled(2 + axis, wanted, real(wanted) / real(size), reach=how.reach(size, wanted))
        for axis, (wanted, size) in enumerate(pairs)
        if wanted != size
    ]
    return resample(x, axes, how)


def _nearest(mode: str) -> str:
    return "floor" if mode == "nearest" else "round_prefer_ceil"


def _transform(mode: str, align_corners: bool) -> str:
    """Return where in the input an element of the output comes from."""
    if mode == "nearest":
        return "asymmetric"
    return "align_corners" if align_corners and mode != "nearest-exact" else "half_pixel"


def _each(values: Floats, axes: int) -> Floats:
    if len(values) not in (1, axes):
        raise Invalid(f"has scale_factor {values} for {axes} spatial axes")
    return values * axes if len(values) == 1 else values


def _sizes(shape: Shape, size: Ints | None, scale_factor: Floats | None) -> Shape:
    pixels = shape[2:]
    if not pixels or 0 in pixels:
        raise Invalid(f"has an input of shape {list(shape)}, must have pixels")
    if size is not None:
        if len(size) not in (1, len(pixels)):
            raise Invalid(f"has size {size} for {len(pixels)} spatial axes")
        return size * len(pixels) if len(size) == 1 else size
    if scale_factor is None:
        raise Invalid("has neither size nor scale_factor")
    factors = _each(scale_factor, len(pixels))
    if not all(0 < factor < math.inf for factor in factors):
        raise Invalid(f"has scale_factor {scale_factor}, must be above 0")
    return tuple(scaled(d, 1.0, factor) for d, factor in zip(pixels, factors, strict=True))


@torch_op("nn.UpsamplingBilinear2d", "F.upsample_bilinear")
def upsample_bilinear(
    input: Value, *, size: Ints | None = None, scale_factor: Floats | None = None
) -> Value:
    return interpolate(
        input, size=size, scale_factor=scale_factor, mode="bilinear", align_corners=True
    )


@torch_op("nn.UpsamplingNearest2d", "F.upsample_nearest")
def upsample_nearest(
    input: Value, *, size: Ints | None = None, scale_factor: Floats | None = None
) -> Value:
    return interpolate(input, size=size, scale_factor=scale_factor)


@torch_op("F.grid_sample")
def grid_sample(
    input: Value,
    grid: Value,
    *,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> tri.GridSample:
    if mode not in MODES:
        raise Invalid(f"has mode '{mode}', must be nearest, bilinear or bicubic")
    return tri.GridSample.build(
        input,
        grid,
        mode=MODES[mode],
        padding_mode=padding_mode,
        align_corners=bool(align_corners),
    )
