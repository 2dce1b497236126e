"""Lowerings of ops that search or accumulate along one axis."""

from collections.abc import Callable

from ....dialects import tri
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.tensor import normalize_axis
from ...kernels.arithmetic import compute_dtype
from ...kernels.conversion import convert
from ..kernels.buffer import Buffer, Lanes, tail_mask, zero
from ..kernels.builder import KernelBuilder
from ..kernels.epilogue import Epilogue, each_vector
from ..kernels.index import IndexExpr, carry, for_each, greatest, place_dtype, when
from ..kernels.loops import each
from ..kernels.reduction import Reduction
from ..kernels.strips import Strip, each_strip, strip_shape
from ..kernels.value import Value
from ..kernels.windows import neighbours, repeated
from ..registry import template

Better = Callable[[Value, Value], Value]


def _more_extreme(kind: str) -> Better:
    """Return the test that a number is more extreme than another; of floats NaN is the most."""

    def test(a: Value, b: Value) -> Value:
        further = a.greater(b) if kind == "max" else a.less(b)
        return further.logical_or(_only_first_is_nan(a, b)) if a.is_float else further

    return test


def _only_first_is_nan(a: Value, b: Value) -> Value:
    return a.is_nan().logical_and(b.is_nan().invert())


def _less(a: Value, b: Value) -> Value:
    """Test that a < b, where NaN is the greatest of floats."""
    return a.less(b).logical_or(_only_first_is_nan(b, a)) if a.is_float else a.less(b)


@template(tri.ArgMax, tri.ArgMin)
def lower_arg_extreme(
    op: tri.ArgMax | tri.ArgMin, kernel: KernelBuilder, x: Buffer, y: Epilogue
) -> None:
    kind = "max" if isinstance(op, tri.ArgMax) else "min"
    outer, length, *inner = strip_shape(x.shape, op.axis)
    search = _Search(kind, length, op.select_last_index, compute_dtype(x.dtype))
    epilogue = y.reshape((outer, *inner))
    if inner:
        strips = x.reshape((outer, length, *inner))

        def columns(at: list[IndexExpr], lanes: Lanes | None) -> None:
            place = search.across_strips(lambda i: strips.load([at[0], i, at[1]], lanes), lanes)
            epilogue.store(place, at, lanes)

        lanes = kernel.lanes(x.dtype, search.places, *epilogue.dtypes)
        each_vector((outer, *inner), lanes, columns)
        return
    width = kernel.lanes(x.dtype, search.places)
    rows = x.reshape((outer, length))
    each((outer,), lambda at: epilogue.store(search.along_strip(rows, at[0], width), at))


@template(tri.Hardmax)
def lower_hardmax(op: tri.Hardmax, kernel: KernelBuilder, x: Buffer, y: Epilogue) -> None:
    shape = strip_shape(x.shape, op.axis)
    strips, epilogue = x.reshape(shape), y.reshape(shape)
    dtype = compute_dtype(x.dtype)
    search = _Search("max", shape[1], False, dtype)

    def strip(s: Strip) -> None:
        if s.inner is None:
            hot = search.along_strip(strips, s.outer, s.width)
        else:
            beside = [s.inner]
            hot = search.across_strips(
                lambda i: strips.load([s.outer, i, *beside], s.across), s.across
            )
        top = s.spread(convert(hot, search.places))

        def mark(at: list[IndexExpr], lanes: Lanes | None) -> None:
            if s.inner is None:
                place = neighbours(at[1], lanes, search.places)
            else:
                place = repeated(at[1].to_value(search.places), lanes)
            off = zero(dtype, lanes)
            epilogue.store(place.equal(top).select(off.like(1), off), at, lanes)

        s.each(mark)

    if x.tensor.size != 0:
        each_strip(shape, kernel.lanes(dtype, search.places, *epilogue.dtypes), strip)


class _Search:
    """Look for the extreme element of strips: its value so far, and its place."""

    def __init__(self, kind: str, length: Size, last: bool, dtype: str) -> None:
        self.length, self.last = length, last
        self.places = place_dtype(length)
        self.how = Reduction(kind, dtype)
        self.better = _more_extreme(kind)

    def across_strips(self, element: Callable[[IndexExpr], Value], lanes: Lanes | None) -> Value:
        """Search neighbouring strips side by side; returns one place for each."""
        start = element(IndexExpr(0))

        def step(i: IndexExpr, now: list[Value]) -> list[Value]:
            return self._step(element(i), repeated(i.to_value(self.places), lanes), now)

        zero = repeated(IndexExpr(0).to_value(self.places), lanes)
        return convert(carry(self.length, [start, zero], step, start=1)[1], "i64")

    def along_strip(self, rows: Buffer, outer: IndexExpr, width: int) -> Value:
        """Search one strip with vectors along it; returns its place as a scalar."""
        full, lanes = self.length - self.length % width, Lanes(width)
        start = [self.how.identity(width), repeated(IndexExpr(0).to_value(self.places), lanes)]
        start = [start[0], start[1] - 1]  # a lane that has seen nothing yet

        def step(i: IndexExpr, now: list[Value]) -> list[Value]:
            return self._step(rows.load([outer, i], lanes), neighbours(i, lanes, self.places), now)

        best = carry(full, start, step, step=width)
        if self.length != full:
            tail = Lanes(width, tail_mask(width, self.length - full))
            places = neighbours(IndexExpr(full), lanes, self.places)
            best = self._step(rows.load([outer, IndexExpr(full)], tail), places, best, tail.mask)
        return self._join(*best)

    def _step(
        self, value: Value, place: Value, now: list[Value], mask: object = None
    ) -> list[Value]:
        best, where = now
        if self.last:
            wins = self.better(best, value).invert()
        else:
            wins = self.better(value, best).logical_or(where.less(0))
        if mask is not None:
            wins = wins.logical_and(Value(mask, "i1"))
        return [wins.select(value, best), wins.select(place, where)]

    def _join(self, best: Value, where: Value) -> Value:
        """Return the first or the last index among the lanes with the extreme value."""
        width = best.ssa.type.shape[0]
        top = repeated(self.how.across(best), Lanes(width))
        hit = best.equal(top)
        if best.is_float:
            hit = hit.logical_or(best.is_nan().logical_and(top.is_nan()))
        hit = hit.logical_and(where.greater_equal(0))
        missed = where.like(-1 if self.last else self.length)
        pick = Reduction("max" if self.last else "min", self.places)
        return convert(pick.across(hit.select(where, missed)), "i64")


