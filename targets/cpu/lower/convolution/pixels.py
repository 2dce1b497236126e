"""Rows of pixels: the left-hand side of convolutions with vectors across outputs."""

from collections.abc import Callable, Sequence

from .....dialects.core.sizes.atoms import Size
from ...kernels.buffer import Buffer
from ...kernels.index import IndexExpr
from ...kernels.products.contraction import Left, Rows
from ...kernels.value import Value
from ...kernels.windows import Axis


def _place(rows: Rows, r: int, width: Size) -> list[IndexExpr]:
    """Return the line and the column of a row of a tile."""
    if rows.place is not None:
        line, column = rows.place
        return [line, column + r]
    column = IndexExpr(r % width) if rows.count >= width else rows.first % width + r
    return [rows.first // width + r // width, column]


def corners(rows: Rows, taken: range, width: Size) -> list[tuple[IndexExpr, IndexExpr]]:
    """Return the first and the last line, and column, of some rows of a tile."""
    first, last = (_place(rows, r, width) for r in (taken[0], taken[-1]))
    if rows.count > width:  # whole lines
        first[1], last[1] = IndexExpr(0), IndexExpr(width - 1)
    return list(zip(first, last, strict=True))


Read = Callable[[Sequence[IndexExpr], Sequence[IndexExpr]], Value]
"""Load the element of a channel, which may take several indices, at a place of an image."""


def read_pixels(matrix: Buffer) -> Left:
    """Return the `left` whose rows are the pixels of a matrix [channels, pixels].

    The last index of a depth is the channel.
    """
    return lambda rows, r, depth: matrix.load([depth[-1], rows.first + r])


def read_windows(read: Read, width: Size, axes: Sequence[Axis]) -> Left:
    """Return the `left` whose rows are windows; tiles are whole lines of `width` or parts of one.

    A depth is the index of a tap on each axis, then a channel.
    """

    def left(rows: Rows, r: int, depth: Sequence[IndexExpr]) -> Value:
        tap, channel = depth[: len(axes)], depth[len(axes) :]
        place = _place(rows, r, width)[-len(axes) :]
        at = [
            p * axis.stride + t * axis.dilation for p, t, axis in zip(place, tap, axes, strict=True)
        ]
        return read(channel, at)

    return left
