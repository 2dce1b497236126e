"""Winograd's method on blocked images."""

import numpy as np

from ..core.errors import Invalid
from ..core.fields import Operand, Result
from ..core.sizes.atoms import Size
from ..core.sizes.checks import need_same, need_same_shape
from ..core.tensor import Array, Tensor, same_dtype
from ..tri.image.conv import Conv
from .blocked import Block, Unblock, blocked_shape, plain_shape
from .dialect import CpuOp
from .packing import plain_columns, unpack_columns
from .winograd import TAPS, TRANSFORMS, filter_tiles

HALVES = "f16", "bf16"


class BlockedWinogradConv(CpuOp):
    """Convolve blocked images with 3x3 kernels of stride 1, by tiles of `tile` x `tile` outputs.

    `x` has the padding, and so much more at its ends that its tiles are whole; the outputs that
    count are the first `sizes` of them. `u` is [panels, points, channels, outputs of a panel], made
    by `transform_kernel_columns`; `b` is [outputs]. For an image of halves they are f32, as its
    transforms are, or `u` is f16 for one of bf16. Errors are those of `cpu.winograd_conv`.
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

    def infer(self, x: Tensor, u: Tensor, b: Tensor | None = None) -> Tensor:
        if self.tile not in TRANSFORMS:
            raise Invalid(f"tile is {self.tile}, must be 2 or 4")
        batch, _, *image = plain_shape(x.shape)
        wanted = [whole_tiles(size, self.tile) + TAPS - 1 for size in self.sizes]
        tile = f"{self.tile}x{self.tile}"
        fault = f"image is {image}, must be {wanted} for {tile} tiles of {self.sizes}"
        need_same_shape(image, wanted, fault)
        channels = _channels(u, self.tile, self.outputs)
        whole = Tensor(plain_shape(x.shape), "f32" if x.dtype in HALVES else x.dtype)
        narrow = (x.dtype, u.dtype) == ("bf16", "f16")
        dtype = whole.dtype if narrow else same_dtype(whole, u)
        plain = Tensor((self.outputs, channels, TAPS, TAPS), dtype)
        ones = (1,) * len(self.sizes)
        Conv(strides=ones, pads=(0,) * 2 * len(self.sizes), dilations=ones).infer(whole, plain, b)
        return Tensor(blocked_shape((batch, self.outputs, *self.sizes), x.shape[-1]), x.dtype)

    def reference(self, x: Array, u: Array, b: Array | None = None) -> Array:
        points = [unpack_columns(u[:, point], self.outputs) for point in range(u.shape[1])]
        kernels = np.stack(points).transpose(2, 0, 1)
        y = filter_tiles(Unblock().reference(x), kernels, b, self.tile, (0,) * 4)
        return Block(lanes=x.shape[-1]).reference(y[:, :, : self.sizes[0], : self.sizes[1]])


def whole_tiles(size: Size, tile: int) -> Size:
    """Return the size of an axis, rounded up to whole tiles."""
    return -(-size // tile) * tile


def _channels(u: Tensor, tile: int, outputs: int) -> Size:
    points = TRANSFORMS[tile].points ** 2
    fault = f"weight is {u}, must hold kernels for each of {points} points"
    if u.rank != 4:
        raise Invalid(fault)
    need_same(u.shape[1], points, fault)
    return plain_columns(Tensor((u.shape[0], *u.shape[2:]), u.dtype), outputs)[0]
