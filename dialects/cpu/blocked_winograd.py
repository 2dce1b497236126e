"""Winograd's method on blocked images."""

import numpy as np

from ..core.errors import Invalid
from ..core.fields import Operand, Result
from ..core.sizes.atoms import Size
from ..core.sizes.checks import need, need_same, need_same_shape
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

    A volume has planes of images. As many of them, one behind the other, make a plane of the result
    as `x` has more: `u` has the channels of each.
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
        batch, channels, *image = plain_shape(x.shape)
        depth = self.planes_seen(x)
        *planes, height, width = self.sizes
        reach = [whole_tiles(size, self.tile) + TAPS - 1 for size in (height, width)]
        wanted = [*image[: len(planes)], *reach]
        tile = f"{self.tile}x{self.tile}"
        fault = f"image is {image}, must be {wanted} for {tile} tiles of {self.sizes}"
        need_same_shape(image, wanted, fault)
        whole = Tensor(plain_shape(x.shape), "f32" if x.dtype in HALVES else x.dtype)
        narrow = (x.dtype, u.dtype) == ("bf16", "f16")
        dtype = whole.dtype if narrow else same_dtype(whole, u)
        held = _channels(u, self.tile, self.outputs)
        seen = channels * depth
        need_same(held, seen, f"weight {u} has {held} channels, must have {seen}")
        taps = (*(depth,) * len(planes), TAPS, TAPS)
        plain = Tensor((self.outputs, channels, *taps), dtype)
        ones = (1,) * len(self.sizes)
        Conv(strides=ones, pads=(0,) * 2 * len(self.sizes), dilations=ones).infer(whole, plain, b)
        return Tensor(blocked_shape((batch, self.outputs, *self.sizes), x.shape[-1]), x.dtype)

    def reference(self, x: Array, u: Array, b: Array | None = None) -> Array:
        points = [unpack_columns(u[:, point], self.outputs) for point in range(u.shape[1])]
        kernels = np.stack(points).transpose(2, 0, 1)
        image, depth = Unblock().reference(x), self.planes_seen(Tensor.of(x))
        *planes, height, width = self.sizes

        def filtered(seen: Array) -> Array:
            return filter_tiles(seen, kernels, b, self.tile, (0,) * 4)[:, :, :height, :width]

        if not planes:
            y = filtered(image)
        else:
            stacked = np.concatenate([image[:, :, t : t + planes[0]] for t in range(depth)], axis=1)
            y = np.stack([filtered(stacked[:, :, d]) for d in range(planes[0])], axis=2)
        return Block(lanes=x.shape[-1]).reference(y)

    def planes_seen(self, x: Tensor) -> Size:
        """Return how many planes of a blocked image each plane of the result depends on."""
        if len(self.sizes) != x.rank - 3 or x.rank not in (5, 6):
            wanted = {5: "two", 6: "three"}.get(x.rank, "of an image or a volume")
            raise Invalid(f"sizes are {self.sizes}, must be {wanted} for {x}")
        more = x.shape[2] - self.sizes[0] if x.rank > 5 else 0
        need(more, 0, f"sizes are {self.sizes}, must have {x.shape[2]} planes at most")
        return 1 + more


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
