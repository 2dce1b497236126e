"""Base classes of vanilla's packets that read an image in SRAM and write another one.

A tensor is [rows, columns, channels] bytes in SRAM; `_row` and `_pixel` are the strides of rows and
pixels. Whole atoms of channels are written; padding channels contain the zero point.
"""

from dataclasses import dataclass

import numpy as np

from ....dialects.core.numerics.integers import Values, Window
from ..core.description import Description
from ..core.extent import Extent
from ..core.packet import Packet
from ..core.simulator_state import SimulatorState


@dataclass(frozen=True, kw_only=True)
class BetweenImages(Packet):
    """Base of packets that read a window of an image and write one."""

    source: int
    source_row: int
    source_pixel: int
    rows: int
    columns: int
    channels: int
    destination: int
    destination_row: int
    destination_pixel: int

    def source_in(self, space: str) -> Extent:
        """Return the extent of the source in a space."""
        counts, strides = (self.rows, self.columns), (self.source_row, self.source_pixel)
        return Extent(space, self.source, self.channels, counts, strides)

    def destination_in(self, space: str, rows: int, columns: int, run: int) -> Extent:
        """Return the extent of the destination in a space, with `run` bytes for each pixel."""
        strides = (self.destination_row, self.destination_pixel)
        return Extent(space, self.destination, run, (rows, columns), strides)


@dataclass(frozen=True, kw_only=True)
class ImagePacket(BetweenImages):
    """Base of packets that read an image and write another one."""

    destination_zero: int

    @property
    def out_shape(self) -> tuple[int, int, int]:
        """Return the rows, columns and channels of the result."""
        return (self.rows, self.columns, self.channels)

    @property
    def source_extent(self) -> Extent:
        """Return the extent of the source image."""
        return self.source_in("sram")

    def destination_extent(self, description: Description) -> Extent:
        """Return the extent that is written, whole atoms of channels."""
        rows, columns, channels = self.out_shape
        return self.destination_in("sram", rows, columns, description.padded(channels))

    def write(self, state: SimulatorState, y: Values) -> None:
        """Write a result and fill the padding channels."""
        extent = self.destination_extent(state.description)
        padded = np.full((*extent.counts, extent.run), self.destination_zero, np.int8)
        padded[..., : y.shape[-1]] = y
        state.write(extent, padded)


@dataclass(frozen=True, kw_only=True)
class WindowPacket(ImagePacket):
    """Base of packets that slide a kernel over the image, and clamp the result."""

    source_zero: int
    out_rows: int
    out_columns: int
    kernel_rows: int
    kernel_columns: int
    stride_rows: int
    stride_columns: int
    dilation_rows: int
    dilation_columns: int
    pad_top: int
    pad_left: int
    low: int
    high: int

    @property
    def out_shape(self) -> tuple[int, int, int]:
        return (self.out_rows, self.out_columns, self.channels)

    @property
    def window(self) -> Window:
        """Return the kernel window."""
        return Window.of(self)
