"""Masks on the scores of an attention: what each does, in the order in which the model does it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.tensor import Array, Shape, Tensor, greatest_finite, numpy_dtype
from ..building import mul, reshape, shape_of
from ..rewriting import NoMatch, Rewriter


@dataclass(frozen=True)
class Mask:
    """One change of the scores: floats that are added, or bools that keep scores or replace them.

    The floats are multiplied by `factor`. Bools keep scores where they are `keeps`, and put `fill`
    in place of others. `batch` is the shape of the scores, without queries and keys, that the mask
    broadcasts to. `binary` floats are known to be 0 or -inf.
    """

    value: ir.Value
    batch: Shape
    factor: float = 1.0
    keeps: bool = True
    fill: float = -math.inf
    binary: bool = False

    @property
    def selects(self) -> bool:
        return tensor_of(self.value.type).dtype == "i1"

    @property
    def drops(self) -> bool:
        """Whether the mask makes scores -inf, for any score."""
        return self.selects and self.fill == -math.inf


def scaled(mask: Mask, scale: float, dtype: str) -> Mask:
    """Return a mask for scores that are multiplied first, not afterwards: the same to the bit.

    Raises NoMatch where rounding would differ: sums with numbers other than 0 and -inf must be
    multiplied by a power of two.
    """
    if mask.selects:
        with np.errstate(over="ignore"):
            fill = np.array(mask.fill * scale).astype(numpy_dtype(dtype))
        return replace(mask, fill=float(fill))
    if not mask.binary and abs(math.frexp(scale)[0]) != 0.5:
        raise NoMatch(f"mask is added before scores are multiplied by {scale}")
    return replace(mask, factor=mask.factor * scale)


def added_mask(value: ir.Value, batch: Shape, rewriter: Rewriter) -> Mask:
    """Return the mask that adds a value: its bools where `where` makes it of 0 and -inf."""
    array = rewriter.find_constant(value)
    mask = Mask(value, batch, binary=array is not None and _is_binary(array))
    op = rewriter.find_producer(value)
    if isinstance(op, tri.Where):
        for kept, dropped, keeps in ((op.a, op.b, True), (op.b, op.a, False)):
            if rewriter.find_scalar(kept) == 0 and rewriter.find_scalar(dropped) == -math.inf:
                return replace(mask, value=op.condition, keeps=keeps)
    return mask


def take_triangle(
    masks: Sequence[Mask], scores: Tensor, rewriter: Rewriter
) -> tuple[list[Mask], bool]:
    """Return the masks that remain when `causal` stands for those that are it, and if any is.

    A mask that is causal drops the keys after query i. Others may follow it, unless they put
    numbers in the place of scores.
    """
    remaining: list[Mask] = []
    for index, mask in enumerate(masks):
        final = all(other.drops or not other.selects for other in masks[index + 1 :])
        alone = len(masks) == 1
        if not (final and _is_causal(mask, scores, alone, rewriter)):
            remaining.append(mask)
    return remaining, len(remaining) < len(masks)


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


def build_masks(masks: Sequence[Mask], batch: Shape) -> tuple[list[ir.Value], tuple[float, ...]]:
    """Build the masks of an attention whose scores have a batch shape, and their fills."""
    values: list[ir.Value] = []
    for mask in masks:
        shape = shape_for(mask, batch)
        value = mask.value if shape == shape_of(mask.value) else reshape(mask.value, *shape)
        value = value if mask.factor == 1 else mul(value, mask.factor)
        values.append(value if mask.keeps else tri.Not.build(value).y)
    fills = [mask.fill for mask in masks]
    while fills and fills[-1] == -math.inf:
        fills.pop()
    return values, tuple(fills)


def _is_causal(mask: Mask, scores: Tensor, alone: bool, rewriter: Rewriter) -> bool:
    """Return whether a mask is a constant that lets query i see the keys up to i, and nothing more.

    Scores of other keys must become -inf. The lowest finite number does as well in a mask that is
    alone: each query sees a key, beside which the weight of that number is zero. Only a query of
    which all scores are next to the lowest number differs.
    """
    array = rewriter.find_constant(mask.value)
    queries, keys = scores.shape[-2:]
    if array is None or array.shape[-2:] != (queries, keys) or queries == 1:
        return False
    if mask.selects:
        kept, greatest = array == mask.keeps, mask.fill
    else:
        kept = array == 0
        with np.errstate(over="ignore"):
            greatest = float((array[~kept] * mask.factor).max(initial=-math.inf))
    hides = greatest == -math.inf or (alone and greatest <= -greatest_finite(scores.dtype))
    return hides and bool((kept == np.tri(queries, keys, dtype=bool)).all())


def _is_binary(array: Array) -> bool:
    return bool(((array == 0) | (array == -math.inf)).all())


def _product(axes: Sequence[int], shape: Shape) -> int:
    return math.prod(shape[axis] for axis in axes)
