"""Rows of pixels: the left-hand side of convolutions with vectors across outputs."""

from collections.abc import Callable, Sequence

from .....dialects.core.tensor import Shape
from ...kernels.buffer import Buffer
from ...kernels.index import IndexExpr, unravel
from ...kernels.products.contraction import Left, Rows
from ...kernels.value import Value
from ...kernels.windows import Axis


def _place(rows: Rows, r: int, windows: Shape) -> list[IndexExpr]:
    """Return the place of a row of a tile among the windows, an index for each axis."""
    *outer, width = windows
    if rows.place is not None:
        line, column = rows.place
        return [*unravel(line, outer), column + r]
    column = IndexExpr(r % width) if rows.count >= width else rows.first % width + r
    return [*unravel(rows.first // width + r // width, outer), column]


def corners(rows: Rows, taken: range, windows: Shape) -> list[tuple[IndexExpr, IndexExpr]]:
    """Return between which places some rows of a tile are, on each axis."""
    first, last = (_place(rows, r, windows) for r in (taken[0], taken[-1]))
    if rows.count > windows[-1]:  # whole lines, which may be of two planes
        for axis, size in enumerate(windows[1:], 1):
            first[axis], last[axis] = IndexExpr(0), IndexExpr(size - 1)
    return list(zip(first, last, strict=True))


Read = Callable[[Sequence[IndexExpr], Sequence[IndexExpr]], Value]
"""Load the element of a channel, which may take several indices, at a place of an image."""


def read_pixels(matrix: Buffer) -> Left:
    """Return the `left` whose rows are the pixels of a matrix [channels, pixels].

    The last index of a depth is the channel.
    """
    return lambda rows, r, depth: matrix.load([depth[-1], rows.first + r])


def read_windows(read: Read, windows: Shape, axes: Sequence[Axis]) -> Left:
    """Return the `left` whose rows are windows; tiles are whole lines of them or parts of one.

    A depth is the index of a tap on each axis, then a channel.
    """

    def left(rows: Rows, r: int, depth: Sequence[IndexExpr]) -> Value:
        tap, channel = depth[: len(axes)], depth[len(axes) :]
        place = _place(rows, r, windows)
        at = [
            p * axis.stride + t * axis.dilation for p, t, axis in zip(place, tap, axes, strict=True)
        ]
        return read(channel, at)

    return left
