"""Tables of resizing: along each axis a new element is a weighted sum of few old elements.

Where sizes are known at compile time, the tables come from the op's own arithmetic, so that kernel
and reference select the same elements. Other tables are computed in a run (`resample.py`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from ....dialects import tri
from ....dialects.core.sizes.atoms import is_symbolic
from ....dialects.core.tensor import Array, Shape, numpy_dtype
from ....dialects.tri.image.interpolation import Axis, Kernel

Buffer = TypeVar("Buffer")
Table = Callable[[Array, str], Buffer]
"""Add a named table of constants to a kernel."""


@dataclass(frozen=True)
class Taps(Generic[Buffer]):
    """Name the old elements of each new element of an axis, and their weights.

    `places` and `weights` are tables of [taps, new elements]; `outside` marks new elements outside
    the axis. A table without information is absent: then the places are the quotient of the new
    places and of `ratio`, (old size, new size), and the weights are 1.
    """

    count: int = 1
    places: Buffer | None = None
    weights: Buffer | None = None
    outside: Buffer | None = None
    ratio: tuple[int, int] = (1, 1)


def axes_of(op: tri.Resize, shape: Shape) -> list[Axis]:
    """Return the axes of a resized tensor of a shape."""
    rank = len(shape)
    crops = op.coordinate_transform == "tf_crop_and_resize"
    starts = op.roi[:rank] if crops else (0.0,) * rank
    ends = op.roi[rank:] if crops else (1.0,) * rank
    return list(map(Axis, shape, op.sizes, op.scales, starts, ends))


def is_computed(op: tri.Resize, axis: Axis) -> bool:
    """Return whether a kernel computes the tables of an axis: its sizes are those of a run."""
    symbolic = is_symbolic(axis.size) or is_symbolic(axis.new_size)
    return symbolic and not axis.unchanged and not repeats_of(op, axis)


def repeats_of(op: tri.Resize, axis: Axis) -> int | None:
    """Return how often each element of an axis is repeated; None where they are not all alike.

    Serves axes whose size is not known: the op's own arithmetic is tried on a few sizes.
    """
    times = axis.new_size // axis.size
    if op.mode != "nearest" or is_symbolic(times) or axis.new_size != times * axis.size:
        return None
    for size in _TRIED:
        tried = Axis(size, size * times, axis.scale, axis.start, axis.end)
        places = tried.nearest(op.coordinate_transform, op.nearest_mode)
        if axis.scale != times or (places != np.arange(size * times) // times).any():
            return None
    return times


_TRIED = (1, 2, 3, 8, 61, 1000)


def taps_of(
    op: tri.Resize,
    axis: Axis,
    dtypes: tuple[str, str],
    table: Table[Buffer],
    divides: bool = False,
) -> Taps[Buffer]:
    """Make the tables of an axis, of the element types of places and of weights.

    With `divides`, places that are a quotient have no table.
    """
    if axis.unchanged:
        return Taps()
    if is_symbolic(axis.new_size) and (times := repeats_of(op, axis)):
        return Taps(ratio=(1, times))
    place_dtype, weight_dtype = map(numpy_dtype, dtypes)
    transform = op.coordinate_transform
    outside = None
    if transform == "tf_crop_and_resize":
        at = axis.coordinates(transform)
        outside = table(((at < 0) | (at > axis.size - 1)).astype(np.int32), "outside")
    if op.mode == "nearest":
        places = axis.nearest(transform, op.nearest_mode)
        quotients = np.arange(axis.new_size) * axis.size // axis.new_size
        if divides and (places == quotients).all():
            return Taps(outside=outside, ratio=(axis.size, axis.new_size))
        return Taps(1, table(places.astype(place_dtype)[None], "places"), None, outside)
    how = Kernel(op.mode, op.cubic_coeff_a, op.exclude_outside, op.antialias)
    places, weights = _nonzero(axis.weights(transform, how))
    factors = table(weights.astype(weight_dtype), "weights")
    return Taps(len(places), table(places.astype(place_dtype), "places"), factors, outside)


def _nonzero(matrix: Array) -> tuple[Array, Array]:
    """Return places and values of the elements that are not zero, as [count, rows] each."""
    count = max(1, int((matrix != 0).sum(1).max(initial=0)))
    # A stable sort puts those first, in order; rows that have fewer are filled up with zeros.
    places = np.argsort(matrix == 0, axis=1, kind="stable")[:, :count]
    return places.T, np.take_along_axis(matrix, places, 1).T
