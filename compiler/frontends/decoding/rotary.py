"""Rotary embedding: turn pairs of elements by the angle of a position."""

from ....dialects import tri
from ....dialects.core.errors import Invalid
from ....dialects.core.sizes.checks import need, need_same
from ..core.values import Value, tensor


def at_positions(cache: Value, positions: Value, heads_axis: int) -> Value:
    """Take the rows of a table for positions [batch, length], with an axis of 1 for the heads."""
    if tensor(cache).rank != 2:
        raise Invalid(f"has a table of angles {tensor(cache)}, must have rank 2")
    rows = tri.Gather.build(cache, positions, axis=0).y
    shape = list(tensor(rows).shape)
    shape.insert(heads_axis, 1)
    return tri.Reshape.build(rows, shape=tuple(shape)).y


def rotate(x: Value, cos: Value, sin: Value, *, interleaved: bool) -> Value:
    """Rotate the pairs of the first elements of the last axis, as many as there are angles.

    A pair is an element and the one behind it where they are `interleaved`, and else the one half
    of the rotated elements later. Source: Su et al., "RoFormer", 2021.
    """
    pairs = int(tensor(cos).shape[-1])
    size = int(tensor(x).shape[-1])
    need(size, 2 * pairs, f"rotates {2 * pairs} of {size} elements")
    need_same(tensor(sin).shape[-1], pairs, f"has {tensor(cos)} of cos, {tensor(sin)} of sin")
    step, second = (2, 1) if interleaved else (1, pairs)
    a, b = (_part(x, start, pairs, step) for start in (0, second))
    left = tri.Sub.build(tri.Mul.build(a, cos).y, tri.Mul.build(b, sin).y).y
    right = tri.Add.build(tri.Mul.build(b, cos).y, tri.Mul.build(a, sin).y).y
    turned = [_interleaved(left, right)] if interleaved else [left, right]
    rest = [] if size == 2 * pairs else [_part(x, 2 * pairs, size - 2 * pairs, 1)]
    joined = [*turned, *rest]
    if len(joined) == 1:
        return joined[0]
    return tri.Concat.build(joined, axis=tensor(x).rank - 1).y


def _part(x: Value, start: int, count: int, step: int) -> Value:
    shape = tensor(x).shape
    before = len(shape) - 1
    return tri.Slice.build(
        x, starts=(*[0] * before, start), sizes=(*shape[:-1], count), steps=(*[1] * before, step)
    ).y


def _interleaved(left: Value, right: Value) -> Value:
    shape = tensor(left).shape
    single = [tri.Reshape.build(x, shape=(*shape, 1)).y for x in (left, right)]
    joined = tri.Concat.build(single, axis=len(shape)).y
    return tri.Reshape.build(joined, shape=(*shape[:-1], 2 * shape[-1])).y
