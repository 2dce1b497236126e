"""Arithmetic on shapes that a run computes: as ops, where `Size`s cannot say what must be known.

Whether a size is -1, or a place counts from the end of an axis, is a matter of the elements.
"""

from collections.abc import Sequence

import numpy as np

from .....dialects import tri
from .....dialects.core.mlir import ir
from .....dialects.core.sizes.atoms import Size
from ..values import cast, constant, number, numbers, tensor


def reshaped(x: ir.Value, shape: ir.Value, *, allowzero: bool) -> ir.Value:
    """Return the sizes of `x` in another shape: zeros are sizes of x, -1 is what remains."""
    sizes, rank = cast(shape, "i64"), tensor(shape).size
    if not allowzero:
        kept = (*tensor(x).shape, *(0,) * rank)[:rank]
        sizes = tri.Where.build(equal(sizes, 0), listed(kept), sizes).y
    open_ = equal(sizes, -1)
    known = tri.Where.build(open_, number(1), sizes).y
    product = tri.ReduceProd.build(known, axes=(0,), keepdims=False).y
    rest = tri.Div.build(number(tensor(x).size), tri.Maximum.build(product, number(1)).y).y
    return tri.Where.build(open_, rest, sizes).y


def sliced(
    starts: ir.Value, ends: ir.Value, sizes: Sequence[Size], steps: Sequence[int] | ir.Value
) -> tuple[ir.Value, ir.Value]:
    """Return the first of the elements `start:end:step` of each axis, and how many they are.

    With a step of 0 that a run computes, there are -1.
    """
    size = listed(sizes)
    if not isinstance(steps, ir.Value):
        forward = constant(np.array([step > 0 for step in steps]))
        first, distance = _first_and_distance(starts, ends, size, forward)
        distance = tri.Mul.build(distance, constant(np.sign(steps).astype(np.int64))).y
        return first, _rounded_up(distance, constant(np.abs(np.array(steps, np.int64))))
    apart = cast(steps, "i64")
    forward = tri.Greater.build(apart, number(0)).y
    first, distance = _first_and_distance(starts, ends, size, forward)
    distance = tri.Where.build(forward, distance, tri.Neg.build(distance).y).y
    stride = tri.Maximum.build(tri.Abs.build(apart).y, number(1)).y
    count = _rounded_up(distance, stride)
    return first, tri.Where.build(equal(apart, 0), number(-1), count).y


def element(values: ir.Value, place: int) -> ir.Value:
    """Return an element of a list as a scalar."""
    return tri.Gather.build(cast(values, "i64"), constant(np.array(place)), axis=0).y


def _first_and_distance(
    starts: ir.Value, ends: ir.Value, size: ir.Value, forward: ir.Value
) -> tuple[ir.Value, ir.Value]:
    """Return where slices begin, and how far it is from there to their ends."""
    low = tri.Where.build(forward, number(0), number(-1)).y
    high = tri.Add.build(size, low).y

    def place(places: ir.Value) -> ir.Value:
        wide = cast(places, "i64")
        from_end = tri.Add.build(wide, size).y
        wide = tri.Where.build(tri.Less.build(wide, number(0)).y, from_end, wide).y
        return tri.Maximum.build(tri.Minimum.build(wide, high).y, low).y

    first, last = place(starts), place(ends)
    return tri.Maximum.build(first, number(0)).y, tri.Sub.build(last, first).y


def _rounded_up(distance: ir.Value, stride: ir.Value) -> ir.Value:
    more = tri.Sub.build(stride, number(1)).y
    rounded = tri.Add.build(tri.Maximum.build(distance, number(0)).y, more).y
    return tri.Div.build(rounded, stride).y


def spread(values: ir.Value, axes: ir.Value, others: Sequence[Size]) -> ir.Value:
    """Return a list with a number for each axis: values for some axes, and those of others."""
    places = from_front(axes, len(others))
    return tri.ScatterElements.build(listed(others), places, cast(values, "i64"), axis=0).y


def with_ones(sizes: Sequence[Size], axes: ir.Value) -> ir.Value:
    """Return the sizes of a tensor with axes of size 1 inserted, at places that a run computes."""
    count = tensor(axes).size
    rank = len(sizes) + count
    ones = constant(np.ones(count, np.int64))
    new = spread(ones, axes, (0,) * rank)
    before = tri.CumSum.build(tri.Sub.build(number(1), new).y, axis=0).y
    place = tri.Maximum.build(tri.Sub.build(before, number(1)).y, number(0)).y
    kept = tri.Gather.build(listed((*sizes, *(1,) * (not sizes))), place, axis=0).y
    return tri.Where.build(equal(new, 1), number(1), kept).y


def from_front(axes: ir.Value, rank: int) -> ir.Value:
    """Return axes, of which negative ones count from the end, as they count from the front."""
    wide = cast(axes, "i64")
    negative = tri.Less.build(wide, number(0)).y
    return tri.Where.build(negative, tri.Add.build(wide, number(rank)).y, wide).y


def count_at_run_time(start: ir.Value, limit: ir.Value, step: ir.Value) -> ir.Value:
    """Return how many numbers there are from start to before a limit, a step apart.

    A step of 0 gives no number that can be a size.
    """
    first, last, apart = (cast(value, "f64") for value in (start, limit, step))
    steps = tri.Ceil.build(tri.Div.build(tri.Sub.build(last, first).y, apart).y).y
    return cast(tri.Maximum.build(steps, constant(np.zeros(()))).y, "i64")


def listed(sizes: Sequence[Size]) -> ir.Value:
    """Return sizes as a list of numbers."""
    made = numbers(tuple(sizes), (len(sizes),))
    return constant(made) if isinstance(made, np.ndarray) else made.results[0]


def equal(sizes: ir.Value, wanted: int) -> ir.Value:
    return tri.Equal.build(sizes, number(wanted)).y
