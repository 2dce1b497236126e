"""Resizing of an axis whose scale is known when the model runs, by ops on its positions.

Source: ONNX `Resize`. `Axis` of `dialects/tri/image/interpolation.py` does the same for scales that
are known; formulas and names are the ones there.
"""

from dataclasses import dataclass

import numpy as np

from ....dialects import tri
from ....dialects.core.errors import Unsupported
from ....dialects.core.mlir import ir
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.sizes.checks import need, need_if_any
from ....dialects.core.sizes.dim import ceildiv, highest
from ....dialects.core.tensor import is_float
from .reals import Real, chosen, real
from .values import cast, constant, counted, tensor

CROP = "tf_crop_and_resize"


@dataclass(frozen=True)
class Sampling:
    """Record how new elements are made of old ones: the attributes of ONNX `Resize`.

    The `nearest_mode` "simple" rounds up where an axis shrinks, and down where it grows.
    `antialias` stretches the kernels of other modes where an axis shrinks.
    """

    mode: str
    transform: str
    nearest_mode: str
    cubic_coeff_a: float = -0.75
    exclude_outside: bool = False
    extrapolation_value: float = 0.0
    antialias: bool = False

    @property
    def radius(self) -> int:
        """Return how many elements count on each side of a sample; 0 where one is taken."""
        radii = {"nearest": 0, "linear": 1, "cubic": 2}
        if self.mode not in radii:
            raise Unsupported(f"has mode '{self.mode}', must be one of {', '.join(radii)}")
        return radii[self.mode]

    @property
    def stretches(self) -> bool:
        return self.antialias and self.radius > 0

    def reach(self, old: Size, new: Size) -> Size:
        """Return how many old elements count on each side of a sample, scaled by the sizes."""
        if not self.stretches:
            return self.radius
        return ceildiv(self.radius * highest(old, new), highest(new, 1))


@dataclass(frozen=True)
class Resampled:
    """Describe an axis to resize: its number, its new size, its scale, the part that is resized.

    `reach` is how many old elements count on each side of a sample where the kernel is stretched.
    """

    axis: int
    new_size: Size
    scale: Real
    start: Real | float = 0.0
    end: Real | float = 1.0
    reach: Size = 0


def resample(x: ir.Value, resampled: list[Resampled], how: Sampling) -> ir.Value:
    """Return a tensor with some axes resized, one after the other.

    Raises Invalid where such an axis is empty, and the new one is not.
    """
    for each in resampled:
        old = tensor(x).shape[each.axis]
        fault = f"resizes axis {each.axis} of {tensor(x)} to {each.new_size} elements"
        need(each.new_size, 0, f"{fault}, must be at least 0")
        need_if_any(each.new_size, old, 1, f"{fault}, must not be empty")
    original, dtype = x, tensor(x).dtype
    if how.mode != "nearest":
        x = cast(x, dtype if dtype in ("f32", "f64") else "f32" if is_float(dtype) else "f64")
    positions = [_positions(each, tensor(original).shape[each.axis], how) for each in resampled]
    for each, at in zip(resampled, positions, strict=True):
        make = _smoothed if how.stretches else _along
        x = make(x, each, at, how)
    if how.transform == CROP:
        for each, at in zip(resampled, positions, strict=True):
            x = _extrapolated(x, each.axis, at, tensor(original).shape[each.axis], how)
    return cast(x, dtype)


def _positions(resampled: Resampled, old: Size, how: Sampling) -> Real:
    """Return the position of each new element between the old ones."""
    scale, new = resampled.scale, resampled.new_size
    at = Real(cast(counted(new, (new,)), "f64"))
    last = real(old) - 1
    match how.transform:
        case "asymmetric":
            return at / scale
        case "tf_half_pixel_for_nn":
            return (at + 0.5) / scale
        case "align_corners":
            return at * last / (scale * real(old) - 1).at_least(1)
        case "tf_crop_and_resize":
            start, end = Real.of(resampled.start), Real.of(resampled.end)
            step = (end - start) * last / (real(new) - 1).at_least(1)
            middle = (start + end) / 2 * last
            return chosen(_is_one(new), middle, start * last) + at * step
        case "pytorch_half_pixel":
            return chosen(_is_one(new), at, (at + 0.5) / scale - 0.5)
        case "half_pixel_symmetric":
            adjustment = real(new) / (scale * real(old))
            offset = real(old) / 2 * (Real.of(1.0) - adjustment)
            return offset + (at + 0.5) / scale - 0.5
        case "half_pixel":
            return (at + 0.5) / scale - 0.5
        case other:
            raise Unsupported(f"has coordinate_transformation_mode '{other}'")


