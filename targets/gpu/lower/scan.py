"""Lowerings of ops that search or accumulate along one axis."""

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.sizes.dim import ceildiv
from ....dialects.core.tensor import normalize_axis
from ...kernels.arithmetic import compute_dtype, extreme_value
from ..kernels.buffer import Buffer
from ..kernels.builder import KernelBuilder
from ..kernels.coordinates import Axis, Coordinates
from ..kernels.epilogue import Epilogue
from ..kernels.loop import loop
from ..kernels.reductions import ArgReduction, SimpleReduction
from ..kernels.rows import Layout, Rows
from ..kernels.value import Value, full, scalar
from ..registry import accepts, template
from ..schedule.row_plan import WHOLE_ROW, scan_plan, whole_plan
from .reduce import SUMS, reduce_dims

MOST_TAKEN = 64
"""The most elements that `tri.topk` may select: a kernel searches for them one by one."""

NOWHERE = 2**31 - 1
"""A place behind all others."""


@template(tri.ArgMax, tri.ArgMin)
def lower_arg_extreme(
    op: tri.ArgMax | tri.ArgMin, kernel: KernelBuilder, x: Buffer, y: Epilogue
) -> None:
    kind = "max" if isinstance(op, tri.ArgMax) else "min"
    axes = (normalize_axis(op.axis, len(x.shape)),)
    reduction = ArgReduction(kind, compute_dtype(x.dtype), op.select_last_index)
    reduce_dims(
        kernel, x, axes, y, reduction, lambda number: number, lambda state: state[1].cast("i64")
    )


@template(tri.CumSum, tri.CumProd)
def lower_cumulative(
    op: tri.CumSum | tri.CumProd, kernel: KernelBuilder, x: Buffer, y: Epilogue
) -> None:
    """Accumulate along an axis, block after block, from the result of the blocks before."""
    if 0 in x.shape:
        return
    kind = "sum" if isinstance(op, tri.CumSum) else "prod"
    layout = Layout.of(x, (normalize_axis(op.axis, len(x.shape)),))
    plan = scan_plan(layout.rows, layout.length, layout.along)
    rows = Rows(kernel, layout, plan)
    reduction = SimpleReduction(kind, SUMS.get(x.dtype, x.dtype))
    (identity,) = reduction.identities
    blocks = ceildiv(layout.length, plan.columns)

    def block(first: Value, before: list[Value]) -> list[Value]:
        columns = rows.columns(first)
        number = columns.load(x, identity).cast(reduction.dtype)
        shown = number
        if op.exclusive:  # an exclusive result is the neighbour's inclusive one
            shown = columns.moved(1 if op.reverse else -1).load(x, identity).cast(reduction.dtype)
        found = shown.scan(kind, 1, op.reverse)
        (through,) = reduction.combine([found], [before[0].expand(1)])
        y.store(through.cast(compute_dtype(x.dtype)), columns.at)
        # Not `before` plus a sum: Triton 3.6 crashes on sums that only the next iteration reads.
        last = columns.index.equal(first if op.reverse else first + (plan.columns - 1))
        return [last.select(through, 0).reduce("sum", 1)]

    start = reduction.identity("ROWS")
    if blocks == 1:
        block(scalar(0), start)
        return

    def iteration(first: Value, before: Value) -> list[Value]:
        first = (blocks - 1) * plan.columns - first if op.reverse else first
        return block(first, [before])

    loop(0, blocks * plan.columns, plan.columns, start, iteration, "first")


@accepts(tri.TopK)
def takes_at_most_64(op: tri.TopK) -> bool:
    """Takes at most 64 elements, of rows of at most 16384."""
    return op.k <= MOST_TAKEN and tensor_of(op.x.type).shape[op.axis] <= WHOLE_ROW


@template(tri.TopK)
def lower_top_k(
    op: tri.TopK, kernel: KernelBuilder, x: Buffer, values: Epilogue, indices: Epilogue
) -> None:
    """Look for the greatest key, then for the greatest one behind it, and so on."""
    if 0 in values.shape:
        return
    axis = normalize_axis(op.axis, len(x.shape))
    layout = Layout.of(x, (axis,))
    rows = Rows(kernel, layout, whole_plan(layout.rows, layout.length, layout.along))
    columns = rows.columns(0)
    keys = _ordered(columns.load(x))
    keys = (keys if op.largest else keys.invert()).named("keys")
    least = extreme_value(keys.dtype, least=True)

    def iteration(rank: Value, last: Value, where: Value) -> list[Value]:
        place = columns.index
        behind = keys.equal(last.expand(1)).logical_and(place.greater(where.expand(1)))
        left = keys.less(last.expand(1)).logical_or(behind)
        left = left.logical_and(place.less(layout.length))
        best = left.select(keys, least).reduce("max", 1).named("best")
        hit = left.logical_and(keys.equal(best.expand(1)))
        found = hit.select(place, NOWHERE).reduce("min", 1).named("place")
        kept = Axis(layout.kept, rows.index)
        value = x.load(Coordinates(x.shape, (kept, Axis((axis,), found))))
        at = Coordinates(values.shape, (kept, Axis((axis,), rank)))
        values.store(value, at)
        indices.store(found.cast("i64"), at)
        return [best.broadcast_to(last.shape), found.broadcast_to(where.shape)]

    greatest = extreme_value(keys.dtype, least=False)
    start = [full(greatest, keys.dtype, ("ROWS",)), full(-1, "i32", ("ROWS",))]
    loop(0, op.k, 1, start, iteration, "rank")


def _ordered(x: Value) -> Value:
    """Return signed integers in the order of numbers; NaN is the greatest, zeros are equal."""
    if x.kind == "uint" and x.dtype == "ui64":
        return x.bits("i64").logical_xor(extreme_value("i64", least=True))
    if not x.is_float:
        return x.cast("i64" if x.dtype in ("i64", "ui32") else "i32")
    dtype = "i64" if x.dtype == "f64" else "i32"
    bits = x.equal(0).select(x.like(0), x).bits(dtype)
    width = 63 if x.dtype == "f64" else 31
    greatest = extreme_value(dtype, least=False)
    ordered = bits.logical_xor(bits.shift_right(width).logical_and(greatest))
    return x.is_nan().select(ordered.like(greatest), ordered)
