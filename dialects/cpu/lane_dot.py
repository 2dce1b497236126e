"""Depthwise convolution of blocked images of bytes, by dot products on neighbours in a line."""

import math

import numpy as np

from ..core.errors import Invalid
from ..core.fields import Operand, Result
from ..core.sizes.checks import need, need_divides, need_same, need_same_shape
from ..core.tensor import Array, Tensor
from ..tri.image.conv import Conv
from .blocked import Block, Unblock, blocked_shape, plain_shape
from .dialect import CpuOp
from .vnni import BYTES, check_vnni, pack_vnni, products_of, unpack_vnni, vnni_count, widened


class LaneDotConv(CpuOp):
    """Convolve each channel of a blocked image of bytes with a kernel of its own, and add a bias.

    A VNNI word has neighbouring pixels of a channel, and neighbouring results share the words that
    they see. `x` is of ui8 or i8 and has its border in memory, and to the right of it what words
    hold beyond the windows of the `sizes` of the result: `word_reach`. `w` is [blocks, results that
    share words, words of a kernel, lanes], made by `pack_lane_words`; `b` is [channels], of i32.
    Sums are of i32 and exact; `signed` is as for `cpu.dot_conv`.
    """

    x: Operand
    w: Operand
    b: Operand
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    sizes: tuple[int, ...]
    signed: bool = False
    y: Result

    anchor = True
    allows_pad_epilogue = True

    def infer(self, x: Tensor, w: Tensor, b: Tensor) -> Tensor:
        products = products_of(x, self.signed)
        if products.count != BYTES:
            raise Invalid(f"convolves {x}, must be bytes")
        batch, channels, *image = plain_shape(x.shape)
        lanes = x.shape[-1]
        need_same(len(image), len(self.kernel), f"has an image of {x}, a kernel of {self.kernel}")
        words = math.prod(self.kernel[:-1]) * vnni_count(self.kernel[-1], BYTES)
        wanted = (x.shape[1], sharing(self.kernel[-1], self.strides[-1]), words, lanes)
        need_same_shape(w.shape, wanted, f"weight is {w}, must have the shape {wanted}")
        check_vnni(w, b, channels, products)
        for size, reach in zip(image, self._reach(), strict=True):
            need(size, reach, f"image {x} ends before {reach} pixels that windows see")
        return Tensor(blocked_shape((batch, channels, *self.sizes), lanes), products.result)

    def reference(self, x: Array, w: Array, b: Array) -> Array:
        products = products_of(Tensor.of(x), self.signed)
        words = np.moveaxis(w[:, 0], -1, 1).reshape(len(b), 1, *self.kernel[:-1], -1)
        kernels = unpack_vnni(words, words.ndim - 1, "i8", self.kernel[-1]).astype(b.dtype)
        rank = len(self.kernel)
        conv = Conv(strides=self.strides, pads=(0,) * 2 * rank, dilations=(1,) * rank, group=len(b))
        whole = conv.reference(widened(Unblock().reference(x), products), kernels, b)
        inside = whole[(..., *(slice(0, size) for size in self.sizes))]
        return Block(lanes=x.shape[-1]).reference(inside)

    def _reach(self) -> tuple[int, ...]:
        """Return how many pixels of each axis are read."""
        *outer, last = zip(self.sizes, self.kernel, self.strides, strict=True)
        lines = ((size - 1) * stride + taps for size, taps, stride in outer)
        return (*lines, word_reach(*last))


def sharing(taps: int, stride: int) -> int:
    """Return how many neighbouring results the words that cover a line of taps have room for."""
    return (vnni_count(taps, BYTES) * BYTES - taps) // stride + 1


def word_reach(size: int, taps: int, stride: int) -> int:
    """Return how many pixels of a line all words of `size` results hold."""
    last = (size - 1) // sharing(taps, stride) * sharing(taps, stride)
    return last * stride + vnni_count(taps, BYTES) * BYTES


def pack_lane_words(w: Array, lanes: int, stride: int) -> Array:
    """Bring depthwise kernels of i8, [channels, 1, taps…], into the order of a `cpu.lane_dot_conv`.

    The kernels of results that share words are the same, each `stride` bytes after the one before.
    """
    channels, taps = w.shape[0], w.shape[-1]
    need_divides(channels, lanes, f"cuts {channels} channels into blocks of {lanes}")
    lines = w.reshape(channels, -1, taps)
    width = vnni_count(taps, BYTES) * BYTES
    made: list[Array] = []
    for place in range(sharing(taps, stride)):
        before = place * stride
        moved = np.pad(lines, [(0, 0), (0, 0), (before, width - taps - before)])
        words = pack_vnni(moved, 2).reshape(channels // lanes, lanes, -1)
        made.append(words.swapaxes(1, 2))
    return np.ascontiguousarray(np.stack(made, axis=1))