def _is_one(size: Size) -> ir.Value:
    return real(size).less(1.5)


def _along(x: ir.Value, resampled: Resampled, at: Real, how: Sampling) -> ir.Value:
    """Make the new elements along one axis, at some positions."""
    axis = resampled.axis
    if how.mode == "nearest":
        return _taken(x, axis, _rounded(at, how.nearest_mode, resampled.scale))
    places = [at.floor() + offset for offset in range(1 - how.radius, 1 + how.radius)]
    weights = [_weight((place - at).abs(), how) for place in places]
    if how.exclude_outside:
        last = real(tensor(x).shape[axis]) - 1
        pairs = zip(places, weights, strict=True)
        weights = [chosen(_outside(p, last), Real.of(0.0), w) for p, w in pairs]
        total = weights[0]
        for weight in weights[1:]:
            total = total + weight
        weights = [weight / total for weight in weights]
    terms = [
        tri.Mul.build(_taken(x, axis, place), _spread(weight, axis, x)).y
        for place, weight in zip(places, weights, strict=True)
    ]
    made = terms[0]
    for term in terms[1:]:
        made = tri.Add.build(made, term).y
    return made


def _smoothed(x: ir.Value, resampled: Resampled, at: Real, how: Sampling) -> ir.Value:
    """Make the new elements along one axis with a kernel that is as wide as what they stand for.

    An axis of the elements that each new one sees, of which there are twice as many as its reach,
    is made behind the axis and summed up.
    """
    axis, count = resampled.axis, 2 * resampled.reach
    last = real(tensor(x).shape[axis]) - 1
    at = Real(tri.Reshape.build(at.value, shape=(resampled.new_size, 1)).y)
    offsets = Real(cast(counted(count, (1, count)), "f64")) - (real(resampled.reach) - 1)
    places = at.floor() + offsets
    weights = _weight(((places - at) * resampled.scale.at_most(1)).abs(), how)
    if how.exclude_outside:
        weights = chosen(_outside(places, last), Real.of(0.0), weights)
    weights = weights / Real(tri.ReduceSum.build(weights.value, axes=(1,)).y)
    taken = _taken(x, axis, places)
    terms = tri.Mul.build(taken, _spread(weights, axis, x)).y
    return tri.ReduceSum.build(terms, axes=(axis + 1,), keepdims=False).y


def _taken(x: ir.Value, axis: int, places: Real) -> ir.Value:
    """Take elements along an axis; those at its ends stand for what is beyond."""
    last = real(tensor(x).shape[axis]) - 1
    return tri.Gather.build(x, places.at_least(0).at_most(last).cast("i64"), axis=axis).y


def _rounded(at: Real, nearest_mode: str, scale: Real) -> Real:
    match nearest_mode:
        case "simple":
            return chosen(scale.less(1), at.ceil(), at.floor())
        case "round_prefer_floor":
            return (at - 0.5).ceil()
        case "round_prefer_ceil":
            return (at + 0.5).floor()
        case "floor":
            return at.floor()
        case "ceil":
            return at.ceil()
        case other:
            raise Unsupported(f"has nearest_mode '{other}'")


def _weight(distance: Real, how: Sampling) -> Real:
    if how.mode == "linear":
        return (Real.of(1.0) - distance).at_least(0)
    d, a = distance, how.cubic_coeff_a
    near = (d * (a + 2) - (a + 3)) * d * d + 1
    far = (((d - 5) * d + 8) * d - 4) * a
    beyond_one = Real.of(1.0).less(d)
    return chosen(d.less(2), chosen(beyond_one, far, near), 0.0)


def _outside(at: Real, last: Real) -> ir.Value:
    return tri.Or.build(at.less(0), last.less(at)).y


def _spread(weight: Real, axis: int, x: ir.Value) -> ir.Value:
    """Return weights of the elements along an axis in a shape that broadcasts to `x`."""
    behind = (1,) * (tensor(x).rank - axis - 1)
    shape = (*tensor(weight.value).shape, *behind)
    return tri.Reshape.build(weight.cast(tensor(x).dtype), shape=shape).y


def _extrapolated(x: ir.Value, axis: int, at: Real, old: Size, how: Sampling) -> ir.Value:
    """Put a constant where an axis sees nothing of the input."""
    (count,) = tensor(at.value).shape
    outside = _outside(at, real(old) - 1)
    shaped = tri.Reshape.build(outside, shape=(count, *(1,) * (tensor(x).rank - axis - 1))).y
    beyond = cast(constant(np.array(how.extrapolation_value)), tensor(x).dtype)
    return tri.Where.build(shaped, beyond, x).y
