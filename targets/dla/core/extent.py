"""Extents: the bytes of a space that a packet accesses, and their overlaps."""

from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Extent:
    """Runs of bytes of a space, at strides from a start."""

    space: str
    start: int
    run: int
    counts: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()

    @property
    def steps(self) -> list[tuple[int, int]]:
        """List counts with their strides; the stride of a single element is omitted."""
        return [each for each in zip(self.counts, self.strides, strict=True) if each[0] > 1]

    @property
    def bytes(self) -> int:
        """Return the number of bytes accessed, repeated ones counted each time."""
        return prod(self.counts) * self.run

    @property
    def end(self) -> int:
        """Return the address after the last byte, the start if there is none."""
        if not self.bytes:
            return self.start
        steps = zip(self.counts, self.strides, strict=True)
        return self.start + sum((count - 1) * stride for count, stride in steps) + self.run

    def starts(self) -> npt.NDArray[np.int64]:
        """Return the starts of the runs, in ascending order."""
        found = np.array([self.start], np.int64)
        for count, stride in zip(self.counts, self.strides, strict=True):
            found = (found[:, None] + np.arange(count, dtype=np.int64) * stride).reshape(-1)
        return np.sort(found)


def extent_fault(extent: Extent, size: int | None) -> str | None:
    """Return why an extent is not within a space of a size, or None if it is."""
    if size is None:
        return f"touches {extent.space}, which does not exist"
    if extent.start < 0 or min((*extent.strides, 0)) < 0 or extent.end > size:
        return f"touches bytes {extent.start} to {extent.end} of {extent.space}, which has {size}"
    if extent.bytes > size:
        return f"touches {extent.bytes} bytes of {extent.space}, which has {size}"
    return None


def repeats(extent: Extent) -> bool:
    """Report whether an extent contains a byte more than once."""
    within = extent.run
    for count, stride in reversed(list(zip(extent.counts, extent.strides, strict=True))):
        if count > 1 and stride < within:
            return True
        within += (count - 1) * stride
    return False


def share_bytes(first: Extent, second: Extent) -> bool:
    """Report whether two extents, both within their spaces, overlap."""
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
