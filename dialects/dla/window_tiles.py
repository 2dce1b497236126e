"""Ops on buffers that slide a kernel over images: convolutions and pools."""

from collections.abc import Mapping
from typing import ClassVar

from ..core.errors import Invalid
from ..core.fields import Operand
from ..core.numerics.fixed_point import MOST_BITS, multiply_shift
from ..core.numerics.integers import (
    TABLE_BYTES,
    Window,
    conv_sums,
    require_i32,
    require_scale,
    table_of,
)
from ..core.tensor import Array, Shape
from .access import Access
from .arithmetic import Convolution, Pooling
from .memory import ORIGIN
from .tiles import ImageOp
from .types import ACCUMULATOR, WEIGHTS


class WindowOp(ImageOp, abstract=True):
    """Base of ops that slide a kernel over a window of images; padding is `source_zero`."""

    out_rows: int
    out_columns: int
    kernel_rows: int
    kernel_columns: int
    stride_rows: int = 1
    stride_columns: int = 1
    dilation_rows: int = 1
    dilation_columns: int = 1
    pad_top: int = 0
    pad_left: int = 0

    @property
    def made(self) -> Shape:
        return self.out_rows, self.out_columns, self.channels

    @property
    def window(self) -> Window:
        """Return the kernel window."""
        return Window.of(self)

    def check_window(self) -> None:
        """Raise Invalid for sizes out of range."""
        window = self.window
        least_of = {"out": 1, "kernel": 1, "strides": 1, "dilations": 1, "pads": 0}
        for what, least in least_of.items():
            if min(getattr(window, what)) < least:
                raise Invalid(f"{what} are {getattr(window, what)}, must be at least {least}")


class ConvTile(WindowOp, Convolution):
    """Convolve a window of images; a product of matrices is a 1x1 kernel.

    y = clamp(round((bias + sum(x * w)) * multiplier / 2^shift) + destination_zero). Positions
    outside of the source are `source_zero`; zero points are folded into biases. Weights are
    [kernel_rows, kernel_columns, channels, padded filters] bytes, without filters if depthwise. The
    table has biases, then multipliers (i32), then shifts (i8) of all padded filters. Without
    `begin`, `sums` are accumulated; without `finish`, the destination is not written.
    """

    weights: Operand
    table: Operand
    sums: Operand
    weights_at: int = 0
    table_at: int = 0
    filters: int
    begin: int = 1
    finish: int = 1

    packet = "conv"
    spaces: ClassVar = {
        **ImageOp.spaces,
        "weights": (WEIGHTS,),
        "table": (WEIGHTS,),
        "sums": (ACCUMULATOR,),
    }

    @property
    def made(self) -> Shape:
        return self.out_rows, self.out_columns, self.filters

    def accesses(self, atom: int) -> tuple[Access, ...]:
        source, destination = super().accesses(atom)
        depth = self.channels if self.mode == "dense" else 1
        out = self.written(atom)
        length = self.kernel_rows * self.kernel_columns * depth * out[-1]
        found = [
            source,
            Access("weights", (self.weights_at,), (length,)),
            Access("sums", ORIGIN, out, reads=not self.begin, writes=True),
        ]
        if self.begin or self.finish:
            found.append(Access("table", (self.table_at,), (TABLE_BYTES * out[-1],)))
        return (*found, destination) if self.finish else tuple(found)

    def check(self) -> None:
        self.check_mode()
        if self.mode == "depthwise" and self.filters != self.channels:
            raise Invalid(f"depthwise conv has {self.filters} filters, {self.channels} channels")
        for name in ("begin", "finish"):
            if getattr(self, name) not in (0, 1):
                raise Invalid(f"{name} is {getattr(self, name)}, must be 0 or 1")
        self.check_scales((), ())
        self.check_window()

    def execute(self, windows: Mapping[str, Array]) -> None:
        x, kernel, padded = windows["source"], windows["weights"], windows["sums"].shape[-1]
        sums = conv_sums(x, kernel, self.window, self.mode, padded, self.source_zero)
        sums = sums + (table_of(windows["table"], padded)[0] if self.begin else windows["sums"])
        require_i32(sums)
        windows["sums"][...] = sums
        if self.finish:
            _, multiplier, shift = table_of(windows["table"], padded)
            require_scale(multiplier, shift, MOST_BITS)
            scaled = multiply_shift(sums, multiplier, shift, self.rounding)
            self.write(windows, self.clamp(scaled)[..., : self.filters])


class PoolTile(WindowOp, Pooling):
    """Take the greatest value or the average of each window; only values in the image count.

    y = clamp(round((max(x) - source_zero) * multiplier / 2^shift) + destination_zero); an average
    uses sum(x - source_zero) instead of the maximum. With `divisor` "none", the multiplier contains
    one over the count; with "inside", the sum is divided by count * 2^shift, exactly, and rounds
    half away from zero.
    """

    packet = "pool"

    def check(self) -> None:
        self.check_window()
        self.check_pool(self.window, (self.rows, self.columns))

    def execute(self, windows: Mapping[str, Array]) -> None:
        self.write(windows, self.pool(windows["source"], self.window))
