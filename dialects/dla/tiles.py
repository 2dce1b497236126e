"""Elementwise ops and copies on buffers, and the base of all ops on images in buffers."""

from collections.abc import Mapping
from typing import ClassVar

from ..core.fields import Operand
from ..core.numerics.integers import looked_up, pair_of, resized
from ..core.tensor import Array, Shape
from .access import Access
from .arithmetic import Combination, Rescaled
from .dialect import need_byte
from .memory import ORIGIN, BetweenImages
from .types import SRAM, WEIGHTS
from .vector import need_positions


class ImageOp(BetweenImages, abstract=True):
    """Base of ops that make a window of images from one at `source`.

    Padding channels of the last atom are set to the zero point of the result.
    """

    destination_zero: int = 0

    spaces: ClassVar = {"source": (SRAM,), "destination": (SRAM,)}

    @property
    def made(self) -> Shape:
        """Return the rows, columns and channels of the result."""
        return self.rows, self.columns, self.channels

    def check(self) -> None:
        need_byte("zero point", self.destination_zero)

    def written(self, atom: int) -> Shape:
        rows, columns, channels = self.made
        return rows, columns, -(-channels // atom) * atom

    def write(self, windows: Mapping[str, Array], y: Array) -> None:
        """Write a result and fill the padding channels."""
        target = windows["destination"]
        target[...] = self.destination_zero
        target[..., : y.shape[-1]] = y


class EltwiseTile(ImageOp, Combination):
    """Combine windows of two images: p = (a - source_zero) * multiplier, q for b.

    y = clamp(round(op(p, q) / 2^shift) + destination_zero) for add, max and min, where
    q = (b - other_zero) * other_multiplier; the operator mul takes p * (b - other_zero).
    """

    other: Operand
    other_at: tuple[int, ...] = ORIGIN

    packet = "eltwise"
    in_place = True
    spaces: ClassVar = {**ImageOp.spaces, "other": (SRAM,)}

    def accesses(self, atom: int) -> tuple[Access, ...]:
        other = Access("other", self.other_at, self.made, repeats=True)
        return (*super().accesses(atom), other)

    def check(self) -> None:
        self.check_combination()

    def execute(self, windows: Mapping[str, Array]) -> None:
        self.write(windows, self.combine(windows["source"], windows["other"]))


class LookupTile(ImageOp):
    """Replace each value of a window by an entry of a table; the first one is that of -128."""

    table: Operand
    table_at: int = 0

    packet = "lookup"
    in_place = True
    spaces: ClassVar = {**ImageOp.spaces, "table": (WEIGHTS,)}

    def accesses(self, atom: int) -> tuple[Access, ...]:
        return (*super().accesses(atom), Access("table", (self.table_at,), (256,)))

    def execute(self, windows: Mapping[str, Array]) -> None:
        self.write(windows, looked_up(windows["source"], windows["table"]))


class ResizeTile(ImageOp):
    """Repeat or drop rows and columns: positions are (start + step * index) >> 16, clamped."""

    out_rows: int
    out_columns: int
    start_rows: int = 0
    start_columns: int = 0
    step_rows: int
    step_columns: int

    packet = "resize"

    @property
    def made(self) -> Shape:
        return self.out_rows, self.out_columns, self.channels

    def check(self) -> None:
        super().check()
        need_positions(pair_of(self, "start"), pair_of(self, "step"))

    def execute(self, windows: Mapping[str, Array]) -> None:
        out, start, step = (pair_of(self, name) for name in ("out", "start", "step"))
        self.write(windows, resized(windows["source"], out, start, step))


class CopyTile(ImageOp, Rescaled):
    """Copy a window, and rescale it: clamp(round((x - zero) * multiplier / 2^shift) + zero)."""

    packet = "copy"
    in_place = True

    def check(self) -> None:
        self.check_scale()

    def execute(self, windows: Mapping[str, Array]) -> None:
        self.write(windows, self.rescale(windows["source"]))
