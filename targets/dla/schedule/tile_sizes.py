"""Choose the sizes of tiles of images, and cut ranges into tiles."""

from collections.abc import Callable, Iterator

from ....dialects.core.errors import Unsupported
from ....dialects.core.tensor import Shape
from ..layout.memory_layout import MemoryLayout
from .placement import Ranges

Footprint = Callable[[int, int, int], int]
"""The bytes of SRAM that a tile of some rows, columns and channels needs, its operands included."""


def tiles_of(shape: Shape, layout: MemoryLayout, need: Footprint, budget: int) -> Iterator[Ranges]:
    """Yield the tiles of an image [rows, columns, channels], as large as a budget allows.

    Channels are cut only if one row does not fit, columns only if one grain of channels does not.
    Raises Unsupported if not even a pixel of one grain fits.
    """
    rows, columns, channels = tile_size(shape, layout, need, budget)
    for channel in parts(shape[2], channels):
        for row in parts(shape[0], rows):
            for column in parts(shape[1], columns):
                yield row, column, channel


def tile_size(
    shape: Shape, layout: MemoryLayout, need: Footprint, budget: int
) -> tuple[int, int, int]:
    """Return the rows, columns and channels of the largest tile; raises as `tiles_of`."""
    for columns in halves(shape[1]):
        for channels in halves(shape[2], layout.grain):
            rows = largest(lambda r, c=columns, k=channels: need(r, c, k) <= budget, shape[0])
            if rows:
                return even(shape[0], rows), columns, channels
    least = need(1, 1, layout.grain)
    raise Unsupported(
        f"has no tile that fits into {budget} bytes of sram, the smallest takes {least}"
    )


def parts(total: int, step: int) -> list[tuple[int, int]]:
    """Cut a range into parts of a step; the last one may be smaller."""
    return [(first, min(first + step, total)) for first in range(0, total, step)]


def even(total: int, most: int, grain: int = 1) -> int:
    """Return the step, in whole grains, that cuts a range into the fewest parts of equal size."""
    count = -(-total // max(most, 1))
    step = -(-total // count)
    return -(-step // grain) * grain


def halves(total: int, grain: int = 1) -> Iterator[int]:
    """Yield a size, half of it and so on, in whole grains."""
    count = 1
    size = total
    while True:
        yield size
        if size <= grain:
            return
        count *= 2
        size = even(total, max(total // count, grain), grain)


def largest(fits: Callable[[int], bool], total: int) -> int:
    """Return the largest number up to a total that fits, 0 if none does, by bisection."""
    low, high = 0, total
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low
