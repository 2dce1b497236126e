"""The heads of attention: apart and together, joined with the past, and what they see of it."""

import math

import numpy as np

from ....dialects import tri
from ....dialects.core.errors import Invalid
from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....dialects.core.sizes.limits import at_least, is_same
from ..core.values import Value, constant, counted, number, tensor


def default_scale(q: Value) -> float:
    return 1 / math.sqrt(max(int(tensor(q).shape[-1]), 1))


def heads_apart(x: Value, heads: int) -> Value:
    """Turn [batch, sequence, heads * size] into [batch, sequence, heads, size]."""
    shape = tensor(x).shape
    if len(shape) != 3 or heads < 1 or shape[2] % heads:
        raise Invalid(f"has {heads} heads for an input {tensor(x)}")
    return tri.Reshape.build(x, shape=(*shape[:2], heads, shape[2] // heads)).y


def split_heads(x: Value, heads: int | None) -> Value:
    """Turn [batch, sequence, heads * size] into [batch, heads, sequence, size]."""
    if tensor(x).rank == 4:
        return x
    return tri.Transpose.build(heads_apart(x, heads or 0), permutation=(0, 2, 1, 3)).y


def merge_heads(x: Value) -> Value:
    batch, heads, length, size = tensor(x).shape
    together = tri.Transpose.build(x, permutation=(0, 2, 1, 3)).y
    return tri.Reshape.build(together, shape=(batch, length, heads * size)).y


def joined(past: Value | None, new: Value) -> Value:
    return new if past is None else tri.Concat.build([past, new], axis=2).y


def first_rows(x: Value, count: Size) -> Value:
    """Return the first rows of [batch, heads, rows, size]."""
    shape = tensor(x).shape
    if is_same(shape[2], count):
        return x
    sizes = (*shape[:2], count, shape[3])
    return tri.Slice.build(x, starts=(0,) * 4, sizes=sizes, steps=(1,) * 4).y


def visible(queries: Size, keys: Size, past: Size, before: int, after: int) -> Value | None:
    """Return which keys each query may see by its place; None when it may see all of them.

    A query sees so many keys `before` its place and `after` it; a negative number means all.
    """
    if is_symbolic(past) or is_symbolic(queries):
        place = tri.Add.build(counted(queries, (queries, 1)), number(past)).y
    else:
        place = constant(past + np.arange(queries)[:, None])
    key = counted(keys, (keys,))
    seen: Value | None = None
    if before >= 0 and not at_least(before, past + queries - 1):
        first = tri.Sub.build(place, constant(np.array(before))).y
        seen = tri.GreaterEqual.build(key, first).y
    if after >= 0 and not at_least(after, keys - past - 1):
        last = tri.Add.build(place, constant(np.array(after))).y
        ahead = tri.LessEqual.build(key, last).y
        seen = ahead if seen is None else tri.And.build(seen, ahead).y
    return seen
