"""A cache that keeps the last rows alone, and drops those that no window reaches."""

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ......dialects.core.sizes.atoms import Size
from ......dialects.core.sizes.checks import need
from ....core.values import constant, counted, number, tensor
from ....decoding.cache import Step, gathered
from ...registry import Value


class WindowCache:
    """Hold what a step does to a cache of `capacity` rows, whose first one is at some position.

    Of T rows so far it has all, or as few less as a multiple of `capacity - window + 1` can be.
    Source: the operator's description in ONNX Runtime, "Windowed KV Cache".
    """

    def __init__(self, past: Value | None, step: Step, window: int) -> None:
        if past is None or window < 1:
            raise Invalid("has sliding_window_cache 1, which needs a past and local_window_size")
        self.capacity, self.step, self.window = tensor(past).shape[2], step, window
        need(self.capacity, window, f"has {self.capacity} rows for a window of {window}")
        self.first = self._dropped(step.before)
        self.next = self._dropped(step.after)

    def _dropped(self, count: Value) -> Value:
        """Return how many of all rows so far are dropped: [batch, 1]."""
        apart: Size = self.capacity - self.window + 1
        over = tri.Sub.build(count, number(self.capacity)).y
        over = tri.Maximum.build(over, number(0)).y
        raised = tri.Add.build(over, number(apart - 1)).y
        return tri.Mul.build(tri.Div.build(raised, number(apart)).y, number(apart)).y

    def present(self, together: Value) -> Value:
        """Return the rows of the next step, of the past and new ones together."""
        row = counted(self.capacity, (1, self.capacity))
        position = tri.Add.build(row, self.next).y
        of_new = tri.Sub.build(position, self.step.before).y
        of_past = tri.Sub.build(position, self.first).y
        is_new = tri.GreaterEqual.build(of_new, number(0)).y
        source = tri.Where.build(is_new, tri.Add.build(of_new, number(self.capacity)).y, of_past).y
        last = self.capacity + self.step.length - 1
        source = tri.Minimum.build(source, number(last)).y
        return gathered(together, source)

    def seen(self) -> Value:
        """Return which rows each query sees: [batch, 1, length, rows of past and new]."""
        step, rows = self.step, self.capacity + self.step.length
        row = counted(rows, (1, rows))
        is_past = tri.Less.build(row, number(self.capacity)).y
        of_new = tri.Sub.build(row, number(self.capacity)).y
        kept = tri.Sub.build(step.before, self.first).y
        is_used = tri.Less.build(
            tri.Where.build(is_past, row, of_new).y, tri.Where.build(is_past, kept, step.new).y
        ).y
        position = tri.Where.build(
            is_past, tri.Add.build(row, self.first).y, tri.Add.build(of_new, step.before).y
        ).y
        position, is_used = (
            tri.Reshape.build(x, shape=(step.batch, 1, 1, rows)).y for x in (position, is_used)
        )
        before = tri.Reshape.build(step.before, shape=(step.batch, 1, 1, 1)).y
        place = tri.Add.build(before, counted(step.length, (step.length, 1))).y
        first = tri.Sub.build(place, constant(np.array(self.window, np.int64))).y
        inside = tri.And.build(
            tri.LessEqual.build(position, place).y, tri.Greater.build(position, first).y
        ).y
        return tri.And.build(inside, is_used).y
