"""Triangles that are evenly spaced on the mel scale, their corners on bins of a spectrum."""

import math
from dataclasses import dataclass

import numpy as np

from ....dialects import tri
from ....dialects.core.errors import Invalid
from ....dialects.core.mlir import ir
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.sizes.checks import need
from ....dialects.core.tensor import Array
from .reals import Real, chosen, real
from .values import cast, constant, counted

WIDTH, KNEE = 2595, 700
"""A frequency is `WIDTH * log10(1 + hertz / KNEE)` mels."""


@dataclass(frozen=True)
class MelScale:
    """Weigh the bins of spectra of a length into bands."""

    bands: Size
    length: Size

    def matrix(self, rate: float, lower: float, upper: float) -> Array:
        """Return a column for each band, of bins of samples at a rate, between two edges in hertz.

        Raises Invalid for numbers that are no such scale.
        """
        if self.bands < 1 or self.length < 1 or not rate > 0:
            text = f"has {self.bands} bands of {self.length} at {rate} Hz"
            raise Invalid(f"{text}, must all be above 0")
        # ONNX's steps end before the highest edge: the one that would reach it is bands + 2.
        lowest, highest = _mel(lower), _mel(upper)
        mels = lowest + (highest - lowest) / (self.bands + 2) * np.arange(self.bands + 2)
        hertz = KNEE * (10 ** (mels / WIDTH) - 1)
        corners = np.floor((self.length + 1) * hertz / rate)[:, None]
        low, center, high = corners[:-2], corners[1:-1], corners[2:]
        bins = np.arange(self.length // 2 + 1)
        rising = (bins - low) / np.maximum(center - low, 1)
        falling = (high - bins) / np.maximum(high - center, 1)
        return np.where(bins == center, 1, np.minimum(rising, falling).clip(0)).T

    def at_run_time(self, rate: ir.Value, lower: ir.Value, upper: ir.Value, dtype: str) -> ir.Value:
        """Compute the matrix when the model runs."""
        for size in (self.bands, self.length):
            need(size, 1, f"has {self.bands} bands of {self.length}, must be above 0")
        low, center, high = (self._corner(rate, lower, upper, place) for place in range(3))
        count = self.length // 2 + 1
        bins = Real(cast(counted(count, (count, 1)), "f64"))
        rising = (bins - low) / (center - low).at_least(1)
        falling = (high - bins) / (high - center).at_least(1)
        is_center = tri.Equal.build(bins.value, center.value).y
        triangle = rising.at_most(falling).at_least(0)
        return chosen(is_center, Real.of(1.0), triangle).cast(dtype)

    def _corner(self, rate: ir.Value, lower: ir.Value, upper: ir.Value, place: int) -> Real:
        """Return the bin of a corner of each band: 0 is its low one, 1 the middle, 2 the high."""
        lowest, highest = _mel_of(lower), _mel_of(upper)
        number = Real(cast(counted(self.bands, (1, self.bands)), "f64")) + place
        mels = lowest + (highest - lowest) / (real(self.bands) + 2) * number
        power = tri.Pow.build(constant(np.array(10.0)), (mels / WIDTH).value).y
        hertz = (Real(power) - 1) * KNEE
        return (real(self.length + 1) * hertz / _scalar(rate)).floor()


def _scalar(value: ir.Value) -> Real:
    return Real(cast(tri.Reshape.build(value, shape=()).y, "f64"))


def _mel_of(edge: ir.Value) -> Real:
    log = Real(tri.Log.build((_scalar(edge) / KNEE + 1).value).y)
    return log / math.log(10) * WIDTH


def _mel(hertz: float) -> float:
    if not 0 <= hertz < math.inf:
        raise Invalid(f"has an edge at {hertz} Hz, must be at least 0")
    return WIDTH * math.log10(1 + hertz / KNEE)
