"""Lowering of resizing: rows are joined by the outer axes, then summed along the last axis."""

from collections.abc import Callable, Sequence

from .....dialects import tri
from .....dialects.tri.image.interpolation import Axis
from ....kernels.arithmetic import float_dtype
from ....kernels.conversion import convert
from ....kernels.lower import resize
from ...kernels.buffer import Buffer, Lanes
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue, each_vector
from ...kernels.index import IndexExpr, carry, index_of, place_dtype
from ...kernels.loops import each
from ...kernels.value import Value
from ...kernels.windows import divide_unsigned, neighbours, repeated
from ...registry import template
from .resize_tables import computed_taps

Taps = resize.Taps[Buffer]


def _place(taps: Taps, tap: IndexExpr, at: IndexExpr) -> IndexExpr:
    if taps.places is None:
        return at // taps.ratio[1]
    return index_of(taps.places.load([tap, at]))


@template(tri.Resize)
def lower_resize(op: tri.Resize, kernel: KernelBuilder, x: Buffer, y: Epilogue) -> None:
    if not x.shape:
        y.emit_copy(x)
        return
    dtype = x.dtype if op.mode == "nearest" else float_dtype(x.dtype)
    axes = [_taps(op, axis, dtype, kernel) for axis in resize.axes_of(op, x.shape)]
    if op.mode == "nearest":
        _nearest(x, axes, y, op.extrapolation_value)
    else:
        _interpolate(kernel, x, axes, y, dtype, op.extrapolation_value)


def _taps(op: tri.Resize, axis: Axis, dtype: str, kernel: KernelBuilder) -> Taps:
    dtypes = place_dtype(axis.size), dtype
    if resize.is_computed(op, axis):
        return computed_taps(op, axis, dtypes, kernel)
    return resize.taps_of(op, axis, dtypes, lambda table, _: kernel.table(table))


def _nearest(x: Buffer, axes: Sequence[Taps], y: Epilogue, beyond: float) -> None:
    *outer, last = axes

    def read(at: list[IndexExpr], lanes: Lanes | None) -> Value:
        places = [_place(taps, IndexExpr(0), i) for taps, i in zip(outer, at, strict=False)]
        if lanes is None or (last.places is None and last.ratio[1] == 1):
            number = x.load([*places, _place(last, IndexExpr(0), at[-1])], lanes)
        else:
            steps = _steps(last, at[-1], lanes, place_dtype(x.shape[-1] * last.ratio[1]))
            number = x.gather(x.position([*places, IndexExpr(0)]), steps.ssa, lanes)
        return _extrapolated(number, axes, at, lanes, beyond)

    y.emit_vectors(read, x.dtype, place_dtype(x.shape[-1]))


def _steps(taps: Taps, at: IndexExpr, lanes: Lanes, dtype: str) -> Value:
    """Return the elements of a row that neighbouring new elements take."""
    if taps.places is not None:
        return taps.places.load([IndexExpr(0), at], lanes)
    return divide_unsigned(neighbours(at, lanes, dtype), taps.ratio[1])


def _interpolate(
    kernel: KernelBuilder, x: Buffer, axes: Sequence[Taps], y: Epilogue, dtype: str, beyond: float
) -> None:
    """Join the rows that a new row is made of to one, then sum along it."""
    *outer, last = axes
    width = kernel.lanes(dtype, x.dtype)
    row = kernel.private((x.shape[-1],), dtype)

    def joined(at: list[IndexExpr], j: list[IndexExpr], lanes: Lanes | None) -> Value:
        def sum_of(places: list[IndexExpr]) -> Value:
            if len(places) == len(outer):
                return convert(x.load([*places, *j], lanes), dtype)
            taps, i = outer[len(places)], at[len(places)]
            return _weighted(taps, i, lambda tap: sum_of([*places, _place(taps, tap, i)]), lanes)

        return sum_of([])

    def join(at: list[IndexExpr]) -> None:
        each_vector(
            (x.shape[-1],), width, lambda j, lanes: row.store(joined(at, j, lanes), j, lanes)
        )

    places, weights = last.places, last.weights

    def along(at: list[IndexExpr], lanes: Lanes | None) -> Value:
        assert places is not None, "an axis that changes has places"
        assert weights is not None, "and weights"
        total: Value | None = None
        for tap in range(last.count):
            where = [IndexExpr(tap), *at]
            if lanes is None:
                number = row.load([_place(last, IndexExpr(tap), at[0])])
            else:
                number = row.gather(IndexExpr(0), places.load(where, lanes).ssa, lanes)
            factor = weights.load(where, lanes)
            total = number * factor if total is None else number.fma(factor, total)
        assert total is not None, "an element is made of one at least"
        return total

    is_joined = places is None or weights is None

    def new_row(at: list[IndexExpr]) -> None:
        if not is_joined:
            join(at)

        def store(j: list[IndexExpr], lanes: Lanes | None) -> None:
            summed = joined(at, j, lanes) if is_joined else along(j, lanes)
            number = _extrapolated(summed, axes, [*at, *j], lanes, beyond)
            y.store(convert(number, x.dtype), [*at, *j], lanes)

        each_vector(y.shape[-1:], width, store)

    each(y.shape[:-1], new_row)


def _weighted(
    taps: Taps, i: IndexExpr, element: Callable[[IndexExpr], Value], lanes: Lanes | None
) -> Value:
    """Sum the taps of one new element of an outer axis."""
    if taps.weights is None:
        return element(IndexExpr(0))
    weights = taps.weights

    def weight(tap: IndexExpr) -> Value:
        return repeated(weights.load([tap, i]), lanes)

    first = element(IndexExpr(0)) * weight(IndexExpr(0))
    if taps.count == 1:
        return first

    def step(tap: IndexExpr, now: list[Value]) -> list[Value]:
        return [element(tap).fma(weight(tap), now[0])]

    return carry(taps.count, [first], step, start=1)[0]


def _extrapolated(
    value: Value, axes: Sequence[Taps], at: list[IndexExpr], lanes: Lanes | None, beyond: float
) -> Value:
    """Put a constant where any axis sees nothing of the input."""
    for axis, (taps, i) in enumerate(zip(axes, at, strict=True)):
        if taps.outside is not None:
            along = axis == len(axes) - 1
            flag = taps.outside.load([i], lanes if along else None)
            outside = (flag if along else repeated(flag, lanes)).not_equal(0)
            value = outside.select(value.like(beyond), value)
    return value
