"""Coordinates and weights of grid sampling along one axis of an image."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ....dialects import tri
from ..arithmetic import V, compute_dtype, float_dtype
from .shared import Functions, Value

_CUBIC = -0.75
_REACH = {"nearest": (0, 1), "linear": (0, 2), "cubic": (-1, 3)}
"""The offsets of the elements that a point reads, from the element at or before the point."""

Remainder = Callable[[Any, Any], Any]
"""The remainder of a value that is not negative, by a positive number."""


class Tap(NamedTuple):
    """Describe an element that a point reads: its index and weight, and whether it exists."""

    index: Any
    exists: Any
    weight: Any


def sample_dtype(op: tri.GridSample, dtype: str) -> str:
    """Return the element type in which samples of an image are summed."""
    return compute_dtype(dtype) if op.mode == "nearest" else float_dtype(dtype)


def taps_of(
    op: tri.GridSample, point: Value, size: int | Value, functions: Functions, remainder: Remainder
) -> Iterator[Tap]:
    """Yield the elements of one axis that points, by their coordinates on it, read.

    A size that is not known at compile time is a number of the type of the points.
    """
    low, high = (0.0, size - 1.0) if op.align_corners else (-0.5, size - 0.5)
    at = _place(op, point, size)

    def inside(place: Value) -> Value:
        return _inside(place, low, high, size, op.padding_mode, remainder)

    if op.mode == "nearest":
        at = functions[tri.Round](at)
    if op.mode != "cubic":
        at = inside(at)
    for offset in range(*_REACH[op.mode]):
        tap = functions[tri.Floor](at) + offset
        distance = (tap - at).abs()
        cubic = op.mode == "cubic"
        weight = cubic_weight(distance, _CUBIC) if cubic else (1 - distance).maximum(0)
        index = inside(tap)
        exists = index.greater_equal(0).logical_and(index.less(size))
        yield Tap(index.maximum(0).minimum(size - 1), exists, weight)


def _place(op: tri.GridSample, point: Value, size: int | Value) -> Value:
    """Return where points are between the elements of an axis."""
    if not op.normalized:
        return point
    above = point + 1
    return above * 0.5 * (size - 1) if op.align_corners else (above * size - 1) * 0.5


def _inside(
    at: Value,
    low: float,
    high: float | Value,
    size: int | Value,
    padding_mode: str,
    remainder: Remainder,
) -> Value:
    """Map coordinates into the axis by the padding mode."""
    if padding_mode == "zeros":
        return at
    if padding_mode == "reflection":
        period = (high - low) * 2
        if period == 0:
            return at.like(0)
        # Periods are 2 or more, or 0 where an axis has one element, from which none is far.
        divisor: Any = period if isinstance(period, int | float) else period.maximum(1)
        distance = remainder((at - low).abs(), divisor)
        at = distance.minimum(period - distance) + low
    return at.maximum(0).minimum(size - 1)


def cubic_weight(d: V, a: float) -> V:
    """Compute the weight of an element at distance d >= 0 (Keys, 1981)."""
    near = ((d * (a + 2) - (a + 3)) * d) * d + 1
    far = (((d - 5) * d + 8) * d - 4) * a
    return d.less_equal(1).select(near, d.less(2).select(far, 0))
