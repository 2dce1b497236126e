"""The interface of tiling rules: buffers, windows of images, and the loads and stores they need.

A rule asks for windows of its operands and results. Whether an image is resident in SRAM, is loaded
tile by tile from DRAM, or is a subview of another image, is hidden from the rule.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from ....dialects import dla, tri
from ....dialects.core.errors import Unsupported
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ....dialects.core.op import Op
from ....dialects.core.tensor import Array
from ....dialects.dla.buffers import BufferOp
from ....dialects.dla.types import CONSTANTS, SRAM, WEIGHTS, BufferType, memref_of
from ..core.description import Description
from ..layout.memory_layout import MemoryLayout
from .placement import BufferWindow, ImagePlacement, Ranges, sizes_of, start_of


@dataclass
class Tiler:
    """Write the ops of one program into `block`; constants become arguments of the block.

    `sram_free` is how many bytes of SRAM the current op may use in total, `tile_budget` how many
    one tile with its operands may use, and `weight_budget` how many a chunk of weights may use.
    """

    module: Module
    block: ir.Block
    layout: MemoryLayout
    outside: ir.Operation
    sram_free: int = 0
    tile_budget: int = 0
    weight_budget: int = 0
    location: ir.Location | None = None
    constants: list[ir.Value] = field(default_factory=list[ir.Value])
    values: dict[ir.Value, ImagePlacement] = field(default_factory=dict[ir.Value, ImagePlacement])
    arrays: dict[ir.Value, Array] = field(default_factory=dict[ir.Value, Array])

    @property
    def description(self) -> Description:
        return self.layout.description

    def array(self, value: ir.Value) -> Array:
        """Return the array of a constant operand."""
        return self.arrays[value]

    def alloc(self, buffer: BufferType) -> ir.Value:
        """Allocate a buffer."""
        return dla.Alloc.make(buffer, loc=self.location).buffer

    def put(self, cls: type[BufferOp], *buffers: ir.Value, **attributes: Any) -> None:
        """Write an op."""
        cls.put(*buffers, loc=self.location, **attributes)

    def constant(self, array: Array, hint: str) -> ir.Value:
        """Return a new argument of the program that contains a constant of bytes."""
        with ir.InsertionPoint(self.outside):
            made = tri.build_constant(self.module, array, hint, loc=self.location)
        self.constants.append(made.results[0])
        type_ = memref_of(BufferType(array.shape, "i8", CONSTANTS))
        return self.block.add_argument(type_, self.location or ir.Location.unknown())

    def reader(self, value: ir.Value) -> "Reader":
        """Return the reader of an operand; a constant image is loaded like any other one."""
        if value not in self.values:
            array = self.layout.packed_images(self.array(value))
            dram = self.constant(array, "image")
            self.values[value] = ImagePlacement(self.array(value).shape, dram=BufferWindow(dram))
        return Reader(self, self.values[value])

    def writer(self, value: ir.Value) -> "Writer":
        """Return the writer of a result."""
        return Writer(self, self.values[value])

    def weights(self, chunks: Sequence[Array], hint: str, keep: int = 1) -> "Weights":
        """Return a loader of chunks of bytes; the `keep` chunks loaded last are resident.

        Raises Unsupported if one of them does not fit.
        """
        sizes = [self.layout.aligned(chunk.size) for chunk in chunks]
        if max(sizes) > self.weight_budget:
            raise Unsupported(
                f"has no tile that fits into {self.weight_budget} bytes of weights, "
                f"a chunk takes {max(sizes)}"
            )
        starts = [0, *np.cumsum(sizes).tolist()]
        packed = np.zeros(starts[-1], np.int8)
        for chunk, start in zip(chunks, starts, strict=False):
            packed[start : start + chunk.size] = chunk
        return Weights(self, self.constant(packed, hint), starts, keep)

    def tile(self, ranges: Ranges) -> BufferWindow:
        """Allocate a tile in SRAM for a window."""
        sizes = [end - first for first, end in ranges]
        return BufferWindow(self.alloc(self.layout.images((1, *sizes), SRAM)))


@dataclass
class Reader:
    """Return windows of an operand: in place if it is resident, else loaded into a tile."""

    tiler: Tiler
    images: ImagePlacement
    last: tuple[object, BufferWindow] | None = None
    buffered: "_LineBuffer | None" = None

    @property
    def loads(self) -> bool:
        """Report whether windows are loaded."""
        return self.images.sram is None

    def window(self, image: int, ranges: Ranges) -> BufferWindow:
        """Return a window; load it unless it is the one that was loaded last."""
        if self.images.sram is not None:
            return self.images.sram.moved(start_of(image, ranges))
        if self.last is None or self.last[0] != (image, ranges):
            tile = self.tiler.tile(ranges)
            self.load(image, ranges, tile)
            self.last = ((image, ranges), tile)
        return self.last[1]

    def load(self, image: int, ranges: Ranges, target: BufferWindow) -> None:
        """Load a window from DRAM to a window in SRAM."""
        assert self.images.dram is not None
        source = self.images.dram.moved(start_of(image, ranges))
        _transfer(self.tiler, dla.Load, source, target, ranges)

    def line_buffer(self, image: int, ranges: Ranges) -> BufferWindow:
        """Return a window in a line buffer, which loads each row once.

        Rows of an image must be asked for in ascending order; the buffer is allocated for all
        rows of the columns and channels of the window.
        """
        if not self.loads:
            return self.window(image, ranges)
        rows, columns, channels = ranges
        if self.buffered is None or self.buffered.covers != (columns, channels):
            count, height = self.images.shape[:2]
            sizes = (count, height, columns[1] - columns[0], channels[1] - channels[0])
            buffer = self.tiler.alloc(self.tiler.layout.images(sizes, SRAM))
            self.buffered = _LineBuffer((columns, channels), buffer)
        first = self.buffered.loaded.get(image, 0)
        if rows[1] > first:
            target = BufferWindow(self.buffered.buffer, (image, first, 0, 0))
            self.load(image, ((first, rows[1]), columns, channels), target)
            self.buffered.loaded[image] = rows[1]
        return BufferWindow(self.buffered.buffer, (image, rows[0], 0, 0))


@dataclass
class _LineBuffer:
    """A buffer for some columns and channels of all rows, and how many rows are loaded."""

    covers: tuple[tuple[int, int], tuple[int, int]]
    buffer: ir.Value
    loaded: dict[int, int] = field(default_factory=dict[int, int])


@dataclass
class Writer:
    """Return windows of a result: in place if it is resident, else tiles that are stored."""

    tiler: Tiler
    images: ImagePlacement

    @property
    def stores(self) -> bool:
        """Report whether windows need tiles of their own."""
        return self.images.sram is None

    def window(self, image: int, ranges: Ranges) -> BufferWindow:
        """Return the window to write to."""
        if self.images.sram is not None:
            return self.images.sram.moved(start_of(image, ranges))
        return self.tiler.tile(ranges)

    def finish(self, window: BufferWindow, image: int, ranges: Ranges) -> None:
        """Store a written window, if the result has a buffer in DRAM."""
        if self.images.dram is not None:
            target = self.images.dram.moved(start_of(image, ranges))
            _transfer(self.tiler, dla.Store, window, target, ranges)


@dataclass
class Weights:
    """Load chunks of bytes into the memory of weights, unless they are resident."""

    tiler: Tiler
    source: ir.Value
    starts: Sequence[int]
    keep: int
    resident: dict[int, ir.Value] = field(default_factory=dict[int, ir.Value])

    def chunk(self, number: int) -> ir.Value:
        """Return the buffer of a chunk."""
        if number not in self.resident:
            first, end = self.starts[number : number + 2]
            buffer = self.tiler.alloc(BufferType((end - first,), "i8", WEIGHTS))
            self.tiler.put(
                dla.LoadWeights, self.source, buffer, source_at=first, length=end - first
            )
            while len(self.resident) >= self.keep:
                del self.resident[next(iter(self.resident))]
            self.resident[number] = buffer
        return self.resident[number]


Rule = Callable[[Any, Tiler], None]
Function = TypeVar("Function", bound=Rule)

TILINGS: dict[type[Op], Rule] = {}
"""The tiling rule of each op on tensors; an accelerator adds those of its own ops."""


def tiles(*classes: type[Op]) -> Callable[[Function], Function]:
    """Register the decorated function as the rule that writes the tiles of ops."""

    def register(function: Function) -> Function:
        for cls in classes:
            if cls in TILINGS:
                raise TypeError(f"{cls.op_name} has two rules for its tiles")
            TILINGS[cls] = function
        return function

    return register


def _transfer(
    tiler: Tiler,
    cls: type[dla.Load | dla.Store],
    source: BufferWindow,
    target: BufferWindow,
    ranges: Ranges,
) -> None:
    places = {"source_at": source.at, "destination_at": target.at}
    tiler.put(cls, source.buffer, target.buffer, **places, **sizes_of(ranges))
