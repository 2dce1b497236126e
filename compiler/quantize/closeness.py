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


@dataclass
class Sums:
    """Gather what a closeness is made of, pair by pair of arrays."""

    expected: float = 0.0
    got: float = 0.0
    both: float = 0.0
    noise: float = 0.0

    def add(self, x: Array, q: Array) -> None:
        """Take what is expected and what came; the former says nothing where it is not finite."""
        known = np.isfinite(x)
        x, q = x[known].astype(np.float64), q[known].astype(np.float64)
        self.expected += float(np.sum(x * x))
        self.got += float(np.sum(q * q))
        self.both += float(np.sum(x * q))
        self.noise += float(np.sum((x - q) ** 2))

    @property
    def closeness(self) -> Closeness:
        """Return that of all arrays as one; nothing is close when a number is not finite."""
        if not self.noise:
            return Closeness(1.0, math.inf)
        if not self.expected or not math.isfinite(self.noise):
            return Closeness(0.0, -math.inf)
        lengths = math.sqrt(self.expected) * math.sqrt(self.got)
        sqnr = 10 * math.log10(self.expected / self.noise)
        return Closeness(self.both / lengths if self.got else 0.0, sqnr)


def closeness(pairs: Iterable[tuple[Array, Array]]) -> Closeness:
    """Compare what is expected with what came, pair by pair, all numbers as one array."""
    sums = Sums()
    for x, q in pairs:
        sums.add(x, q)
    return sums.closeness
