"""How close numbers are to what they should be."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ...dialects.core.tensor import Array


@dataclass(frozen=True)
class Closeness:
    """Hold the cosine of the angle between two arrays, and how far apart they are in decibels.

    `sqnr` is the ratio of signal to quantisation noise, 10 log10(sum(x²) / sum((x - q)²)): infinite
    where nothing differs.
    """

    cosine: float
    sqnr: float


def closeness(pairs: Iterable[tuple[Array, Array]]) -> Closeness:
    """Compare what is expected with what came, pair by pair, all numbers as one array.

    Those that are expected not to be finite are left out; where another is not, nothing is close.
    """
    expected = got = both = noise = 0.0
    for x, q in pairs:
        known = np.isfinite(x)
        x, q = x[known].astype(np.float64), q[known].astype(np.float64)
        expected += float(np.sum(x * x))
        got += float(np.sum(q * q))
        both += float(np.sum(x * q))
        noise += float(np.sum((x - q) ** 2))
    if not noise:
        return Closeness(1.0, math.inf)
    if not expected or not math.isfinite(noise):
        return Closeness(0.0, -math.inf)
    cosine = both / math.sqrt(expected) / math.sqrt(got) if got else 0.0
    return Closeness(cosine, 10 * math.log10(expected / noise))
