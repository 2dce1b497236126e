"""Depthwise convolution of any rank, stride and dilation, a vector of windows at a time."""

from collections.abc import Sequence

from ....kernels.arithmetic import compute_dtype
from ...kernels.buffer import Buffer, Lanes, all_lanes, constant_vector, vector
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue, each_vector
from ...kernels.index import IndexExpr, carry_nest
from ...kernels.products.contraction import splat
from ...kernels.value import Value, arith, constant_of
from ...kernels.windows import Axis, inside_axis


def slide_windows(
    kernel: KernelBuilder,
    x: Buffer,
    w: Buffer,
    b: Buffer | None,
    y: Epilogue,
    axes: Sequence[Axis],
) -> None:
    """Slide each kernel over its own channel, a vector of neighbouring windows at a time."""
    dtype = compute_dtype(x.dtype)
    width = kernel.lanes(dtype)

    def windows(at: list[IndexExpr], lanes: Lanes | None) -> None:
        lanes = lanes or Lanes(1)
        batch, channel, *place = at
        start = [b.load([channel])] if b is not None else [Value(constant_of(0, dtype), dtype)]

        def tap(index: list[IndexExpr], sums: list[Value]) -> list[Value]:
            taken = _row_of_taps(x, axes, [batch, channel], place, index, lanes)
            weight = splat(w.load([channel, IndexExpr(0), *index]), lanes.width)
            return [taken.fma(weight, sums[0])]

        total = carry_nest(w.shape[2:], [splat(start[0], lanes.width)], tap)[0]
        y.store(total, at, lanes)

    each_vector(y.shape, width, windows)


def _row_of_taps(
    x: Buffer,
    axes: Sequence[Axis],
    leading: Sequence[IndexExpr],
    place: Sequence[IndexExpr],
    tap: Sequence[IndexExpr],
    lanes: Lanes,
) -> Value:
    """Load one tap of neighbouring windows in one row: contiguous or strided, zero outside."""
    mask = lanes.mask
    at = [
        p * axis.stride + t * axis.dilation - axis.begin
        for p, t, axis in zip(place, tap, axes, strict=True)
    ]
    padded = [(i, axis) for i, axis in zip(at[:-1], axes[:-1], strict=True) if axis.padded]
    rows = [index.within(0, axis.size) for index, axis in padded]
    last, column = axes[-1], at[-1]
    if last.stride == 2:
        return _every_other(x, last, rows, [*leading, *at], lanes)
    for row in rows:
        inside = splat(row, lanes.width).ssa
        mask = inside if mask is None else arith.andi(mask, inside)
    if last.padded:
        inside = inside_axis(column, lanes.width, last, last.stride)
        mask = inside if mask is None else arith.andi(mask, inside)
    if last.stride == 1:
        return x.load([*leading, *at], Lanes(lanes.width, mask))
    position = x.position([*leading, *at])
    steps = constant_vector([lane * last.stride for lane in range(lanes.width)])
    return x.gather(position, steps, Lanes(lanes.width, mask or all_lanes(lanes.width)))


def _every_other(
    x: Buffer, axis: Axis, rows: Sequence[Value], at: Sequence[IndexExpr], lanes: Lanes
) -> Value:
    """Load every other element of a row: two vectors, of which one half is kept.

    Several times faster than a gather. Elements outside the row are not loaded, and none at all
    unless all `rows` are true: the row is one of the input.
    """
    wide = 2 * lanes.width
    mask = inside_axis(at[-1], wide, axis)
    for row in rows:
        mask = arith.andi(mask, splat(row, wide).ssa)
    twice = Lanes(wide, mask)
    both = x.load(at, twice)
    kept = both.with_ssa(vector.deinterleave(both.ssa)[0])
    if lanes.mask is None:
        return kept
    return Value(lanes.mask, "i1").select(kept, 0)
