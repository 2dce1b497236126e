"""Arithmetic of ops that read or write at places which another tensor contains."""

from ....dialects.core.sizes.atoms import Size
from ....dialects.core.sizes.dim import highest
from ..arithmetic import V


def from_start(index: V, size: Size) -> V:
    """Convert an index to i64 and add the size of its axis to a negative one."""
    wide = index.cast("i64")
    return wide.less(0).select(wide + size, wide)


def clamped_index(index: V, size: Size) -> V:
    """Map an index into [0, size): negative ones count from the end, others are clamped.

    Kernels cannot report an index outside of the axis, and must not leave their buffers.
    """
    return from_start(index, size).maximum(0).minimum(highest(size - 1, 0))


def combined(reduction: str, old: V, new: V) -> V:
    """Combine an element with an update of a scatter op."""
    if reduction == "none":
        return new
    if reduction == "add":
        return old + new
    if reduction == "mul":
        return old * new
    if old.kind == "bool":
        return old.logical_or(new) if reduction == "max" else old.logical_and(new)
    return old.maximum(new) if reduction == "max" else old.minimum(new)
