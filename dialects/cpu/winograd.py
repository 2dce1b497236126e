"""Winograd's minimal filtering: 3x3 convolution with fewer multiplications."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from ..core.errors import Invalid
from ..core.fields import Operand, Result
from ..core.sizes.checks import need_divides
from ..core.tensor import Array, Shape, Tensor, same_dtype
from ..tri.image.conv import Conv
from .dialect import CpuOp
from .packing import pack_last_axis, split_rows, unpack_rows

TAPS = 3

Matrix = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Transforms:
    """Hold the three matrices of F(tile x tile, 3x3), as tuples of rows."""

    kernel: Matrix
    input: Matrix
    output: Matrix

    @property
    def points(self) -> int:
        """Count the elements of a transformed tile along one axis."""
        return len(self.input)

    @staticmethod
    def at(*places: float) -> "Transforms":
        """Interpolate the product of two polynomials at some places, and at infinity.

        An input row is the product of x - p for all other places p, and so ends with 1; kernels are
        divided by the values of these products. Source: Lavin and Gray, "Fast Algorithms for
        Convolutional Neural Networks", 2015, section 4.
        """
        exact = [Fraction(place) for place in places]
        tile = len(places) + 2 - TAPS
        others = [[q for q in exact if q != p] for p in exact]
        values = [prod(p - q for q in rest) for p, rest in zip(exact, others, strict=True)]
        kernel = [[p**i / v for i in range(TAPS)] for p, v in zip(exact, values, strict=True)]
        before = [[*_product(rest), 0] for rest in others]
        after = [[*(p**i for p in exact), int(i == tile - 1)] for i in range(tile)]
        last = [int(i == TAPS - 1) for i in range(TAPS)]
        return Transforms(
            _floats([*kernel, last]), _floats([*before, _product(exact)]), _floats(after)
        )


def _product(roots: Sequence[Fraction]) -> list[Fraction]:
    """Return the coefficients of the product of x - r for all roots r, the constant first."""
    factors = [Fraction(1)]
    for root in roots:
        longer = [Fraction(0), *factors]
        factors = [up - root * own for up, own in zip(longer, [*factors, Fraction(0)], strict=True)]
    return factors


def _floats(rows: Sequence[Sequence[Fraction | int]]) -> Matrix:
    return tuple(tuple(float(factor) for factor in row) for row in rows)


TRANSFORMS = {
    2: Transforms.at(0, 1, -1),
    4: Transforms.at(0, 5 / 8, -5 / 8, 3 / 2, -3 / 2),
}
"""Transforms by tile.

