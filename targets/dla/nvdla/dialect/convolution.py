"""Convolutions: sums of products, which are handed on to SDP."""

from collections.abc import Sequence

import numpy as np

from .....dialects.core.errors import Invalid
from .....dialects.core.fields import Operand, Result
from .....dialects.core.tensor import Array, Shape, Tensor
from ..format.network import Precision
from ..format.operations import ConvOperation
from ..pixels import FORMATS, PixelFormat
from ..reference.convolution import convolve
from ..reference.winograd import convolve_winograd
from .dialect import (
    NVDLA,
    EngineOp,
    each,
    in_precision,
    need_images,
    precision_of,
    window_sizes,
)

SUMS = {"i8": "i32", "f16": "f32"}
"""The type of sums, by that of what is multiplied."""

_TILE = 4
"""The rows and columns of transformed kernels, and of the tiles that images and results are."""


class Conv(EngineOp, dialect=NVDLA):
    """Convolve images i8 [N, C, H, W] with weights i8 [K, C, R, S]; sums are i32 [N, K, H', W'].

    Images and weights of f16 give sums of f32, which depend on how many channels are summed at
    once, a `block`. `pads` are top, left, bottom and right, and are filled with `pad_value`.
    `pixels` is the format of `x` if it is stored as pixels. Sums are in no memory: an `nvdla.sdp`
    is their only user.

    With `winograd`, weights f16 [K, C, 4, 4] are transformed kernels of 3x3. The padded image is
    whole tiles of 4x4, and so is the result, which is 4 rows and columns smaller.
    """

    x: Operand
    w: Operand
    strides: tuple[int, ...] = (1, 1)
    dilations: tuple[int, ...] = (1, 1)
    pads: tuple[int, ...] = (0, 0, 0, 0)
    pad_value: int = 0
    pixels: str = ""
    block: int = 64
    winograd: bool = False
    y: Result

    def infer(self, x: Tensor, w: Tensor) -> Tensor:
        images, channels, *sizes = need_images("x", x)
        kernels, depth, *kernel = need_images("w", w)
        if depth != channels:
            raise Invalid(f"weights are of {depth} channels, x has {channels}")
        if w.dtype != x.dtype:
            raise Invalid(f"weights are of {w.dtype}, x is of {x.dtype}")
        if self.block < 1:
            raise Invalid(f"block is {self.block}, must be 1 or more")
        if not -128 <= self.pad_value <= 127:
            raise Invalid(f"pad_value is {self.pad_value}, must be in -128:127")
        if self.pixels:
            self._check_pixels(channels)
        out = self._out(sizes, kernel)
        if self.winograd:
            self._check_winograd(x, kernel)
        return Tensor((images, kernels, *out), SUMS[x.dtype])

    def _check_winograd(self, x: Tensor, kernel: list[int]) -> None:
        if x.dtype != "f16":
            raise Invalid(f"x is of {x.dtype}, must be of f16 with winograd")
        if kernel != [_TILE, _TILE]:
            raise Invalid(f"weights have {kernel[0]}x{kernel[1]}, must have 4x4 with winograd")
        for name, numbers in (("strides", self.strides), ("dilations", self.dilations)):
            if numbers != (1, 1):
                raise Invalid(f"{name} are {numbers}, must be (1, 1) with winograd")
        rows, columns = self._padded(x.shape[2:])
        if rows % _TILE or columns % _TILE or min(rows, columns) < 2 * _TILE:
            has = f"the padded image has {rows}x{columns}"
            raise Invalid(f"{has}, must have multiples of 4 from 8 on with winograd")

    def _padded(self, sizes: Sequence[int]) -> tuple[int, int]:
        """Return the rows and columns of an image with its pads."""
        top, left, bottom, right = self.pads
        return top + sizes[0] + bottom, left + sizes[1] + right

    def _out(self, sizes: Sequence[int], kernel: Sequence[int]) -> tuple[int, int]:
        """Return the rows and columns of the result; raise Invalid if a window fits nowhere."""
        out = window_sizes(sizes, kernel, self.strides, self.dilations, self.pads)
        if not self.winograd:
            return out
        rows, columns = self._padded(sizes)
        return rows - _TILE, columns - _TILE

    def _check_pixels(self, channels: int) -> None:
        form = self.form
        if form is None or form.precision != Precision.INT8 or len(form.planes) > 1:
            raise Invalid(f"pixels are '{self.pixels}', must be a format of one plane of bytes")
        if channels > form.channels:
            raise Invalid(f"x has {channels} channels, pixels {form} have {form.channels}")
        if self.dilations != (1, 1):
            raise Invalid(f"dilations are {self.dilations}, must be (1, 1) over pixels")

    @property
    def form(self) -> PixelFormat | None:
        """Return the format of the pixels that `x` has, None for feature data."""
        return next((each for each in FORMATS if each.name == self.pixels), None)

    def reference(self, x: Array, w: Array) -> Array:
        out = self._out(x.shape[2:], w.shape[2:])
        method = convolve_winograd if self.winograd else convolve
        operation = self.operation_for(x.shape, w.shape, out, precision_of(x.dtype))
        sums = each(lambda image: method(image, w, operation, self.block), x)
        return sums if sums.dtype == np.float32 else sums.astype(np.int32)

    def operation_for(
        self, x: Shape, w: Shape, out: Shape, precision: Precision = Precision.INT8
    ) -> ConvOperation:
        """Return the descriptor for images, weights and results of some shapes, without CBUF.

        A Winograd convolution has its pads in CBUF, too.
        """
        top, left, bottom, right = self.pads
        rows, columns = self._padded(x[2:]) if self.winograd else x[2:]
        operation = ConvOperation(
            mode=int(self.winograd),
            data_format=36,
            fetch_grain=1,
            release=rows,
            width_csc=columns,
            height_csc=rows,
            channels_csc=x[1],
            kernel_width=w[3],
            kernel_height=w[2],
            kernel_channels=w[1],
            width_cmac=out[-1],
            height_cmac=out[-2],
            bytes_per_kernel=w[1] * w[2] * w[3] * precision.bytes,
            stride_x=self.strides[1],
            stride_y=self.strides[0],
            pad_left=left,
            pad_right=right,
            pad_top=top,
            pad_bottom=bottom,
            dilation_x=self.dilations[1],
            dilation_y=self.dilations[0],
            pad_value=self.pad_value,
        )
        return in_precision(operation, precision)
