"""Extents: which bytes of a space a packet touches, and when two of them share any."""

from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Extent:
    """Name the bytes that a packet touches: runs of them, at strides from a start in a space."""

    space: str
    start: int
    run: int
    counts: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()

    @property
    def steps(self) -> list[tuple[int, int]]:
        """List counts with their strides; how far apart no others are does not matter."""
        return [each for each in zip(self.counts, self.strides, strict=True) if each[0] > 1]

    @property
    def bytes(self) -> int:
        """Return how many bytes are touched, repeated ones as often as they are."""
        return prod(self.counts) * self.run

    @property
    def end(self) -> int:
        """Return the address after the last byte, the start if there is none."""
        if not self.bytes:
            return self.start
        steps = zip(self.counts, self.strides, strict=True)
        return self.start + sum((count - 1) * stride for count, stride in steps) + self.run

    def starts(self) -> npt.NDArray[np.int64]:
        """Return where the runs start, in ascending order."""
        found = np.array([self.start], np.int64)
        for count, stride in zip(self.counts, self.strides, strict=True):
            found = (found[:, None] + np.arange(count, dtype=np.int64) * stride).reshape(-1)
        return np.sort(found)


def extent_fault(extent: Extent, size: int | None) -> str | None:
    """Say why an extent is not within a space of a size, or None when it is."""
    if size is None:
        return f"touches {extent.space}, which there is not"
    if extent.start < 0 or min((*extent.strides, 0)) < 0 or extent.end > size:
        return f"touches bytes {extent.start} to {extent.end} of {extent.space}, which has {size}"
    if extent.bytes > size:
        return f"touches {extent.bytes} bytes of {extent.space}, which has {size}"
    return None


def repeats(extent: Extent) -> bool:
    """Say whether an extent names a byte more than once."""
    within = extent.run
    for count, stride in reversed(list(zip(extent.counts, extent.strides, strict=True))):
        if count > 1 and stride < within:
            return True
        within += (count - 1) * stride
    return False


def share_bytes(first: Extent, second: Extent) -> bool:
    """Say whether two extents, both within their spaces, have a byte in common."""
    if first.space != second.space or not (first.bytes and second.bytes):
        return False
    if first.end <= second.start or second.end <= first.start:
        return False
    starts, others = first.starts(), second.starts()
    # Of the runs that start before another one's end, the last one ends last.
    before = np.searchsorted(starts, others + second.run) - 1
    return bool(((before >= 0) & (starts[before] + first.run > others)).any())


def view(data: npt.NDArray[np.generic], extent: Extent) -> npt.NDArray[np.generic]:
    """Return an extent of a space as an array of shape counts and run; it must be within."""
    if not extent.bytes:
        return np.empty((*extent.counts, extent.run), data.dtype)
    shape, strides = (*extent.counts, extent.run), (*extent.strides, 1)
    return np.ndarray(shape, data.dtype, data.data, extent.start, strides)
