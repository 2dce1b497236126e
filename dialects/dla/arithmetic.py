"""Attributes, checks and arithmetic that an op on tensors and the op on its tiles share."""

from collections.abc import Sequence

import numpy as np

from ..core.errors import Invalid, need_one_of
from ..core.numerics.integers import Factor, Integers, Values, Window, combined, finish, pooled
from ..core.tensor import Shape
from .dialect import HIGH, LOW, need_bounds, need_scaling

CONV_MODES = ("dense", "depthwise")
POOL_MODES = ("max", "average")
DIVISORS = ("none", "inside")
OPERATORS = ("add", "mul", "max", "min")

MOST_TAPS = 1 << 22
"""The most bytes whose sum, times a multiplier of 31 bits, can be divided in 64 bits."""
MOST_DIVISOR = 1 << 61


class Requantized:
    """The attributes of an op that rounds its results, adds a zero point, and clamps them."""

    source_zero: int = 0
    rounding: str = "half_away"
    destination_zero: int = 0
    low: int = LOW
    high: int = HIGH

    def check_scales(self, multipliers: Sequence[int], shifts: Sequence[int], *zeros: int) -> None:
        """Raise Invalid for factors, zero points or bounds out of range."""
        zeros = (self.source_zero, *zeros, self.destination_zero)
        need_scaling(multipliers, shifts, self.rounding, *zeros)
        need_bounds(self.low, self.high)

    def clamp(self, y: Integers) -> Values:
        """Add the zero point of the result to rounded numbers, and clamp them."""
        return finish(y, self.destination_zero, self.low, self.high)


class Convolution(Requantized):
    """The attributes of convolutions."""

    mode: str = "dense"

    def check_mode(self) -> None:
        """Raise Invalid for an unknown mode."""
        need_one_of("mode", self.mode, CONV_MODES)


class Rescaled(Requantized):
    """The attributes of an op with one multiplier and one shift."""

    multiplier: int = 1
    shift: int = 0

    def check_scale(self) -> None:
        """Raise Invalid for attributes out of range."""
        self.check_scales((self.multiplier,), (self.shift,))

    @property
    def factor(self) -> Factor:
        """Return multiplier / 2^shift."""
        return Factor(self.multiplier, self.shift, self.rounding)

    def rescale(self, x: Values) -> Values:
        """Return clamp(round((x - source_zero) * multiplier / 2^shift) + destination_zero)."""
        return self.clamp(self.factor.times(x.astype(np.int64) - self.source_zero))


class Pooling(Rescaled):
    """The attributes of pools."""

    mode: str
    divisor: str = "none"

    def check_pool(self, window: Window, sizes: Shape) -> None:
        """Raise Invalid unless pools of images of these sizes can be computed exactly."""
        self.check_scale()
        need_one_of("mode", self.mode, POOL_MODES)
        need_one_of("divisor", self.divisor, DIVISORS)
        if window.misses(sizes):
            raise Invalid("pools a window that has nothing of the image")
        if window.taps > MOST_TAPS:
            raise Invalid(f"pools windows of {window.taps} values, must be at most {MOST_TAPS}")
        exact = window.taps << self.shift <= MOST_DIVISOR
        if self.mode == "average" and self.divisor == "inside" and not exact:
            raise Invalid(f"divides by {window.taps} << {self.shift}, which must be at most 2^61")

    def pool(self, x: Values, window: Window) -> Values:
        """Return the pool of an image."""
        y = pooled(x, window, self.mode, self.divisor, self.source_zero, self.factor)
        return self.clamp(y)


class Combination(Rescaled):
    """The attributes of ops that combine two images."""

    operator: str
    other_zero: int = 0
    other_multiplier: int = 1

    def check_combination(self) -> None:
        """Raise Invalid for attributes out of range."""
        need_one_of("operator", self.operator, OPERATORS)
        factors = (self.multiplier, self.other_multiplier)
        self.check_scales(factors, (self.shift,), self.other_zero)

    def combine(self, a: Values, b: Values) -> Values:
        """Return the combination of two images."""
        zeros = (self.source_zero, self.other_zero)
        y = combined(a, b, self.operator, zeros, self.other_multiplier, self.factor)
        return self.clamp(y)
