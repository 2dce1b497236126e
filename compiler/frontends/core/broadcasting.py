"""Operands that broadcast though a size of them is not known to be 1."""

from ....dialects import tri
from ....dialects.core.mlir import ir
from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....dialects.core.sizes.limits import at_least
from .values import tensor


def with_axes_of_one(*operands: ir.Value) -> tuple[ir.Value, ...]:
    """Return operands of an op that broadcasts, in which axes of at most one element have one.

    The last element of an axis of T elements is `min(T, 1)` elements. Beside another size, that is
    1 or the run is refused: an op would compare it with the other size.
    """
    rank = max(tensor(value).rank for value in operands)
    shapes = [(1,) * (rank - tensor(value).rank) + tensor(value).shape for value in operands]
    columns = [set(column) - {1} for column in zip(*shapes, strict=True)]
    return tuple(_cut(value, columns) for value in operands)


def _cut(value: ir.Value, columns: list[set[Size]]) -> ir.Value:
    """Keep one element of each axis of at most one, where operands have several sizes."""
    shape = tensor(value).shape
    others = columns[len(columns) - len(shape) :]
    cut = tuple(
        1 if len(sizes) > 1 and is_symbolic(size) and at_least(1, size) else size
        for size, sizes in zip(shape, others, strict=True)
    )
    if cut == shape:
        return value
    none, steps = (0,) * len(shape), (1,) * len(shape)
    return tri.Slice.build(value, starts=none, sizes=cut, steps=steps).y
