"""Arithmetic of strides: how the same memory is seen under several shapes. Pure Python."""

from collections.abc import Sequence

from ..dialects.core.tensor import Shape


def row_major(shape: Shape) -> tuple[int, ...]:
    """Return the strides, in elements, of a contiguous tensor."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def collapsed_shape(shape: Shape, strides: Sequence[Sequence[int]]) -> Shape:
    """Merge neighbouring dimensions that all the strides let be walked as one."""
    merged: list[int] = []
    before: tuple[int, ...] = ()
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


def reshaped_strides(shape: Shape, strides: Sequence[int], new: Shape) -> tuple[int, ...] | None:
    """Return the strides of the same elements under another shape, or None if that needs a copy."""
    if 0 in shape:
        return row_major(new)
    runs: list[tuple[int, int]] = []
    for size, step in zip(shape, strides, strict=True):
        if size == 1:
            continue
        whole = runs.pop()[0] if runs and runs[-1][1] == size * step else 1
        runs.append((whole * size, step))
    result: list[int] = []
    for size in reversed(new):
        if size == 1:
            result.append(0)
            continue
        have, step = runs.pop()
        if have % size:
            return None
        result.append(step)
        if have > size:
            runs.append((have // size, step * size))
    return tuple(reversed(result))


def parts_of(sizes: "list[int] | tuple[int, ...]") -> list[tuple[int, int]]:
    """Pair the size of each part with where it starts."""
    return [(sum(sizes[:i]), size) for i, size in enumerate(sizes)]
