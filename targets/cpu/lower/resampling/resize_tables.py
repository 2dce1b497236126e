"""Tables of resizing that a kernel computes itself, for axes whose sizes depend on symbols.

The arithmetic is that of `Axis`, in f64, a new element at a time.
"""

from collections.abc import Sequence

from .....dialects import tri
from .....dialects.tri.image.interpolation import Axis, Kernel
from ....kernels.conversion import convert
from ....kernels.lower import resize
from ....kernels.lower.grid_sample import cubic_weight
from ...kernels.buffer import Buffer
from ...kernels.builder import KernelBuilder
from ...kernels.index import IndexExpr, as_index
from ...kernels.loops import each
from ...kernels.value import Value
from ..elementwise import FUNCTIONS

_WIDE = "f64"


def computed_taps(
    op: tri.Resize, axis: Axis, dtypes: tuple[str, str], kernel: KernelBuilder
) -> resize.Taps[Buffer]:
    """Emit the code that makes the tables of an axis; `dtypes` are those of its tables."""
    how = Kernel(op.mode, op.cubic_coeff_a, op.exclude_outside, op.antialias)
    count = 1 if op.mode == "nearest" else 2 * axis.reach(how)
    places = kernel.scratch((count, axis.new_size), dtypes[0])
    factors = None if op.mode == "nearest" else kernel.scratch((count, axis.new_size), dtypes[1])

    def element(at: list[IndexExpr]) -> None:
        where = _coordinate(op.coordinate_transform, axis, at[0])
        if factors is None:
            _store(places, [_rounded(op.nearest_mode, where)], axis, at[0])
            return
        taps, weights = _weighted(axis, how, where)
        _store(places, taps, axis, at[0])
        for number, weight in enumerate(weights):
            factors.store(convert(weight, factors.dtype), [IndexExpr(number), at[0]])

    each((axis.new_size,), element)
    return resize.Taps(count, places, factors)


def _coordinate(transform: str, axis: Axis, number: IndexExpr) -> Value:
    """Return the position of a new element between the old ones."""
    at, size, new_size = map(_number, (number, axis.size, axis.new_size))
    match transform:
        case "asymmetric":
            return at / axis.scale
        case "tf_half_pixel_for_nn":
            return (at + 0.5) / axis.scale
        case "align_corners":
            return at * (size - 1) / (size * axis.scale - 1).maximum(1)
        case "half_pixel_symmetric":
            adjustment = new_size / (size * axis.scale)
            return size / 2 * (1 - adjustment) + (at + 0.5) / axis.scale - 0.5
        case "pytorch_half_pixel":
            return new_size.equal(1).select(at, (at + 0.5) / axis.scale - 0.5)
        case _:
            return (at + 0.5) / axis.scale - 0.5


def _number(index: IndexExpr | int) -> Value:
    return as_index(index).to_value("i64").cast(_WIDE)


def _rounded(rounding: str, at: Value) -> Value:
    floor, ceil = FUNCTIONS[tri.Floor], FUNCTIONS[tri.Ceil]
    match rounding:
        case "round_prefer_floor":
            return ceil(at - 0.5)
        case "round_prefer_ceil":
            return floor(at + 0.5)
        case "floor":
            return floor(at)
        case _:
            return ceil(at)


def _weighted(axis: Axis, how: Kernel, where: Value) -> tuple[list[Value], list[Value]]:
    """Return the old elements that a new one is made of, and their weights, whose sum is 1."""
    reach, squeeze = axis.reach(how), axis.squeeze(how)
    first = FUNCTIONS[tri.Floor](where)
    taps = [first + offset for offset in range(1 - reach, 1 + reach)]
    weights = [_weight(how, ((tap - where) * squeeze).abs()) for tap in taps]
    if how.exclude_outside:
        size = _number(axis.size)
        inside = (tap.greater_equal(0).logical_and(tap.less(size)) for tap in taps)
        weights = [flag.select(w, 0) for flag, w in zip(inside, weights, strict=True)]
    total = weights[0]
    for weight in weights[1:]:
        total = total + weight
    return taps, [weight / total for weight in weights]


def _weight(how: Kernel, distance: Value) -> Value:
    if how.mode == "linear":
        return (1 - distance).maximum(0)
    return cubic_weight(distance, how.cubic_coeff_a)


def _store(places: Buffer, taps: Sequence[Value], axis: Axis, new: IndexExpr) -> None:
    """Store the elements of an axis that are nearest to some places."""
    last = _number(axis.size) - 1
    for number, tap in enumerate(taps):
        nearest = tap.maximum(0).minimum(last)
        places.store(convert(nearest, places.dtype), [IndexExpr(number), new])
