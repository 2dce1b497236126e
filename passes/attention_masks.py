"""Masks on the scores of an attention: what they say, and how several become one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..dialects import tri
from ..dialects.core.attributes import tensor_of
from ..dialects.core.mlir import ir
from ..dialects.core.tensor import Array, Shape
from .building import add, mul, number, reshape, shape_of, where
from .rewriting import NoMatch, Rewriter

NEGLIGIBLE = -1e9
"""A score this low has weight zero beside any that is not, and swallows what is added to it."""


@dataclass(frozen=True)
class Mask:
    """One of the masks on the scores: floats to add, or bools where scores stay or become `low`.

    The floats are multiplied by `factor`. Bools keep scores where they are true, or false.
    `batch` is the shape of the scores, without queries and keys, that the mask broadcasts to.
    """

    value: ir.Value
    batch: Shape
    factor: float = 1.0
    keeps: bool = True
    low: float = -math.inf

    @property
    def selects(self) -> bool:
        return tensor_of(self.value.type).dtype == "i1"


def is_causal(mask: Mask, queries: int, keys: int, rewriter: Rewriter) -> bool:
    """Say whether a mask is a constant that lets query i see the keys up to i, and nothing more."""
    array = rewriter.find_constant(mask.value)
    if array is None or mask.factor <= 0 or array.shape[-2:] != (queries, keys) or queries == 1:
        return False
    kept = _kept(array, mask)
    return kept is not None and bool((kept == np.tri(queries, keys, dtype=bool)).all())


def as_selection(mask: Mask, rewriter: Rewriter) -> Mask:
    """Return the bools behind a mask that adds minus infinity or nothing."""
    op = None if mask.selects else rewriter.find_producer(mask.value)
    if not isinstance(op, tri.Where) or mask.factor <= 0:
        return mask
    for kept, dropped, keeps in ((op.a, op.b, True), (op.b, op.a, False)):
        if rewriter.find_scalar(kept) == 0 and rewriter.find_scalar(dropped) == -math.inf:
            return replace(mask, value=op.condition, factor=1.0, keeps=keeps)
    return mask


def shape_for(mask: Mask, batch: Shape) -> Shape:
    """Return the shape that a mask needs to broadcast to scores with their batch axes regrouped.

    Raises NoMatch when it varies along some of the axes that became one, and not along others.
    """
    have = shape_of(mask.value)
    have = (1,) * (len(mask.batch) + 2 - len(have)) + have
    if mask.batch == batch:
        return shape_of(mask.value)
    made: list[int] = []
    for before, after in segments(mask.batch, batch):
        sizes = [have[axis] for axis in before]
        if all(size == 1 for size in sizes):
            made += [1] * len(after)
        elif sizes == [mask.batch[axis] for axis in before]:
            made += [batch[axis] for axis in after]
        else:
            raise NoMatch(f"mask of {have} does not fit scores of {mask.batch} as {batch}")
    return (*made, *have[-2:])


def segments(before: Shape, after: Shape) -> list[tuple[list[int], list[int]]]:
    """Pair runs of axes of two shapes that a reshape makes of each other, as short as possible.

    Raises NoMatch when the shapes have different numbers of elements, or none.
    """
    if math.prod(before) != math.prod(after) or 0 in before:
        raise NoMatch(f"{before} is no regrouping of {after}")
    found: list[tuple[list[int], list[int]]] = []
    left, right = list(range(len(before))), list(range(len(after)))
    while left or right:
        run: tuple[list[int], list[int]] = (left[:1], right[:1])
        del left[:1], right[:1]
        while (a := _product(run[0], before)) != (b := _product(run[1], after)):
            (run[0] if a < b else run[1]).append((left if a < b else right).pop(0))
        found.append(run)
    return found


def build_mask(masks: Sequence[Mask], batch: Shape, like: ir.Value) -> ir.Value | None:
    """Build the one mask that amounts to all, for scores of a batch shape.

    `like` has the element type of the scores.
    """
    added: ir.Value | None = None
    kept: ir.Value | None = None
    for mask in masks:
        shape = shape_for(mask, batch)
        value = mask.value if shape == shape_of(mask.value) else reshape(mask.value, *shape)
        mask = replace(mask, value=value)
        if mask.selects and mask.low == -math.inf:
            bools = mask.value if mask.keeps else tri.Not.build(mask.value).y
            kept = bools if kept is None else tri.And.build(kept, bools).y
        else:
            term = _term(mask, like)
            added = term if added is None else add(added, term)
    if added is None or kept is None:
        return kept if added is None else added
    return where(kept, added, -math.inf)


def _kept(array: Array, mask: Mask) -> Array | None:
    """Return which scores a constant mask keeps; None when it does more than keep and drop."""
    if mask.selects:
        return array if mask.keeps else ~array
    kept = array == 0
    return kept if (kept | (array <= NEGLIGIBLE)).all() else None


def _term(mask: Mask, like: ir.Value) -> ir.Value:
    """Build what a mask adds to the scores."""
    if mask.selects:
        zero, low = number(0, like), number(mask.low, like)
        return where(mask.value, zero, low) if mask.keeps else where(mask.value, low, zero)
    return mask.value if mask.factor == 1 else mul(mask.value, mask.factor)


def _product(axes: Sequence[int], shape: Shape) -> int:
    return math.prod(shape[axis] for axis in axes)