The places of tile 4 are those of a search over eighths and sixteenths that lose the fewest bits; at
1 and 2 instead, errors are two to three times as large. Their products are exact in f32.
"""


def transform_kernels(w: Array, tile: int, block: int) -> Array:
    """Transform the kernels of a 3x3 `tri.conv` to those of a `cpu.winograd_conv`."""
    parts = [_transformed(part, tile) for part in split_taps(w, block)]
    return np.concatenate([part.reshape(-1) for part in parts])


def transform_kernel_columns(w: Array, tile: int, block: int) -> Array:
    """Transform the kernels of a 3x3 `tri.conv` to those of a `cpu.blocked_winograd_conv`."""
    return _transformed(tap_columns(w, block), tile)


def kernel_matrix(tile: int) -> Array:
    """Return the matrix [points, taps] by which the 9 taps of a kernel are transformed, in f64."""
    matrix = np.array(TRANSFORMS[tile].kernel, np.float64)
    return np.kron(matrix, matrix)


def split_taps(w: Array, block: int) -> list[Array]:
    """Return the taps that `transform_kernels` transforms: [blocks, taps, channels, outputs].

    Blocks of outputs have at most two sizes; each array has one.
    """
    outputs, channels = w.shape[:2]
    rows = w.reshape(outputs, channels, -1).swapaxes(1, 2).reshape(1, outputs, -1)
    parts = split_rows(rows, block)
    return [part.reshape(part.shape[1], TAPS**2, channels, part.shape[3]) for part in parts]


def tap_columns(w: Array, block: int) -> Array:
    """Return the taps that `transform_kernel_columns` does: [panels, taps, channels, outputs].

    Kernels of volumes have the channels of one plane behind those of the other.
    """
    outputs, channels, *planes = w.shape[:-2]
    stacked = w.reshape(outputs, channels, prod(planes), TAPS**2).swapaxes(1, 2)
    rows = stacked.reshape(outputs, prod(planes) * channels, TAPS**2)
    return pack_last_axis(rows.transpose(2, 1, 0), block)


def _transformed(taps: Array, tile: int) -> Array:
    """Transform [count, taps, channels, outputs] to [count, points, channels, outputs]."""
    wide = np.einsum("pt,ntco->npco", kernel_matrix(tile), taps.astype(np.float64))
    return wide.astype(taps.dtype)


class WinogradConv(CpuOp):
    """Convolve with 3x3 kernels of stride 1, by tiles of `tile` x `tile` outputs.

    `u` is [outputs * points * points * channels], made by `transform_kernels`: block after block,
    for each point and channel the outputs of the block. `pads` is begins, then ends. Agrees with
    `tri.conv` up to rounding: the error of tile 4 is twice that of a sum of products, that of
    tile 2 is less.
    """

    x: Operand
    u: Operand
    b: Operand | None = None
    tile: int
    outputs: int
    block: int
    pads: tuple[int, ...]
    y: Result

    anchor = True

    def infer(self, x: Tensor, u: Tensor, b: Tensor | None = None) -> Tensor:
        if self.tile not in TRANSFORMS:
            raise Invalid(f"tile is {self.tile}, must be 2 or 4")
        if self.outputs < 1 or self.block < 1:
            raise Invalid(f"outputs is {self.outputs}, block is {self.block}, must be at least 1")
        points = TRANSFORMS[self.tile].points ** 2
        fault = f"weight is {u}, must hold {self.outputs} kernels for each of {points} points"
        if u.rank != 1:
            raise Invalid(fault)
        need_divides(u.size, points * self.outputs, fault)
        channels = u.size // (points * self.outputs)
        plain = Tensor((self.outputs, channels, TAPS, TAPS), same_dtype(x, u))
        return Conv(strides=(1, 1), pads=self.pads, dilations=(1, 1), group=1).infer(x, plain, b)

    def reference(self, x: Array, u: Array, b: Array | None = None) -> Array:
        points = TRANSFORMS[self.tile].points ** 2
        kernels = unpack_rows(u[None], self.outputs, self.block).reshape(
            self.outputs, points, x.shape[1]
        )
        return filter_tiles(x, kernels, b, self.tile, self.pads)


def filter_tiles(
    x: Array, kernels: Array, b: Array | None, tile: int, pads: tuple[int, ...]
) -> Array:
    """Convolve by tiles with transformed kernels, [outputs, points, channels]; in f64."""
    transforms = TRANSFORMS[tile]
    batch, _, *sizes = x.shape
    heights, widths = (
        size + pads[axis] + pads[axis + 2] - TAPS + 1 for axis, size in enumerate(sizes)
    )
    tiles: Shape = (-(-heights // tile), -(-widths // tile))
    windows = _tiles(x, tiles, tile, transforms.points, pads)
    before, after = np.array(transforms.input), np.array(transforms.output)
    v = np.einsum("pi,nchwij,qj->pqnchw", before, windows, before)
    v = v.reshape(-1, *v.shape[2:])
    m = np.einsum("opc,pnchw->pnohw", kernels, v)
    m = m.reshape(transforms.points, transforms.points, *m.shape[1:])
    y = np.einsum("ip,pqnohw,jq->nohiwj", after, m, after)
    y = y.reshape(batch, len(kernels), tiles[0] * tile, tiles[1] * tile)
    y = y[:, :, :heights, :widths]
    return (y if b is None else y + b.reshape(-1, 1, 1)).astype(x.dtype)


def _tiles(x: Array, tiles: Shape, tile: int, points: int, pads: tuple[int, ...]) -> Array:
    """Cut a padded input into overlapping tiles: [batch, channels, rows, columns, i, j]."""
    reach = [(count - 1) * tile + points for count in tiles]
    ends = [reach[axis] - pads[axis] - x.shape[2 + axis] for axis in range(2)]
    padded = np.pad(x, [(0, 0), (0, 0), *((pads[a], max(0, ends[a])) for a in range(2))])
    padded = padded[:, :, : reach[0], : reach[1]].astype(np.float64)
    views = np.lib.stride_tricks.sliding_window_view(padded, (points, points), axis=(2, 3))
    return views[:, :, ::tile, ::tile]
