"""Halo regions: the rows or columns of a source image that a tile of the result reads."""

from dataclasses import dataclass

from ....dialects import dla
from ....dialects.core.attributes import tensor_of
from ....dialects.core.errors import Unsupported
from ....dialects.core.tensor import Shape
from .tile_sizes import parts


@dataclass(frozen=True)
class HaloRegion:
    """Map a range of a result to the range of the source that it reads, along one axis.

    `pad` is how many positions the first window starts before the source range.
    """

    out: tuple[int, int]
    source: tuple[int, int]
    pad: int

    def fields(self, axis: str, side: str) -> dict[str, int]:
        """Return the packet fields of this axis."""
        first, end = self.source
        return {
            axis: end - first,
            f"out_{axis}": self.out[1] - self.out[0],
            f"pad_{side}": self.pad,
        }


def extent(taps: int, dilation: int) -> int:
    """Return how many positions a dilated kernel covers."""
    return (taps - 1) * dilation + 1


def halo_regions(op: dla.Conv | dla.Pool, axis: int, step: int) -> list[HaloRegion]:
    """Cut the rows (axis 0) or columns (1) of a result into steps, each with its halo region."""
    size, total = (tensor_of(v.type).shape[1 + axis] for v in (op.x, op.y))
    kernel = op.kernel if isinstance(op, dla.Pool) else tensor_of(op.w.type).shape
    reach = extent(kernel[axis], op.dilations[axis])
    stride, pad = op.strides[axis], op.pads[axis]
    return [halo_region(out, stride, pad, reach, size) for out in parts(total, step)]


def halo_region(out: tuple[int, int], stride: int, pad: int, reach: int, size: int) -> HaloRegion:
    """Return the halo region of a range of a result; the source axis has `size` elements.

    `reach` is the extent of the kernel. Raises Unsupported if all windows are outside of the
    source, because a packet has no field for their distance.
    """
    first = out[0] * stride - pad
    end = (out[1] - 1) * stride - pad + reach
    if end <= 0 or first >= size:
        raise Unsupported("has no tile for windows with nothing of the image")
    return HaloRegion(out, (max(first, 0), min(end, size)), max(-first, 0))


def largest_halo(
    out: tuple[int, int], strides: Shape, extents: Shape, sizes: Shape
) -> tuple[int, int]:
    """Return how many source rows and columns a tile of `out` rows and columns reads at most."""
    rows, columns = (
        min((out[axis] - 1) * strides[axis] + extents[axis], sizes[axis]) for axis in (0, 1)
    )
    return rows, columns
