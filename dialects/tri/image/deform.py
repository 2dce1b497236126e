"""Convolution whose taps move by offsets that are computed."""

import math

import numpy as np

from ...core.fields import Operand
from ...core.numerics.precision import narrow, widen
from ...core.sizes.checks import need_divides
from ...core.tensor import Array, Tensor, same_dtype
from ..numeric import need_float, need_shape
from .conv import Conv, Convolution
from .sampling import linear_taps, sample
from .window import Window


class DeformConv(Convolution):
    """Convolve like `conv`, with every tap of every window moved by an offset.

    `offset` is [N, offset_group * taps * axes, windows…], in elements; `mask`, if given, is
    [N, offset_group * taps, windows…] and multiplies what each tap reads. The channels of `x` are
    split into `offset_group` parts that move alike. Between elements the value is interpolated,
    outside it is zero. Half types are computed in f32. Source: ONNX `DeformConv`; Zhu et al.,
    "Deformable ConvNets v2", 2018.
    """

    offset: Operand
    b: Operand | None = None
    mask: Operand | None = None
    offset_group: int = 1

    def infer(
        self,
        x: Tensor,
        w: Tensor,
        offset: Tensor,
        b: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> Tensor:
        same_dtype(need_float(x), w, offset, b, mask)
        y = Conv(**self.window(w.shape[2:]).attributes, group=self.group).infer(x, w, b)
        need_divides(
            x.shape[1],
            self.offset_group,
            f"{x.shape[1]} channels do not split in {self.offset_group} offset groups",
        )
        taps = math.prod(w.shape[2:]) * self.offset_group
        need_shape("offset", offset, (x.shape[0], taps * (x.rank - 2), *y.shape[2:]))
        need_shape("mask", mask, (x.shape[0], taps, *y.shape[2:]))
        return y

    def reference(
        self, x: Array, w: Array, offset: Array, b: Array | None = None, mask: Array | None = None
    ) -> Array:
        window = self.window(w.shape[2:])
        windows = window.output_sizes(x.shape[2:])
        batch, channels = x.shape[:2]
        taps = math.prod(window.kernel)
        moved = (batch, self.offset_group, taps, window.rank, *windows)
        places = widen(offset).reshape(moved) + _regular(window, windows)
        parts = widen(x).reshape(
            batch, self.offset_group, channels // self.offset_group, *x.shape[2:]
        )
        columns = np.stack([_read(*each) for each in zip(parts, places, strict=True)])
        if mask is not None:
            columns = columns * widen(mask).reshape(batch, self.offset_group, 1, taps, *windows)
        depth = channels // self.group * taps
        columns = columns.reshape(batch, self.group, depth, math.prod(windows))
        kernels = widen(w).reshape(self.group, w.shape[0] // self.group, depth)
        y = (kernels @ columns).reshape(batch, w.shape[0], *windows)
        return narrow(y if b is None else y + widen(b).reshape(-1, *[1] * window.rank), x)


def _regular(window: Window, windows: tuple[int, ...]) -> Array:
    """Return where taps are before they move: [taps, axes, windows…]."""
    taps = np.array(list(np.ndindex(window.kernel))) * window.dilations - window.begins
    starts = np.indices(windows) * np.reshape(window.strides, (-1, *[1] * window.rank))
    return taps.reshape(*taps.shape, *[1] * window.rank) + starts


def _read(parts: Array, places: Array) -> Array:
    """Read one image's parts [offset groups, C, spatial…] at places [groups, taps, axes, …]."""
    seen: list[Array] = []
    for part, at in zip(parts, places.swapaxes(1, 2), strict=True):
        taps = [linear_taps(*axis) for axis in zip(at, part.shape[1:], strict=True)]
        seen.append(sample(part, taps))
    return np.stack(seen)
