"""Lowerings of ops that rearrange elements in blocks of space, in steps of time, in circles."""

from ....dialects import tri
from ....dialects.core.sizes.dim import highest
from ....dialects.core.tensor import normalize_axis
from ..kernels.buffer import Buffer
from ..kernels.epilogue import Reader
from ..kernels.value import Value
from ..registry import indexed


@indexed(tri.DepthToSpace)
def lower_depth_to_space(op: tri.DepthToSpace, x: Buffer) -> Reader:
    b = op.blocksize
    depth = x.shape[1] // b**2

    def read(at: list[Value]) -> Value:
        n, c, h, w = at
        block = h.remainder(b) * b + w.remainder(b)
        channel = block * depth + c if op.mode == "DCR" else c * b**2 + block
        return x.load([n, channel, h / b, w / b])

    return read


@indexed(tri.SpaceToDepth)
def lower_space_to_depth(op: tri.SpaceToDepth, x: Buffer) -> Reader:
    b, depth = op.blocksize, x.shape[1]

    def read(at: list[Value]) -> Value:
        n, c, h, w = at
        block = c / depth
        row, column = h * b + block / b, w * b + block.remainder(b)
        return x.load([n, c.remainder(depth), row, column])

    return read


@indexed(tri.ReverseSequence)
def lower_reverse_sequence(op: tri.ReverseSequence, x: Buffer, lengths: Buffer) -> Reader:
    batch, time = (normalize_axis(a, len(x.shape)) for a in (op.batch_axis, op.time_axis))

    def read(at: list[Value]) -> Value:
        length, step = lengths.load([at[batch]]).cast("i32"), at[time]
        source = step.less(length).select(length - 1 - step, step)
        return x.load([source if d == time else i for d, i in enumerate(at)])

    return read


@indexed(tri.Roll)
def lower_roll(op: tri.Roll, x: Buffer) -> Reader:
    shifts = [0] * len(x.shape)
    for axis, shift in zip(op.axes, op.shifts, strict=True):
        shifts[axis] += shift

    def read(at: list[Value]) -> Value:
        return x.load([_behind(i, n, s) for i, n, s in zip(at, x.shape, shifts, strict=True)])

    return read


def _behind(index: Value, size: int, shift: int) -> Value:
    """Return the place in a circle from which a shift leads to an index."""
    before = -shift % highest(size, 1)
    return (index + before).remainder(size) if before != 0 else index
