"""Arithmetic of resizing, in f64, on numbers of a kernel: for axes whose sizes depend on symbols.

It is that of `Axis`, of one new element or of several.
"""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ....dialects import tri
from ....dialects.tri.image.interpolation import Axis, Kernel
from ..arithmetic import Arithmetic
from .grid_sample import cubic_weight
from .shared import Functions

V = TypeVar("V", bound=Arithmetic[Any])

WIDE = "f64"


@dataclass(frozen=True)
class Resampling(Generic[V]):
    """Locate new elements of an axis between the old ones; `size` and `new_size` are numbers."""

    op: tri.Resize
    axis: Axis
    size: V
    new_size: V
    functions: Functions

    @property
    def count(self) -> int:
        """Return how many old elements make a new one."""
        return 1 if self.op.mode == "nearest" else 2 * self.axis.reach(self._kernel)

    @property
    def crops(self) -> bool:
        """Return whether new elements may lie outside of the axis."""
        return self.op.coordinate_transform == "tf_crop_and_resize"

    def coordinate(self, at: V) -> V:
        """Return the positions of new elements between the old ones."""
        axis, size, new_size = self.axis, self.size, self.new_size
        match self.op.coordinate_transform:
            case "asymmetric":
                return at / axis.scale
            case "tf_half_pixel_for_nn":
                return (at + 0.5) / axis.scale
            case "align_corners":
                return at * (size - 1) / (size * axis.scale - 1).maximum(1)
            case "tf_crop_and_resize":
                middle = (size - 1) * ((axis.start + axis.end) / 2)
                step = (size - 1) * (axis.end - axis.start) / (new_size - 1).maximum(1)
                first = (size - 1) * axis.start
                return new_size.equal(1).select(middle + at, first + at * step)
            case "half_pixel_symmetric":
                adjustment = new_size / (size * axis.scale)
                return size / 2 * (1 - adjustment) + (at + 0.5) / axis.scale - 0.5
            case "pytorch_half_pixel":
                return new_size.equal(1).select(at, (at + 0.5) / axis.scale - 0.5)
            case _:
                return (at + 0.5) / axis.scale - 0.5

    def outside(self, where: V) -> V:
        """Return whether positions are outside of the axis."""
        return where.less(0).logical_or(where.greater(self.size - 1))

    def taps(self, where: V) -> tuple[list[V], list[V]]:
        """Return the old elements that count at positions, and their weights, whose sum is 1."""
        if self.op.mode == "nearest":
            return [self._inside(self._rounded(where))], []
        how, squeeze = self._kernel, self.axis.squeeze(self._kernel)
        reach = self.axis.reach(how)
        first = self.functions[tri.Floor](where)
        taps = [first + offset for offset in range(1 - reach, 1 + reach)]
        weights = [_weight(how, ((tap - where) * squeeze).abs()) for tap in taps]
        if how.exclude_outside:
            inside = (tap.greater_equal(0).logical_and(tap.less(self.size)) for tap in taps)
            weights = [flag.select(w, 0) for flag, w in zip(inside, weights, strict=True)]
        total = weights[0]
        for weight in weights[1:]:
            total = total + weight
        return list(map(self._inside, taps)), [weight / total for weight in weights]

    @property
    def _kernel(self) -> Kernel:
        op = self.op
        return Kernel(op.mode, op.cubic_coeff_a, op.exclude_outside, op.antialias)

    def _rounded(self, where: V) -> V:
        floor, ceil = self.functions[tri.Floor], self.functions[tri.Ceil]
        match self.op.nearest_mode:
            case "round_prefer_floor":
                return ceil(where - 0.5)
            case "round_prefer_ceil":
                return floor(where + 0.5)
            case "floor":
                return floor(where)
            case _:
                return ceil(where)

    def _inside(self, place: V) -> V:
        return place.maximum(0).minimum(self.size - 1)


def _weight(how: Kernel, distance: V) -> V:
    if how.mode == "linear":
        return (1 - distance).maximum(0)
    return cubic_weight(distance, how.cubic_coeff_a)
