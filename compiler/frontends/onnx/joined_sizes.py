"""Branches whose results differ in size: both return as much as the larger one, and their sizes."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from ....dialects import tri
from ....dialects.core.mlir import ir
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.sizes.dim import highest, symbols_of
from ....dialects.core.sizes.limits import at_least
from ....dialects.core.sizes.substitution import substitute
from ....dialects.core.tensor import Shape
from ..core.found_sizes import FoundSizes
from ..core.run_time_shapes import listed
from ..core.values import constant, tensor


def common_shape(a: ir.Value, b: ir.Value, *, outside: Collection[str]) -> Shape | None:
    """Return a shape in which both of two values have room; None where there is none.

    It depends on the symbols that are known `outside` of the branches alone.
    """
    one, other = tensor(a), tensor(b)
    if one.dtype != other.dtype or one.rank != other.rank:
        return None
    sizes = [_limit(*pair, outside) for pair in zip(one.shape, other.shape, strict=True)]
    known = tuple(size for size in sizes if size is not None)
    return known if len(known) == len(sizes) else None


def _limit(a: Size, b: Size, outside: Collection[str]) -> Size | None:
    most = highest(_most(a, outside), _most(b, outside))
    fits = at_least(most, a) and at_least(most, b)
    return most if fits and symbols_of(most).keys() <= {*outside} else None


def _most(size: Size, outside: Collection[str]) -> Size:
    """Replace symbols of a branch by the greatest size of each."""
    inner = (each for name, each in symbols_of(size).items() if name not in outside)
    highs: Mapping[str, Size] = {
        each.name: each.range.high for each in inner if each.range.high is not None
    }
    return substitute(size, highs)


def padded(value: ir.Value, shape: Shape) -> list[ir.Value]:
    """Return a value that fills a shape, and the list of its sizes."""
    sizes = tensor(value).shape
    behind = tuple(most - size for most, size in zip(shape, sizes, strict=True))
    filled = tri.Pad.build(value, pads=((0,) * len(sizes)) + behind).y
    return [filled, listed(sizes)]


def cut(value: ir.Value, sizes: ir.Value, like: Sequence[Shape], found: FoundSizes) -> ir.Value:
    """Return what a branch made of a value that fills its shape; its sizes are found.

    Those that are equal in the shapes that branches return are known.
    """
    shape, rank = tensor(value).shape, tensor(value).rank
    open_ = [axis for axis, each in enumerate(zip(*like, strict=True)) if len({*each}) > 1]
    taken = tri.Gather.build(sizes, constant(np.array(open_, np.int64)), axis=0).y
    made = list(shape)
    for axis, size in zip(open_, found.define(taken, [shape[axis] for axis in open_]), strict=True):
        made[axis] = size
    return tri.Slice.build(value, starts=(0,) * rank, sizes=tuple(made), steps=(1,) * rank).y
