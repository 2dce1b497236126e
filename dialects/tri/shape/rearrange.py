"""Ops that rearrange elements in blocks of space, in steps of time, in groups and in circles."""

import numpy as np

from ...core.errors import Invalid, need_one_of
from ...core.fields import Operand, Result
from ...core.sizes.checks import need_divides, need_same_shape
from ...core.tensor import Array, Tensor, normalize_axes, normalize_axis
from ..dialect import TriOp
from ..numeric import need_integer, span


class ReverseSequence(TriOp):
    """Reverse the first `sequence_lens[i]` steps of the time axis, for each i of the batch axis."""

    x: Operand
    sequence_lens: Operand
    batch_axis: int
    time_axis: int
    y: Result

    quantized = "one scale"

    def infer(self, x: Tensor, sequence_lens: Tensor) -> Tensor:
        batch, time = (
            normalize_axis(self.batch_axis, x.rank),
            normalize_axis(self.time_axis, x.rank),
        )
        if batch == time:
            raise Invalid(f"batch axis and time axis are both {batch}, must differ")
        need_same_shape(
            need_integer(sequence_lens).shape,
            (x.shape[batch],),
            f"sequence_lens is {sequence_lens}, must have shape {x.shape[batch]}",
        )
        return x

    def reference(self, x: Array, sequence_lens: Array) -> Array:
        lengths = sequence_lens.astype(np.int64)
        if lengths.size and not 0 <= lengths.min() <= lengths.max() <= x.shape[self.time_axis]:
            raise Invalid(f"sequence_lens is {lengths}, must be in [0, {x.shape[self.time_axis]}]")
        time = span(x.shape[self.time_axis])
        steps = np.where(time < lengths[:, None], lengths[:, None] - 1 - time, time)
        order = steps if self.batch_axis % x.ndim < self.time_axis % x.ndim else steps.T
        axes = {self.batch_axis % x.ndim, self.time_axis % x.ndim}
        places = order.reshape([n if d in axes else 1 for d, n in enumerate(x.shape)])
        return np.take_along_axis(x, places, self.time_axis)


class DepthToSpace(TriOp):
    """Move blocks of channels of an N C H W tensor to blocks of space.

    `mode` "DCR" reads channels as (block row, block column, channel), "CRD" as (channel, block
    row, block column).
    """

    x: Operand
    blocksize: int
    mode: str = "DCR"
    y: Result

    quantized = "one scale"

    def infer(self, x: Tensor) -> Tensor:
        need_one_of("mode", self.mode, ("DCR", "CRD"))
        _need_blocks(x, self.blocksize)
        n, c, h, w = x.shape
        block = self.blocksize**2
        need_divides(c, block, f"has {c} channels, must be a multiple of blocksize² = {block}")
        return Tensor((n, c // block, h * self.blocksize, w * self.blocksize), x.dtype)

    def reference(self, x: Array) -> Array:
        (n, c, h, w), b = x.shape, self.blocksize
        if self.mode == "DCR":
            blocks = x.reshape(n, b, b, c // b**2, h, w).transpose(0, 3, 4, 1, 5, 2)
        else:
            blocks = x.reshape(n, c // b**2, b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
        return blocks.reshape(n, c // b**2, h * b, w * b)


class SpaceToDepth(TriOp):
    """Move blocks of space of an N C H W tensor to channels (block row, block column, channel)."""

    x: Operand
    blocksize: int
    y: Result

    quantized = "one scale"

    def infer(self, x: Tensor) -> Tensor:
        _need_blocks(x, self.blocksize)
        n, c, h, w = x.shape
        for size in (h, w):
            need_divides(
                size,
                self.blocksize,
                f"has {h}x{w} pixels, must be multiples of blocksize {self.blocksize}",
            )
        return Tensor((n, c * self.blocksize**2, h // self.blocksize, w // self.blocksize), x.dtype)

    def reference(self, x: Array) -> Array:
        (n, c, h, w), b = x.shape, self.blocksize
        blocks = x.reshape(n, c, h // b, b, w // b, b).transpose(0, 3, 5, 1, 2, 4)
        return blocks.reshape(n, c * b**2, h // b, w // b)


class ChannelShuffle(TriOp):
    """Interleave the channels of `groups`: the first channel of each group, then the second ones.

    `x` is [N, C, …]. Source: torch `nn.ChannelShuffle`; Zhang et al., "ShuffleNet", 2018.
    """

    x: Operand
    groups: int
    y: Result

    quantized = "one scale"

    def infer(self, x: Tensor) -> Tensor:
        if x.rank < 2:
            raise Invalid(f"x has rank {x.rank}, must have 2 or more: batch, channels, …")
        channels, groups = x.shape[1], self.groups
        need_divides(channels, groups, f"{channels} channels do not split in {groups} groups")
        return x

    def reference(self, x: Array) -> Array:
        n, c, *pixels = x.shape
        return x.reshape(n, self.groups, c // self.groups, *pixels).swapaxes(1, 2).reshape(x.shape)


class Roll(TriOp):
    """Move elements along axes; those that leave an end come back at the other. Source: numpy."""

    x: Operand
    shifts: tuple[int, ...]
    axes: tuple[int, ...]
    y: Result

    quantized = "one scale"

    def infer(self, x: Tensor) -> Tensor:
        if len(self.shifts) != len(self.axes):
            raise Invalid(
                f"shifts are {list(self.shifts)}, axes {list(self.axes)}, must be as many"
            )
        normalize_axes(self.axes, x.rank)
        return x

    def reference(self, x: Array) -> Array:
        return np.roll(x, self.shifts, self.axes)


def _need_blocks(x: Tensor, blocksize: int) -> None:
    if x.rank != 4:
        raise Invalid(f"x has rank {x.rank}, must be 4")
    if blocksize < 1:
        raise Invalid(f"blocksize is {blocksize}, must be at least 1")
