"""Arithmetic of strides: how the same memory is seen under several shapes. Pure Python."""

from collections.abc import Sequence

from ...dialects.core.errors import Undecided
from ...dialects.core.sizes.atoms import Size
from ...dialects.core.tensor import Shape


def row_major(shape: Shape) -> Shape:
    """Return the strides, in elements, of a contiguous tensor."""
    strides: list[Size] = []
    step: Size = 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def collapsed_shape(shape: Shape, strides: Sequence[Sequence[Size]]) -> Shape:
    """Merge neighbouring dimensions that all the strides let be walked as one."""
    merged: list[Size] = []
    before: tuple[Size, ...] = ()
    for axis, size in enumerate(shape):
        if size == 1:
            continue
        now = tuple(s[axis] for s in strides)
        if merged and all(a == b * size for a, b in zip(before, now, strict=True)):
            merged[-1] *= size
        else:
            merged.append(size)
        before = now
    return tuple(merged) or (1,)


def reshaped_strides(shape: Shape, strides: Sequence[Size], new: Shape) -> Shape | None:
    """Return the strides of the same elements under another shape, or None if that needs a copy.

    Sizes of symbols that are not known to divide one another need a copy, too.
    """
    if 0 in shape:
        return row_major(new)
    runs: list[tuple[Size, Size]] = []
    for size, step in zip(shape, strides, strict=True):
        if size == 1:
            continue
        whole = runs.pop()[0] if runs and runs[-1][1] == size * step else 1
        runs.append((whole * size, step))
    result: list[Size] = []
    for size in reversed(new):
        if size == 1:
            result.append(0)
            continue
        have, step = runs.pop()
        left, rest = _divided(have, size)
        if rest != 0:
            return None
        result.append(step)
        if left != 1:
            runs.append((left, step * size))
    return tuple(reversed(result))


def _divided(size: Size, divisor: Size) -> tuple[Size, Size]:
    """Return quotient and remainder; all of a size is left where the divisor may be 0."""
    try:
        return divmod(size, divisor)
    except Undecided:
        return 0, size


def parts_of(sizes: Sequence[Size]) -> list[tuple[Size, Size]]:
    """Pair the size of each part with where it starts."""
    return [(sum(sizes[:i]), size) for i, size in enumerate(sizes)]