@template(tri.CumSum, tri.CumProd)
def lower_cumulative(
    op: tri.CumSum | tri.CumProd, kernel: KernelBuilder, x: Buffer, y: Epilogue
) -> None:
    kind = "add" if isinstance(op, tri.CumSum) else "mul"
    outer, length, *inner = strip_shape(x.shape, op.axis)
    shape = (outer, length, *(inner or (1,)))
    strips, epilogue = x.reshape(shape), y.reshape(shape)
    how = Reduction(kind, "f64" if compute_dtype(x.dtype) == "f32" else x.dtype)

    def columns(at: list[IndexExpr], lanes: Lanes | None) -> None:
        start = how.identity(lanes.width) if lanes else how.across(how.identity(1))

        def step(i: IndexExpr, now: list[Value]) -> list[Value]:
            place = [at[0], IndexExpr(length - 1) - i if op.reverse else i, at[1]]
            total = how.combine(now[0], convert(strips.load(place, lanes), how.dtype))
            epilogue.store(convert(now[0] if op.exclusive else total, x.dtype), place, lanes)
            return [total]

        carry(length, [start], step)

    if inner:
        each_vector((outer, *inner), kernel.lanes(how.dtype, *epilogue.dtypes), columns)
    else:
        each((outer, 1), lambda at: columns(at, None))


@template(tri.TopK)
def lower_top_k(
    op: tri.TopK, kernel: KernelBuilder, x: Buffer, values: Epilogue, indices: Epilogue
) -> None:
    """Keep the best k so far in order, and insert an element when it beats the last of them."""
    axis = normalize_axis(op.axis, len(x.shape))
    outer, length, *inner = strip_shape(x.shape, axis)
    inner = inner or [1]
    strips = x.reshape((outer, length, *inner))
    tops = [epilogue.reshape((outer, op.k, *inner)) for epilogue in (values, indices)]
    better = _more_extreme("max") if op.largest else _less
    best = _Best(kernel, op.k, compute_dtype(x.dtype), better)

    def strip(at: list[IndexExpr]) -> None:
        def element(i: IndexExpr) -> Value:
            return strips.load([at[0], i, at[1]])

        for_each(op.k, lambda i: best.insert(element(i), i, i))

        def try_element(i: IndexExpr) -> None:
            value = element(i)
            last = best.values.load([IndexExpr(op.k - 1)])
            when(best.better(value, last), lambda: best.insert(value, i, IndexExpr(op.k - 1)))

        for_each(length, try_element, start=op.k)
        for_each(op.k, lambda j: tops[0].store(best.values.load([j]), [at[0], j, at[1]]))
        for_each(op.k, lambda j: tops[1].store(best.places.load([j]), [at[0], j, at[1]]))

    if op.k != 0:
        each((outer, *inner), strip)


class _Best:
    """Keep the best elements of a strip in order, with their places, in scratch memory."""

    def __init__(self, kernel: KernelBuilder, count: int, dtype: str, better: Better) -> None:
        self.values = kernel.private((greatest(count, 1),), dtype)
        self.places = kernel.private((greatest(count, 1),), "i64")
        self.better = better

    def insert(self, value: Value, place: IndexExpr, count: IndexExpr) -> None:
        """Insert after equally good elements; later elements move by one, over number `count`."""

        def step(j: IndexExpr, now: list[Value]) -> list[Value]:
            new, old = now[:2], [self.values.load([j]), self.places.load([j])]
            moved = now[2].logical_or(self.better(new[0], old[0]))
            for buffer, a, b in zip((self.values, self.places), new, old, strict=True):
                buffer.store(moved.select(a, b), [j])
            return [*(moved.select(b, a) for a, b in zip(new, old, strict=True)), moved]

        start = [value, place.to_value("i64"), IndexExpr(0).equal(1)]
        rest = carry(count, start, step)
        self.values.store(rest[0], [count])
        self.places.store(rest[1], [count])
