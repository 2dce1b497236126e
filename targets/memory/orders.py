"""Orders of axes in memory, outermost first: pure arithmetic, no MLIR.

An order names each axis of a tensor once. In memory, elements that follow one another differ in
the place on the last axis of the order: `(0, 2, 3, 1)` is an image with channels last.
"""

from collections.abc import Sequence

from ...dialects.core.sizes.substitution import likely
from ...dialects.core.tensor import Shape
from .strides import reshaped_strides

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
    """Return whether all elements are at the same offsets in both orders."""
    if 0 in shape:
        return True
    pairs = zip(shape, strides_of(shape, a), strides_of(shape, b), strict=True)
    return all(size == 1 or one == other for size, one, other in pairs)


def plain_order(shape: Shape, order: Order) -> Order:
    """Return row-major order for one that means the same, as axes of size 1 may lie anywhere."""
    plain = row_major(len(shape))
    return plain if not order or same_memory(shape, order, plain) else order


def transposed_order(order: Order, permutation: Sequence[int]) -> Order:
    """Return the order of the transposed tensor that is stored in memory as its operand is.

    Axis i of the transposed tensor is axis `permutation[i]` of the operand.
    """
    return tuple(map(tuple(permutation).index, order))


def reshaped_order(shape: Shape, order: Order, new_shape: Shape) -> Order | None:
    """Return the order of the reshaped tensor that is stored in memory as its operand is.

    None where there is none: a reshape keeps elements in row-major sequence, and an axis that comes
    of several ones needs these to be neighbours in memory, too.
    """
    if 0 in shape or order == row_major(len(shape)):
        return row_major(len(new_shape))
    strides = reshaped_strides(shape, strides_of(shape, order), new_shape)
    return None if strides is None else _order_of_strides(new_shape, strides)


def _order_of_strides(shape: Shape, strides: Sequence[int]) -> Order | None:
    """Sort axes by their strides; those of size 1 stay behind the one before.

    None where sizes of symbols do not say which axis is outside of which.
    """
    walked = [axis for axis, size in enumerate(shape) if size != 1]
    ordered = sorted(walked, key=lambda axis: -likely(strides[axis]))
    if ordered == walked:
        found = row_major(len(shape))
    else:
        for axis in range(len(shape)):
            if axis not in walked:
                ordered.insert(ordered.index(axis - 1) + 1 if axis else 0, axis)
        found = tuple(ordered)
    made = strides_of(shape, found)
    return found if all(made[axis] == strides[axis] for axis in walked) else None
