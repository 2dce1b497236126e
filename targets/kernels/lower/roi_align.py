"""Arithmetic of `tri.roi_align`: where regions lie along an axis, and where their samples are."""

import math

from ....dialects import tri
from ....dialects.core.sizes.atoms import Size
from ..arithmetic import V
from ..conversion import convert

PLACES = "f64"
"""The type in which samples are placed."""


def region_span(op: tri.RoiAlign, first: V, last: V) -> tuple[V, V]:
    """Return where a region starts along an axis, and its length; one that is NaN stays so."""
    start, end = (
        corner * op.spatial_scale - (0.5 if op.half_pixel else 0.0) for corner in (first, last)
    )
    length = end - start
    least = 0.0 if op.half_pixel else 1.0
    return start, length.is_nan().select(length, length.maximum(least))


def samples_of(length: V, cells: Size) -> V:
    """Return a whole number of samples, one for each element of a cell; 0 in an endless region."""
    # The quotient is of f64, which all targets round to nearest: exact ones must stay whole.
    exact = convert(length, PLACES)
    count = (exact / exact.like(cells)).cast(length.dtype).apply("ceil")
    return count.abs().equal(math.inf).select(count.like(0), count)


def sample_place(start: V, length: V, cell: V, number: V, count: V, cells: Size) -> V:
    """Place a sample of a cell on the axis; all are of type `PLACES`, and `count` is not 0."""
    place = (cell + (number + 0.5) / count) / number.like(cells)
    return start + place * length


def is_seen(at: V, size: Size) -> V:
    """Return whether a sample sees elements: those up to one beyond the axis see its border."""
    return at.greater_equal(-1).logical_and(at.less_equal(size))


def nearest_inside(at: V, size: Size) -> V:
    """Return the nearest place on the axis; 0 of NaN."""
    return at.is_nan().select(at.like(0), at).maximum(0).minimum(size - 1)
