"""Winograd's method on blocked images."""

import numpy as np

from ..core.errors import Invalid
from ..core.fields import Operand, Result
from ..core.tensor import Array, Tensor, same_dtype
from ..tri.conv import Conv
from .blocked import Block, Unblock, blocked_shape, plain_shape
from .dialect import CpuOp
from .packing import plain_columns, unpack_columns
from .winograd import TAPS, TRANSFORMS, filter_tiles


class BlockedWinogradConv(CpuOp):
    """Convolve blocked images with 3x3 kernels of stride 1, by tiles of `tile` x `tile` outputs.

    `x` has the padding, and so much more at its ends that its tiles are whole; the outputs that
    count are the first `sizes` of them. `u` is [panels, points, channels, outputs of a panel], made
    by `transform_kernel_columns`; `b` is [outputs]. Errors are those of `cpu.winograd_conv`.
    """

    x: Operand
    u: Operand
    b: Operand | None = None
    tile: int
    outputs: int
    sizes: tuple[int, ...]
    y: Result

    anchor = True
    allows_pad_epilogue = True

    @staticmethod
    def infer(
        x: Tensor,
        u: Tensor,
        b: Tensor | None = None,
        *,
        tile: int,
        outputs: int,
        sizes: tuple[int, ...],
    ) -> Tensor:
        if tile not in TRANSFORMS:
            raise Invalid(f"tile is {tile}, must be 2 or 4")
        batch, _, *image = plain_shape(x.shape)
        wanted = [whole_tiles(size, tile) + TAPS - 1 for size in sizes]
        if image != wanted:
            raise Invalid(f"image is {image}, must be {wanted} for {tile}x{tile} tiles of {sizes}")
        channels = _channels(u, tile, outputs)
        plain = Tensor((outputs, channels, TAPS, TAPS), same_dtype(x, u))
        whole = Tensor(plain_shape(x.shape), x.dtype)
        ones = (1,) * len(sizes)
        Conv.infer(whole, plain, b, strides=ones, pads=(0,) * 2 * len(sizes), dilations=ones)
        return Tensor(blocked_shape((batch, outputs, *sizes), x.shape[-1]), x.dtype)

    @staticmethod
    def reference(
        x: Array,
        u: Array,
        b: Array | None = None,
        *,
        tile: int,
        outputs: int,
        sizes: tuple[int, ...],
    ) -> Array:
        points = [unpack_columns(u[:, point], outputs) for point in range(u.shape[1])]
        kernels = np.stack(points).transpose(2, 0, 1)
        y = filter_tiles(Unblock.reference(x), kernels, b, tile, (0,) * 4)
        return Block.reference(y[:, :, : sizes[0], : sizes[1]], lanes=x.shape[-1])


def whole_tiles(size: int, tile: int) -> int:
    """Return the size of an axis, rounded up to whole tiles."""
    return -(-size // tile) * tile


def _channels(u: Tensor, tile: int, outputs: int) -> int:
    points = TRANSFORMS[tile].points ** 2
    if u.rank != 4 or u.shape[1] != points:
        raise Invalid(f"weight is {u}, must hold kernels for each of {points} points")
    return plain_columns(Tensor((u.shape[0], *u.shape[2:]), u.dtype), outputs)[0]
