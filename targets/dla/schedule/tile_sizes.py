"""Choose how large tiles are, for ops that only have images."""

from collections.abc import Callable, Iterator

from ....dialects.core.errors import Unsupported
from ....dialects.core.tensor import Shape
from ..layout.memory_layout import Layout
from .placement import Ranges
from .tiler import even, parts

Need = Callable[[int, int, int], int]
"""How many bytes of sram a tile of so many rows, columns and channels takes, with what it reads."""


def blocks(shape: Shape, layout: Layout, need: Need, budget: int) -> Iterator[Ranges]:
    """Yield the tiles of an image [rows, columns, channels], as large as a budget allows.

    Whole rows and all channels are best; channels are cut before columns are. Raises Unsupported
    when not even a pixel of one grain of channels fits.
    """
    rows, columns, channels = block_sizes(shape, layout, need, budget)
    for channel in parts(shape[2], channels):
        for row in parts(shape[0], rows):
            for column in parts(shape[1], columns):
                yield row, column, channel


def block_sizes(shape: Shape, layout: Layout, need: Need, budget: int) -> tuple[int, int, int]:
    """Return how many rows, columns and channels a tile has."""
    for columns in halves(shape[1]):
        for channels in halves(shape[2], layout.grain):
            rows = largest(lambda r, c=columns, k=channels: need(r, c, k) <= budget, shape[0])
            if rows:
                return even(shape[0], rows), columns, channels
    least = need(1, 1, layout.grain)
    raise Unsupported(
        f"has no tile that fits into {budget} bytes of sram, the smallest takes {least}"
    )


def halves(total: int, grain: int = 1) -> Iterator[int]:
    """Yield a size, its half and so on, in whole grains."""
    count = 1
    size = total
    while True:
        yield size
        if size <= grain:
            return
        count *= 2
        size = even(total, max(total // count, grain), grain)


def largest(fits: Callable[[int], bool], total: int) -> int:
    """Return the largest number up to a total that fits, 0 if none does; need grows with it."""
    low, high = 0, total
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low
