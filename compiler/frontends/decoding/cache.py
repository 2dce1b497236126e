"""A cache of keys and values whose rows in use a run decides, for each entry of the batch."""

from dataclasses import dataclass

import numpy as np

from ....dialects import tri
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.sizes.checks import need, need_same
from ....dialects.core.sizes.dim import highest
from ....dialects.core.sizes.limits import is_same
from ..core.values import Value, cast, constant, counted, number, tensor
from .heads import joined, visible


@dataclass(frozen=True)
class Step:
    """Hold how many rows a cache has in use before and after a step, for each entry of the batch.

    `before`, `after` and `new` are [batch, 1]. `past` is what `before` is for the whole batch,
    where it is known when the model is imported. `total` is the most rows in use after the step,
    `capacity` what the cache has then, and the same as before where it `is_fixed`.
    """

    batch: Size
    length: Size
    total: Size
    capacity: Size
    is_fixed: bool
    past: Size | None
    before: Value
    after: Value
    new: Value


def step_of(
    new: Value,
    past: Value | None,
    total: Size,
    seqlens_k: Value,
    query_seqlens: Value | None,
    *,
    is_state: bool = False,
) -> Step:
    """Return the step that appends `new`, [batch, length, heads, size], to a cache.

    `seqlens_k` has one less than the rows in use after it. A cache that `is_state` of the model has
    as many rows after the step as before, and those in use are at most so many.
    """
    batch, length = tensor(new).shape[:2]
    had = 0 if past is None else tensor(past).shape[2]
    if is_state:
        need(had, total, f"has {total} keys, must be at most {had}, the rows of the cache")
    capacity = had if is_state else highest(had, total)
    known = past is None or (is_same(batch, 1) and is_same(had + length, total))
    one = constant(np.array(1, np.int64))
    after = tri.Add.build(_column(seqlens_k, batch, "seqlens_k"), one).y
    if query_seqlens is None:
        added = tri.Minimum.build(after, number(length)).y
    else:
        added = _column(query_seqlens, batch, "query_seqlens")
    return Step(
        batch,
        length,
        total,
        capacity=capacity,
        is_fixed=query_seqlens is None and bool(is_same(capacity, had)),
        past=had if known and query_seqlens is None else None,
        before=tri.Sub.build(after, added).y,
        after=after,
        new=added,
    )


def _column(numbers: Value, batch: Size, name: str) -> Value:
    fault = f"has {name} {tensor(numbers)}, must have {batch} elements"
    need_same(tensor(numbers).size, batch, fault)
    return tri.Reshape.build(cast(numbers, "i64"), shape=(batch, 1)).y


def positions(step: Step) -> Value:
    """Return the positions of a step, [batch, length]; what pads it has the last position."""
    place = counted(step.length, (1, step.length))
    if step.past is not None:
        return tri.Add.build(place, number(step.past)).y
    place = tri.Add.build(step.before, place).y
    last = tri.Sub.build(step.after, constant(np.array(1, np.int64))).y
    return tri.Maximum.build(tri.Minimum.build(place, last).y, number(0)).y


def first_positions(step: Step) -> Value:
    """Return the position of the first query of each entry, [batch]."""
    if step.past is not None:
        return tri.Expand.build(number(step.past), shape=(step.batch,)).y
    return tri.Reshape.build(step.before, shape=(step.batch,)).y


def appended(past: Value | None, new: Value, step: Step) -> Value:
    """Write new rows, [batch, heads, length, size], behind those of the past that are in use.

    What is behind all rows in use is not specified.
    """
    if past is None or step.past is not None:
        return joined(past, new)
    return _written(past, new, step) if step.is_fixed else _moved(past, new, step)


def _written(past: Value, new: Value, step: Step) -> Value:
    """Write new rows over those of a past of the same size; those that are padding are left out."""
    before, count = (tri.Reshape.build(x, shape=(step.batch,)).y for x in (step.before, step.new))
    return tri.TensorScatter.build(past, new, before, count, axis=2).y


def _moved(past: Value, new: Value, step: Step) -> Value:
    """Take rows of the past and new ones, for a cache that may be larger than the past."""
    had, size = tensor(past).shape[2], step.capacity
    row = counted(size, (1, size))
    after = tri.Sub.build(row, step.before).y
    is_new = tri.And.build(
        tri.GreaterEqual.build(after, number(0)).y, tri.Less.build(after, step.new).y
    ).y
    source = tri.Where.build(is_new, tri.Add.build(after, number(had)).y, row).y
    return gathered(tri.Concat.build([past, new], axis=2).y, source)


def gathered(x: Value, source: Value) -> Value:
    """Take rows of each entry of [batch, heads, rows, size]: [batch, count]."""
    batch, heads, rows, width = tensor(x).shape
    size = tensor(source).shape[1]
    if is_same(batch, 1):
        return tri.Gather.build(x, tri.Reshape.build(source, shape=(size,)).y, axis=2).y
    flat = tri.Reshape.build(x, shape=(batch * heads * rows, width)).y
    source = tri.Reshape.build(source, shape=(batch, 1, size)).y
    return tri.Gather.build(flat, _of_all(source, batch, heads, rows), axis=0).y


def _of_all(row: Value, batch: Size, heads: Size, rows: Size) -> Value:
    """Return places in all rows of [batch, heads, rows], given those in the rows of one head."""
    first = tri.Mul.build(counted(batch * heads, (batch, heads, 1)), number(rows)).y
    return tri.Add.build(row, first).y


def attend_to_cache(
    q: Value, keys: Value, values: Value, step: Step, *, scale: float, window: int
) -> Value:
    """Attend to the rows of a cache in use, each query to those up to its own position.

    Queries are [batch, heads, length, size], keys and values those after the step. A window counts
    the query itself; a negative one is all.
    """
    return tri.CachedAttention.build(
        q,
        keys,
        values,
        first_positions(step),
        rows=step.total,
        scale=scale,
        window=max(window, 0),
    ).y


def seen(step: Step, keys: Size, *, window: int, causal: bool) -> Value | None:
    """Return which of the first rows each query sees: it broadcasts to [batch, 1, length, keys].

    A window counts the query itself; a negative one is all. None where all queries see all rows.
    """
    if not causal:
        after = tri.Reshape.build(step.after, shape=(step.batch, 1, 1, 1)).y
        return tri.Less.build(counted(keys, (keys,)), after).y
    if step.past is not None:
        return visible(step.length, keys, step.past, window - 1 if window > 0 else -1, 0)
    before = tri.Reshape.build(step.before, shape=(step.batch, 1, 1, 1)).y
    place = tri.Add.build(before, counted(step.length, (step.length, 1))).y
    last = tri.LessEqual.build(counted(keys, (keys,)), place).y
    if window < 0:
        return last
    first = tri.Sub.build(place, constant(np.array(window, np.int64))).y
    return tri.And.build(last, tri.Greater.build(counted(keys, (keys,)), first).y).y
