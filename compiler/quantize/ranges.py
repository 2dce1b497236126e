"""From the numbers that a value had to the range that its integers stand for, by four methods.

All but `minmax` cut off what is rare: it saturates, so that the rest is finer. They look at a
histogram of the sizes of numbers, and cut both sides at one size.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ...dialects.core.quantized import QuantizedType, storage_range
from ...dialects.core.tensor import Array

BINS = 2048
METHODS = ("minmax", "percentile", "kl", "mse")


def _no_counts() -> Array:
    return np.zeros(BINS, np.int64)


@dataclass
class Seen:
    """Gather the numbers that a value has: bounds first, then how many are of which size."""

    least: float = 0.0
    most: float = 0.0
    counts: Array = field(default_factory=_no_counts)

    @staticmethod
    def within(bounds: "Seen") -> "Seen":
        """Return what has the bounds of another, and no counts yet."""
        return Seen(bounds.least, bounds.most)

    def merge(self, other: "Seen") -> "Seen":
        """Return what was seen in the numbers of both; counts need equal bounds."""
        least, most = min(self.least, other.least), max(self.most, other.most)
        return Seen(least, most, self.counts + other.counts)

    @property
    def reach(self) -> float:
        """Return the largest size of a number."""
        return max(-self.least, self.most)

    def widen(self, array: Array) -> None:
        """Take the bounds of an array, which always have zero between them."""
        if array.size:
            self.least = min(self.least, float(array.min()))
            self.most = max(self.most, float(array.max()))

    def count(self, array: Array) -> None:
        """Count the sizes of numbers, after all bounds are known; zeros say nothing."""
        sizes = np.abs(array[array != 0], dtype=np.float64)
        if sizes.size:
            self.counts += np.histogram(sizes, BINS, (0.0, self.reach))[0]


@dataclass(frozen=True)
class Form:
    """Describe the integers that values become, and the range beyond which values are clipped."""

    storage: str = "i8"
    symmetric: bool = False
    method: str = "minmax"
    percentile: float = 99.99

    @property
    def levels(self) -> int:
        """Count the integers that sizes of numbers are rounded to."""
        low, high = storage_range(self.storage)
        return high - low + 1 >> 1

    def kind_of(self, seen: Seen) -> QuantizedType:
        """Return the quantised type for the numbers that were seen."""
        limit = seen.reach if self.method == "minmax" else THRESHOLDS[self.method](seen, self)
        return self._kind(max(seen.least, -limit), min(seen.most, limit))

    def _kind(self, least: float, most: float) -> QuantizedType:
        low, high = storage_range(self.storage)
        if self.symmetric:
            middle = 0 if low < 0 else high + 1 >> 1
            scale = _scale(max(-least, most) / (high - middle))
            return QuantizedType.of(self.storage, [scale], [middle])
        scale = _scale((most - least) / (high - low))
        zero = round(low - least / scale)
        return QuantizedType.of(self.storage, [scale], [min(max(zero, low), high)])


def _scale(scale: float) -> float:
    """Round to f32; nothing but zeros has the scale 1."""
    return float(np.float32(scale)) or 1.0


def percentile_threshold(seen: Seen, form: Form) -> float:
    """Return the size that so many percent of all numbers but zeros have at most."""
    total = seen.counts.sum()
    if not total:
        return seen.reach
    wanted = total * form.percentile / 100
    index = int(np.sum(np.cumsum(seen.counts) < wanted))
    return seen.reach * min(index + 1, BINS) / BINS


def kl_threshold(seen: Seen, form: Form) -> float:
    """Return the size to cut at that changes the distribution of sizes least, by its entropy.

    The divergence of Kullback and Leibler is between the counts up to there, with the rest in the
    last bin, and those spread evenly over as many levels as there are integers. Source: Migacz,
    "8-bit inference with TensorRT", 2017.
    """
    counts, levels = seen.counts.astype(np.float64), min(form.levels, BINS // 16)
    if not counts.sum():
        return seen.reach
    found = [(_divergence(counts, end, levels), end) for end in range(levels, BINS + 1, 8)]
    return seen.reach * min(found)[1] / BINS


def _divergence(counts: Array, end: int, levels: int) -> float:
    wanted = counts[:end].copy()
    wanted[-1] += counts[end:].sum()
    present = counts[:end] > 0
    level = np.arange(end) * levels // end
    sums = np.bincount(level, counts[:end], levels)
    filled = np.bincount(level, present, levels)
    rough = np.where(present, (sums / np.maximum(filled, 1))[level], 0.0)
    if not rough.sum():
        return np.inf
    p, q = wanted / wanted.sum(), rough / rough.sum()
    q = np.where((p > 0) & (q == 0), 1e-9, q)  # the last bin may have what was cut off alone
    some = p > 0
    return float(np.sum(p[some] * np.log(p[some] / q[some])))


def mse_threshold(seen: Seen, form: Form) -> float:
    """Return the size to cut at that leaves the least mean squared error of all numbers."""
    if not seen.counts.sum():
        return seen.reach
    middles = (np.arange(BINS) + 0.5) * seen.reach / BINS
    found: list[tuple[float, float]] = []
    for part in range(20, 101):
        limit = seen.reach * part / 100
        step = limit / (form.levels - 1)
        rounded = np.minimum(np.rint(middles / step), form.levels - 1) * step
        found.append((float(np.sum(seen.counts * (middles - rounded) ** 2)), limit))
    return min(found)[1]


THRESHOLDS: dict[str, Callable[[Seen, Form], float]] = {
    "percentile": percentile_threshold,
    "kl": kl_threshold,
    "mse": mse_threshold,
}
