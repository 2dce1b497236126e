"""Selections of sizes that data decide: a padded one, and the part of it that is found."""

from ...dialects import tri
from ...dialects.core.mlir import ir
from ...dialects.core.sizes.atoms import Size, is_symbolic
from ..building import reshape
from ..fold.fold_slices import build_slice
from ..rewriting import NoMatch
from .registry import decomposes


@decomposes(tri.NonZero)
def non_zero(op: tri.NonZero) -> ir.Value:
    return _indices(op.x, op.count)


@decomposes(tri.Compress)
def compress(op: tri.Compress) -> ir.Value:
    places = reshape(_indices(op.condition, op.count), op.count)
    return tri.Gather.build(op.x, places, axis=op.axis).y


@decomposes(tri.NonMaxSuppression)
def non_max_suppression(op: tri.NonMaxSuppression) -> ir.Value:
    _need_found(op.count)
    given = op.boxes, op.scores, op.overlap, op.least
    made = tri.PaddedNonMaxSuppression.build(*given, limit=op.limit, centered=op.centered)
    return _found(made.y, 0, made.count, op.count)


def _indices(x: ir.Value, size: Size) -> ir.Value:
    _need_found(size)
    made = tri.PaddedNonZero.build(x)
    return _found(made.y, 1, made.count, size)


def _need_found(size: Size) -> None:
    """Leave alone what has a size that is promised: it counts what it finds."""
    if not is_symbolic(size):
        raise NoMatch(f"has {size} elements, which are promised")


def _found(padded: ir.Value, axis: int, count: ir.Value, size: Size) -> ir.Value:
    """Return the part of a padded value of the size that a number is."""
    tri.DefineSizes.build(count, sizes=(size,))
    return build_slice(padded, axis, 0, size).y
