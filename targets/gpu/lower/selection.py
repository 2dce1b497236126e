"""Lowering of selections: parts of a tensor count what they have, then each writes its own part.

A program knows where it writes from what the parts before its own have. There is one program more
than parts: it has nothing behind it, and says how much is selected.
"""

from ....dialects import tri
from ....dialects.core.sizes.dim import ceildiv
from ....dialects.core.tensor import Tensor
from ..kernels.buffer import Buffer
from ..kernels.builder import KernelBuilder
from ..kernels.coordinates import Axis, Coordinates
from ..kernels.epilogue import Epilogue
from ..kernels.loop import loop
from ..kernels.value import Value, arange, scalar, zeros
from ..registry import template

BLOCK, PART = "BLOCK", 1024
"""Elements of a part."""


@template(tri.PaddedNonZero)
def lower_padded_non_zero(
    op: tri.PaddedNonZero, kernel: KernelBuilder, x: Buffer, y: Epilogue, count: Epilogue
) -> None:
    counts = _counts(kernel, x)
    part, index = _part_of(kernel, x)
    before, total = _sums(counts, part)
    hit = _hits(x, index)
    rank = hit.cast("i32").scan("sum", 0) - 1 + before
    found = hit.select(rank, -1).named("found")
    behind = index.greater_equal(total).select(index, -1).named("behind")
    for axis, place in enumerate(_at(x, index).indices()):
        wide = place.cast("i64").broadcast_to(index.shape)
        y.store(wide, [scalar(axis), found])
        y.store(zeros("i64", BLOCK), [scalar(axis), behind])
    last = part.equal(counts.shape[0] - 1)
    count.reshape((1,)).store(total.cast("i64"), [last.select(scalar(0), -1)])


def _counts(kernel: KernelBuilder, x: Buffer) -> Buffer:
    """Add a prior kernel that counts the elements of each part which are not zero, an i32 each."""
    first = kernel.prior_kernel("counts")
    source = first.import_buffer(x)
    with first:
        part, index = _part_of(first, source)
        made = first.intermediate(Tensor((_parts(x),), "i32"), "counts")
        made.store(_hits(source, index).cast("i32").reduce("sum", 0), [part])
    return kernel.import_buffer(made)


def _parts(x: Buffer) -> int:
    """Return the number of parts, with the empty one behind all others."""
    return ceildiv(x.tensor.size, PART) + 1


def _part_of(kernel: KernelBuilder, x: Buffer) -> tuple[Value, Value]:
    """Make a grid over parts; return which one a program has, and the indices of its elements."""
    kernel.block_of(BLOCK, PART)
    part = kernel.programs(_parts(x)).named("part")
    return part, kernel.indices(part * PART, BLOCK, "index")


def _at(x: Buffer, index: Value) -> Coordinates:
    return Coordinates(x.shape, (Axis(tuple(range(len(x.shape))), index),))


def _hits(x: Buffer, index: Value) -> Value:
    """Return which elements of a part are not zero."""
    number = x.load(_at(x, index))
    hit = number if number.kind == "bool" else number.not_equal(0)
    return hit.logical_and(index.less(x.tensor.size)).named("hit")


def _sums(counts: Buffer, part: Value) -> list[Value]:
    """Return how many elements are found before a part, and in all parts."""

    def add(first: Value, before: Value, total: Value) -> list[Value]:
        number = arange(BLOCK) + first
        found = counts.load([number])
        return [before + number.less(part).select(found, 0), total + found]

    start = zeros("i32", BLOCK)
    sums = loop(0, counts.shape[0], PART, [start, start], add, "first")
    return [each.reduce("sum", 0) for each in sums]
