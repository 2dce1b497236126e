"""Lowerings of pooling: rows of the input are joined to one row first, then windows along it.

Both halves work with whole vectors, and neither needs a mask for padding: rows outside of the
input are not visited, and the joined row has the border that its windows reach into.
"""

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ....dialects import tri
from ....dialects.core.sizes.atoms import is_symbolic
from ...kernels.arithmetic import compute_dtype
from ...kernels.conversion import convert
from ..kernels.buffer import HALVES, Buffer, Lanes, constant_vector, unpack, vector
from ..kernels.builder import KernelBuilder
from ..kernels.epilogue import Epilogue, each_vector
from ..kernels.index import IndexExpr, carry, carry_nest, for_each, greatest, when_else
from ..kernels.loops import each
from ..kernels.reduction import Reduction
from ..kernels.runs import Rows, cut_rows
from ..kernels.value import Value
from ..kernels.value import math as math_dialect
from ..kernels.widened import widened
from ..kernels.windows import first_tap, repeated
from ..registry import template

UNROLLED = 64
"""The most taps or factors that are unrolled: longer ones become loops, to bound the code size."""

MOST_SHARED = 16
"""The most taps of an axis along which windows share what they see."""

Pool = tri.MaxPool | tri.AveragePool | tri.LpPool
Finish = Callable[[Value, list[IndexExpr], Lanes | None], Value]


@dataclass(frozen=True)
class Span:
    """Describe one spatial axis: where windows begin on it, and which elements count."""

    low: int
    high: int
    taps: int
    stride: int
    dilation: int
    begin: int
    windows: int

    def start(self, window: IndexExpr) -> IndexExpr:
        return window * self.stride - self.begin

    def visible(self, window: IndexExpr) -> tuple[IndexExpr, IndexExpr]:
        """Return the first tap of a window inside the input, and the number of these taps."""
        start = self.start(window)
        first, last = (first_tap(edge, start, self.dilation) for edge in (self.low, self.high))
        return first, (last.minimum(self.taps) - first).maximum(0)

    @property
    def is_whole(self) -> bool:
        """Return whether windows are the elements, as those of the channels in a block are."""
        moves = (self.taps, self.stride, self.begin) != (1, 1, 0)
        return not moves and self.low == 0 and self.windows == self.high

    def always_sees(self) -> bool:
        """Return whether each window surely has an element of the input."""
        if is_symbolic(self.windows) or is_symbolic(self.high):
            return False
        return all(self.visible(IndexExpr(i))[1].known for i in range(self.windows))


def _spans(op: Pool, sizes: Sequence[int], outputs: Sequence[int], padded: bool) -> list[Span]:
    """Describe all spatial axes; padding counts as elements where `padded`."""
    rank = len(sizes)
    return [
        Span(
            -op.pads[axis] if padded else 0,
            size + (op.pads[rank + axis] if padded else 0),
            op.kernel[axis],
            op.strides[axis],
            op.dilations[axis],
            op.pads[axis],
            outputs[axis],
        )
        for axis, size in enumerate(sizes)
    ]


@template(tri.MaxPool)
def lower_max_pool(op: tri.MaxPool, kernel: KernelBuilder, x: Buffer, y: Epilogue) -> None:
    _pool(op, kernel, x, y, Reduction("max", compute_dtype(x.dtype)), lambda n, at, lanes: n)


@template(tri.LpPool)
def lower_lp_pool(op: tri.LpPool, kernel: KernelBuilder, x: Buffer, y: Epilogue) -> None:
    def power(n: Value) -> Value:
        size = n.abs()
        if op.p > UNROLLED:
            return n.with_ssa(math_dialect.powf(size.ssa, n.like(op.p).ssa))
        return functools.reduce(Value.__mul__, [size] * op.p)

    def root(n: Value, at: list[IndexExpr], lanes: Lanes | None) -> Value:
        if op.p <= 2:
            return n if op.p == 1 else n.apply("sqrt")
        return n.with_ssa(math_dialect.powf(n.ssa, n.like(1 / op.p).ssa))

    _pool(op, kernel, x, y, Reduction("add", compute_dtype(x.dtype), power), root)


