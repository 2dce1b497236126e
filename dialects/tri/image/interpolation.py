"""Sample positions on a resized axis, and interpolation weights: plain arithmetic.

Source: ONNX `Resize` since 10, which joins the conventions of PyTorch, TensorFlow and others.
"""

import math
from dataclasses import dataclass

import numpy as np

from ...core.sizes.atoms import Size
from ...core.sizes.dim import highest
from ...core.tensor import Array

MODES = ("nearest", "linear", "cubic")
TRANSFORMS = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
)
NEAREST_MODES = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


MOST_WEIGHTS = 1 << 26
"""The most elements of the tables that resample one axis, which compilers and references build."""


@dataclass(frozen=True)
class Axis:
    """Describe the resizing of one axis: its two sizes, its scale, and the part that is resized."""

    size: Size
    new_size: Size
    scale: float
    start: float = 0.0
    end: float = 1.0

    @property
    def unchanged(self) -> bool:
        return self.size == self.new_size and (self.scale, self.start, self.end) == (1, 0, 1)

    def table_size(self, kernel: "Kernel") -> Size:
        """Count the elements of the largest table that resampling the axis needs."""
        if self.unchanged:
            return 0
        if kernel.mode == "nearest":
            return self.new_size
        return self.new_size * highest(self.size, 2 * self.reach(kernel))

    def reach(self, kernel: "Kernel") -> int:
        """Return how many old elements count on each side of a sample."""
        return math.ceil(min(kernel.radius / self.squeeze(kernel), MOST_WEIGHTS))

    def squeeze(self, kernel: "Kernel") -> float:
        """Return by how much distances shrink where a kernel is stretched."""
        return min(self.scale, 1.0) if kernel.antialias else 1.0

    def coordinates(self, transform: str) -> Array:
        """Return the position of each new element between the old ones."""
        at = np.arange(self.new_size, dtype=np.float64)
        last = self.size - 1
        match transform:
            case "asymmetric":
                return at / self.scale
            case "tf_half_pixel_for_nn":
                return (at + 0.5) / self.scale
            case "align_corners":
                return at * last / max(self.scale * self.size - 1, 1)
            case "tf_crop_and_resize" if self.new_size == 1:
                return (self.start + self.end) / 2 * last + at
            case "tf_crop_and_resize":
                step = (self.end - self.start) * last / (self.new_size - 1)
                return self.start * last + at * step
            case "pytorch_half_pixel" if self.new_size == 1:
                return at
            case "half_pixel_symmetric":
                adjustment = self.new_size / (self.scale * self.size)
                return self.size / 2 * (1 - adjustment) + (at + 0.5) / self.scale - 0.5
            case _:
                return (at + 0.5) / self.scale - 0.5

    def nearest(self, transform: str, rounding: str) -> Array:
        """Return the index of the old element that each new one takes."""
        at = self.coordinates(transform)
        rounded = {
            "round_prefer_floor": np.ceil(at - 0.5),
            "round_prefer_ceil": np.floor(at + 0.5),
            "floor": np.floor(at),
            "ceil": np.ceil(at),
        }[rounding]
        return rounded.clip(0, self.size - 1).astype(np.int64)

    def weights(self, transform: str, kernel: "Kernel") -> Array:
        """Return the matrix [new size, size] by which old elements make new ones."""
        at = self.coordinates(transform)
        squeeze, reach = self.squeeze(kernel), self.reach(kernel)
        taps = np.floor(at)[:, None] + np.arange(1 - reach, 1 + reach)
        weights = kernel((taps - at[:, None]) * squeeze)
        if kernel.exclude_outside:
            weights *= (taps >= 0) & (taps < self.size)
        weights /= weights.sum(1, keepdims=True)
        matrix = np.zeros((self.new_size, self.size))
        rows = np.arange(self.new_size)[:, None]
        columns = taps.clip(0, self.size - 1).astype(np.int64)
        np.add.at(matrix, (rows, columns), weights)
        return matrix


@dataclass(frozen=True)
class Kernel:
    """Give the weight of an element by its distance from a sample.

    Source of the cubic one: Keys, "Cubic convolution interpolation", 1981. With `antialias`, it
    is stretched when an axis shrinks; with `exclude_outside`, elements beyond the ends count
    nothing, and otherwise the elements at the ends stand for them.
    """

    mode: str
    cubic_coeff_a: float = -0.75
    exclude_outside: bool = False
    antialias: bool = False

    @property
    def radius(self) -> int:
        return 1 if self.mode == "linear" else 2

    def __call__(self, distance: Array) -> Array:
        d, a = np.abs(distance), self.cubic_coeff_a
        if self.mode == "linear":
            return np.maximum(1 - d, 0)
        near = ((a + 2) * d - (a + 3)) * d * d + 1
        far = (((d - 5) * d + 8) * d - 4) * a
        return np.where(d <= 1, near, np.where(d < 2, far, 0))
