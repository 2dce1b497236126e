"""Orders of axes in memory, outermost first: pure arithmetic, no MLIR.

An order names each axis of a tensor once. In memory, elements that follow one another differ in
the place on the last axis of the order: `(0, 2, 3, 1)` is an image with channels last.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

from .tensor import Shape

Order = tuple[int, ...]


def row_major(rank: int) -> Order:
    """Return the order in which the last axis is innermost."""
    return tuple(range(rank))


def channels_last(rank: int) -> Order:
    """Return the order of an image [N, C, …] whose channels are innermost."""
    return (0, *range(2, rank), 1)


def strides_of(shape: Shape, order: Order) -> tuple[int, ...]:
    """Return how many elements apart neighbours along each axis are."""
    strides = [0] * len(shape)
    step = 1
    for axis in reversed(order):
        strides[axis] = step
        step *= shape[axis]
    return tuple(strides)


def same_memory(shape: Shape, a: Order, b: Order) -> bool:
    """Say whether all elements lie at the same places in both orders."""
    if 0 in shape:
        return True
    pairs = zip(shape, strides_of(shape, a), strides_of(shape, b), strict=True)
    return all(size == 1 or one == other for size, one, other in pairs)


def plain_order(shape: Shape, order: Order) -> Order:
    """Return row-major order for one that means the same, as axes of size 1 may lie anywhere."""
    plain = row_major(len(shape))
    return plain if not order or same_memory(shape, order, plain) else order


def transposed_order(order: Order, permutation: Sequence[int]) -> Order:
    """Return the order of the transposed tensor that lies in memory as its operand does.

    Axis i of the transposed tensor is axis `permutation[i]` of the operand.
    """
    return tuple(map(tuple(permutation).index, order))


def reshaped_order(shape: Shape, order: Order, new_shape: Shape) -> Order | None:
    """Return the order of the reshaped tensor that lies in memory as its operand does.

    None where there is none: a reshape keeps elements in row-major sequence, and an axis that comes
    of several ones needs these to be neighbours in memory, too.
    """
    if 0 in shape or order == row_major(len(shape)):
        return row_major(len(new_shape))
    strides = strides_of(shape, order)
    axes = [(size, step) for size, step in zip(shape, strides, strict=True) if size > 1]
    new_strides: dict[int, int] = {}
    for inside, outside in _matching([size for size, _ in axes], new_shape):
        part = [axes[axis] for axis in inside]
        if any(a[1] != b[0] * b[1] for a, b in pairwise(part)):
            return None
        step = part[-1][1]
        for axis in reversed(outside):
            new_strides[axis] = step
            step *= new_shape[axis]
    return _order_of_strides(len(new_shape), new_strides)


def _matching(sizes: Sequence[int], new_shape: Shape) -> list[tuple[list[int], list[int]]]:
    """Cut both shapes into the smallest parts of equally many elements, without axes of size 1."""
    new_axes = [axis for axis, size in enumerate(new_shape) if size > 1]
    parts: list[tuple[list[int], list[int]]] = []
    old = new = 0
    while old < len(sizes):
        inside, outside = [old], [new_axes[new]]
        old, new = old + 1, new + 1
        while (a := math.prod(sizes[i] for i in inside)) != (
            b := math.prod(new_shape[i] for i in outside)
        ):
            if a < b:
                inside.append(old)
                old += 1
            else:
                outside.append(new_axes[new])
                new += 1
        parts.append((inside, outside))
    return parts


def _order_of_strides(rank: int, strides: dict[int, int]) -> Order:
    """Sort axes by their strides; those of size 1, without stride, stay behind the one before."""
    ordered = sorted(strides, key=lambda axis: -strides[axis])
    if ordered == sorted(strides):
        return row_major(rank)
    for axis in range(rank):
        if axis not in strides:
            ordered.insert(ordered.index(axis - 1) + 1 if axis else 0, axis)
    return tuple(ordered)