@template(tri.AveragePool)
def lower_average_pool(op: tri.AveragePool, kernel: KernelBuilder, x: Buffer, y: Epilogue) -> None:
    dtype = compute_dtype(x.dtype)
    *outer, last = _spans(op, x.shape[2:], y.shape[2:], op.count_include_pad)
    counts = kernel.private((last.windows,), dtype)
    for_each(last.windows, lambda i: counts.store(_count([last], [i], dtype), [i]))

    def mean(n: Value, at: list[IndexExpr], lanes: Lanes | None) -> Value:
        rows = repeated(_count(outer, at[2:-1], dtype), lanes)
        return n / (counts.load([at[-1]], lanes) * rows)

    _pool(op, kernel, x, y, Reduction("add", dtype), mean)


def _count(spans: Sequence[Span], windows: Sequence[IndexExpr], dtype: str) -> Value:
    """Count the elements of a window."""
    total = IndexExpr(1)
    for span, window in zip(spans, windows, strict=True):
        total = total * span.visible(window)[1]
    return convert(total.to_value("i64"), dtype)


def _pool(
    op: Pool, kernel: KernelBuilder, x: Buffer, y: Epilogue, how: Reduction, finish: Finish
) -> None:
    *outer, last = _spans(op, x.shape[2:], y.shape[2:], padded=False)
    width = kernel.lanes(how.dtype)
    block = last.windows if last.is_whole and not is_symbolic(last.windows) else 0
    if len(outer) == 2 and block and width % block == 0 and _shares_columns(how, *outer):
        # Halves are converted once where more than two lines of windows read them.
        lines = widened(kernel, x) if outer[0].taps > 2 * outer[0].stride else x
        _pool_tiles(how, lines, y, outer, kernel.machine.registers * 7 // 16, finish)
        return
    row = None if last.is_whole else _Row(kernel, last, how, width)

    def windows(at: list[IndexExpr]) -> None:
        joined = _Joined(how, x, at[:2], outer, at[2:])
        if row is not None:
            row.fill(joined)

        def store(i: list[IndexExpr], lanes: Lanes | None) -> None:
            value = joined.load(i, lanes) if row is None else row.read(i[0])
            y.store(finish(value, [*at, *i], lanes), [*at, *i], lanes)

        each_vector((last.windows,), width, store)

    if row is None and len(outer) > 1:
        *shape, line = y.shape[:-1]
        each(tuple(shape), lambda at: for_each(line, lambda i: windows([*at, i])))
    else:
        each(y.shape[:-1], windows)


def _shares_columns(how: Reduction, down: Span, across: Span) -> bool:
    """Return whether windows overlap, and those at the edges see the element there again."""
    again = how.is_unordered and down.always_sees() and across.always_sees()
    few = max(down.taps, across.taps) <= MOST_SHARED
    return again and few and across.dilation == 1 and across.stride < across.taps


def _pool_tiles(
    how: Reduction, x: Buffer, y: Epilogue, outer: Sequence[Span], registers: int, finish: Finish
) -> None:
    """Pool a blocked image by tiles of a line: a column is combined once for all that see it."""
    down, across = outer
    lanes = Lanes(x.shape[-1])
    count = max(1, (registers - across.taps) // across.stride + 1)
    runs = cut_rows(across.windows, 1, count)

    def line(at: list[IndexExpr]) -> None:
        def tile(windows: Rows) -> None:
            start = across.start(windows.first)
            reach = (windows.count - 1) * across.stride + across.taps
            places = [(start + i).maximum(0).minimum(across.high - 1) for i in range(reach)]

            def combined(how: Reduction, image: Buffer) -> list[Value]:
                joined = _Joined(how, image, at[:2], [down], at[2:])
                columns = [joined.load([place, IndexExpr(0)], lanes) for place in places]
                firsts = range(0, windows.count * across.stride, across.stride)
                return [how.combine_all(columns[i : i + across.taps]) for i in firsts]

            def store(values: Sequence[Value]) -> None:
                for i, value in enumerate(values):
                    place = [*at, windows.first + i, IndexExpr(0)]
                    y.store(finish(value, place, lanes), place, lanes)

            if x.dtype not in HALVES:
                store(combined(how, x))
                return
            bits: list[Value] = []
            most = combined(_collecting(bits), x.stored())
            when_else(
                functools.reduce(Value.logical_or, bits).greater_equal(0).in_all_lanes(),
                lambda: store([unpack(value.ssa, x.dtype) for value in most]),
                lambda: store(combined(how, x)),
            )

        for run in runs:
            run.each(tile)

    each(tuple(y.shape[:3]), line)


def _collecting(bits: list[Value]) -> Reduction:
    """Combine the bits of halves to maxima, and collect them: in order, but for negative numbers.

    NaN, infinities and numbers without a sign have the order of their bits.
    """

    def collect(element: Value) -> Value:
        bits.append(element)
        return element

    return Reduction("max", "i16", collect)


class _Joined:
    """All rows that windows at one place of the outer axes see, combined to one row."""

    def __init__(
        self,
        how: Reduction,
        x: Buffer,
        leading: list[IndexExpr],
        outer: Sequence[Span],
        windows: list[IndexExpr],
    ) -> None:
        self.how, self.x, self.leading, self.outer = how, x, leading, outer
        self.starts = [span.start(window) for span, window in zip(outer, windows, strict=True)]
        self.visible = [span.visible(window) for span, window in zip(outer, windows, strict=True)]
        # An extreme is the same where its last row counts again: no loop has to find the number.
        few = math.prod(span.taps for span in outer) <= UNROLLED
        self.again = how.is_unordered and few and all(span.always_sees() for span in outer)

    def load(self, column: list[IndexExpr], lanes: Lanes | None) -> Value:
        """Return neighbours of the row from a place on the other axes on."""
        if self.again:
            return self.how.combine_all(list(self._elements([], column, lanes)))
        start = self.how.identity(lanes.width if lanes else 1)
        start = start if lanes else self.how.across(start)

        def rows(spans: int, places: list[IndexExpr], now: list[Value]) -> list[Value]:
            if spans == len(self.outer):
                return [self.how.combine(now[0], self._element(places, column, lanes))]

            def tap(i: IndexExpr, now: list[Value]) -> list[Value]:
                return rows(spans + 1, [*places, self._place(spans, i)], now)

            return carry(self.visible[spans][1], now, tap)

        return rows(0, [], [start])[0]

    def _elements(
        self, places: list[IndexExpr], column: list[IndexExpr], lanes: Lanes | None
    ) -> Iterator[Value]:
        """Load all taps of the outer axes; those outside are the last one inside, again."""
        if len(places) == len(self.outer):
            yield self._element(places, column, lanes)
            return
        spans = len(places)
        for t in range(self.outer[spans].taps):
            place = self._place(spans, (self.visible[spans][1] - 1).minimum(t))
            yield from self._elements([*places, place], column, lanes)

    def _element(
        self, places: list[IndexExpr], column: list[IndexExpr], lanes: Lanes | None
    ) -> Value:
        return self.how.element(self.x.load([*self.leading, *places, *column], lanes))

    def _place(self, spans: int, tap: IndexExpr) -> IndexExpr:
        span = self.outer[spans]
        return self.starts[spans] + (self.visible[spans][0] + tap) * span.dilation


class _Row:
    """One row of the input with borders, in scratch memory, and the windows along it."""

    def __init__(self, kernel: KernelBuilder, span: Span, how: Reduction, width: int) -> None:
        self.span, self.how, self.width = span, how, width
        # A vector of windows may start at the last one; the other lanes are not stored.
        reach = (span.windows + width) * span.stride + (span.taps - 1) * span.dilation
        size = greatest(span.begin + span.high, reach) + 2 * width
        self.memory = kernel.private((size,), how.dtype)
        border = Lanes(width)
        for_each(size - width + 1, lambda i: self._store(how.identity(width), i, border), width)
        rest = size - size % width
        for_each(size, lambda i: self._store(how.across(how.identity(1)), i, None), 1, rest)

    def _store(self, value: Value, at: IndexExpr, lanes: Lanes | None) -> None:
        self.memory.store(value, [at], lanes)

    def fill(self, joined: _Joined) -> None:
        """Take the elements of another row."""

        def columns(at: list[IndexExpr], lanes: Lanes | None) -> None:
            self._store(joined.load(at, lanes), at[0] + self.span.begin, lanes)

        each_vector((self.span.high,), self.width, columns)

    def read(self, window: IndexExpr) -> Value:
        """Combine the taps of a vector of windows, from `window` on."""
        start, step, taps = window * self.span.stride, self.span.dilation, self.span.taps
        if taps > UNROLLED:
            total = carry(
                taps,
                [self._tap(start)],
                lambda t, now: [self.how.combine(now[0], self._tap(start + t * step))],
                start=1,
            )
            return total[0]
        taken = [self._tap(start + t * step) for t in range(taps)]
        return functools.reduce(self.how.combine, taken)

    def _tap(self, at: IndexExpr) -> Value:
        """Load every stride-th element from a place on."""
        stride, lanes = self.span.stride, Lanes(self.width)
        if stride == 1:
            return self.memory.load([at], lanes)
        steps = [stride * lane for lane in range(self.width)]
        if stride > 2:
            return self.memory.gather(at, constant_vector(steps), lanes)
        low, high = (self.memory.load([at + part * self.width], lanes) for part in range(2))
        return low.with_ssa(vector.shuffle(low.ssa, high.ssa, steps))


@template(tri.MaxPoolIndices)
def lower_max_pool_indices(
    op: tri.MaxPoolIndices, kernel: KernelBuilder, x: Buffer, y: Epilogue, indices: Epilogue
) -> None:
    """Search each window on its own: the place of a maximum is rarely asked for."""
    window = op.window
    how = Reduction("max", compute_dtype(x.dtype))
    sizes = x.shape[2:]

    def place(at: list[IndexExpr]) -> None:
        starts = [i * s - b for i, s, b in zip(at[2:], window.strides, window.begins, strict=True)]
        lowest = how.across(how.identity(1))
        nowhere = IndexExpr(-1).to_value("i64")

        def tap(taps: list[IndexExpr], now: list[Value]) -> list[Value]:
            best, where = now
            spots = [s + t * d for s, t, d in zip(starts, taps, window.dilations, strict=True)]
            tests = [spot.within(0, n) for spot, n in zip(spots, sizes, strict=True)]
            inside = functools.reduce(Value.logical_and, tests)
            safe = [spot.maximum(0).minimum(n - 1) for spot, n in zip(spots, sizes, strict=True)]
            value = x.load([*at[:2], *safe])
            better = value.greater(best).logical_or(where.less(0))
            if value.is_float:
                better = better.logical_or(value.is_nan())
            better = better.logical_and(inside)
            number = _number(x, at[:2], safe, op.storage_order)
            return [better.select(value, best), better.select(number, where)]

        best, where = carry_nest(window.kernel, [lowest, nowhere], tap)
        y.store(best, at)
        indices.store(where, at)

    each(y.shape, place)


def _number(
    x: Buffer, leading: list[IndexExpr], spots: list[IndexExpr], storage_order: int
) -> Value:
    """Number an element of `x`, its pixels in row-major (0) or column-major (1) order."""
    sizes = list(zip(spots, x.shape[2:], strict=True))
    place = leading[0] * x.shape[1] + leading[1]
    place = place * math.prod(x.shape[2:])
    step = 1
    for spot, size in sizes if storage_order else reversed(sizes):
        place = place + spot * step
        step *= size
    return place.to_value("i64")
