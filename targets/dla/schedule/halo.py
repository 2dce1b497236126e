"""Find out which rows or columns of an image a part of a result needs."""

from dataclasses import dataclass

from ....dialects import dla
from ....dialects.core.attributes import tensor_of
from ....dialects.core.errors import Unsupported
from ....dialects.core.tensor import Shape
from ..select.windows import extent
from .tiler import parts


@dataclass(frozen=True)
class Span:
    """Say, along one axis, which part of a result is made of which part of an image.

    `pad` is how many positions before that part the first window starts.
    """

    out: tuple[int, int]
    taken: tuple[int, int]
    pad: int

    def fields(self, axis: str, side: str) -> dict[str, int]:
        """Return the fields of a packet that say so."""
        first, end = self.taken
        return {
            axis: end - first,
            f"out_{axis}": self.out[1] - self.out[0],
            f"pad_{side}": self.pad,
        }


def spans(op: dla.Conv | dla.Pool, axis: int, step: int) -> list[Span]:
    """Cut the rows (axis 0) or columns (1) of a result into parts, with what they need."""
    size, total = (tensor_of(v.type).shape[1 + axis] for v in (op.x, op.y))
    kernel = op.kernel if isinstance(op, dla.Pool) else tensor_of(op.w.type).shape
    reach = extent(kernel[axis], op.dilations[axis])
    return [span(out, op.strides[axis], op.pads[axis], reach, size) for out in parts(total, step)]


def most_taken(
    out: tuple[int, int], strides: Shape, extents: Shape, sizes: Shape
) -> tuple[int, int]:
    """Return how many rows and columns of an image so many of a result need, at most."""
    rows, columns = (
        min((out[axis] - 1) * strides[axis] + extents[axis], sizes[axis]) for axis in (0, 1)
    )
    return rows, columns


def span(out: tuple[int, int], stride: int, pad: int, reach: int, size: int) -> Span:
    """Return what a part of a result needs of an axis that has so many elements.

    The kernel spans `reach` of them.

    Raises Unsupported where that is nothing: a packet does not say how far behind an image it is.
    """
    first = out[0] * stride - pad
    end = (out[1] - 1) * stride - pad + reach
    if end <= 0 or first >= size:
        raise Unsupported("has no tile for windows with nothing of the image")
    return Span(out, (max(first, 0), min(end, size)), max(-first, 0))
