"""Write the ops of a program: buffers, windows of images, and the loads and stores they need.

A value of the tensor form is in sram as a whole, or in dram, and may be a part of another one
there; a rule for an op asks for windows of its operands and results, and does not know which. A
window that is asked for again is still there.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from ....dialects import dla, tri
from ....dialects.core.errors import CompileError, Diagnostic, Unsupported
from ....dialects.core.location import describe
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ....dialects.core.op import Op
from ....dialects.core.tensor import Array
from ....dialects.dla.buffers import BufferOp
from ....dialects.dla.types import CONSTANTS, SRAM, WEIGHTS, Buffer, buffer_type
from ..core.description import Description
from ..layout.memory_layout import Layout
from ..phases import TENSOR_SCHED
from .placement import Images, Ranges, Window, sizes_of, start_of


@dataclass
class Tiler:
    """Write one program: `block` is its body, and its constants become arguments of it.

    `room` is how many bytes of sram the op at hand may take at once, `budget` how many of them one
    tile with what it is made of; `weight_budget` is how many a chunk of weights may take.
    """

    module: Module
    block: ir.Block
    layout: Layout
    outside: ir.Operation
    room: int = 0
    budget: int = 0
    weight_budget: int = 0
    location: ir.Location | None = None
    constants: list[ir.Value] = field(default_factory=list[ir.Value])
    values: dict[ir.Value, Images] = field(default_factory=dict[ir.Value, Images])
    arrays: dict[ir.Value, Array] = field(default_factory=dict[ir.Value, Array])

    @property
    def description(self) -> Description:
        return self.layout.description

    def array(self, value: ir.Value) -> Array:
        """Return the value of a constant of the tensor form."""
        return self.arrays[value]

    def alloc(self, buffer: Buffer) -> ir.Value:
        """Make a buffer in one of the memories, or in dram."""
        return dla.Alloc.make(buffer, loc=self.location).buffer

    def put(self, cls: type[BufferOp], *buffers: ir.Value, **attributes: Any) -> None:
        """Write an op; attributes that its class does not have are those of another packet."""
        cls.put(*buffers, loc=self.location, **attributes)

    def constant(self, array: Array, hint: str) -> ir.Value:
        """Return an argument of the program that holds a constant, whose type is its buffer's."""
        with ir.InsertionPoint(self.outside):
            made = tri.build_constant(self.module, array, hint, loc=self.location)
        self.constants.append(made.results[0])
        type_ = buffer_type(Buffer(array.shape, "i8", CONSTANTS))
        return self.block.add_argument(type_, self.location or ir.Location.unknown())

    def reader(self, value: ir.Value) -> "Reader":
        """Return what finds windows of an operand; a constant is loaded like any other image."""
        if value not in self.values:
            array = self.layout.packed_images(self.array(value))
            dram = self.constant(array, "image")
            self.values[value] = Images(self.array(value).shape, dram=Window(dram))
        return Reader(self, self.values[value])

    def writer(self, value: ir.Value) -> "Writer":
        """Return what finds windows of a result."""
        return Writer(self, self.values[value])

    def weights(self, chunks: Sequence[Array], hint: str, keep: int = 1) -> "Weights":
        """Return what loads chunks of bytes into the memory of weights; `keep` of them stay.

        Raises Unsupported where not even one of them fits.
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


@dataclass
class Reader:
    """Find windows of an image: in sram as they are, from dram by a load into a tile."""

    tiler: Tiler
    images: Images
    last: tuple[object, Window] | None = None
    held: "_Held | None" = None

    @property
    def loads(self) -> bool:
        """Say whether windows have to be loaded."""
        return self.images.sram is None

    def window(self, image: int, ranges: Ranges) -> Window:
        """Return a window, after loading it if it is not there."""
        if self.images.sram is not None:
            return self.images.sram.moved(start_of(image, ranges))
        if self.last is not None and self.last[0] == (image, ranges):
            return self.last[1]
        sizes = [end - first for first, end in ranges]
        tile = self.tiler.alloc(self.tiler.layout.images((1, *sizes), SRAM))
        window = Window(tile)
        self.bring(image, ranges, window)
        self.last = ((image, ranges), window)
        return window

    def bring(self, image: int, ranges: Ranges, target: Window) -> None:
        """Load a window from dram to a place in sram."""
        assert self.images.dram is not None
        counts = sizes_of(ranges)
        source = self.images.dram.moved(start_of(image, ranges))
        places = {"source_at": source.at, "destination_at": target.at}
        self.tiler.put(dla.Load, source.buffer, target.buffer, **places, **counts)

    def band(self, image: int, ranges: Ranges) -> Window:
        """Return a window of images that stay while the op runs; each row is loaded once.

        What stays has the columns and channels of the window. Rows of an image come in order.
        """
        if not self.loads:
            return self.window(image, ranges)
        rows, columns, channels = ranges
        if self.held is None or self.held.of != (columns, channels):
            count, height = self.images.shape[:2]
            sizes = (count, height, columns[1] - columns[0], channels[1] - channels[0])
            buffer = self.tiler.alloc(self.tiler.layout.images(sizes, SRAM))
            self.held = _Held((columns, channels), buffer)
        first = self.held.ends.get(image, 0)
        if rows[1] > first:
            place = Window(self.held.buffer, (image, first, 0, 0))
            self.bring(image, ((first, rows[1]), columns, channels), place)
            self.held.ends[image] = rows[1]
        return Window(self.held.buffer, (image, rows[0], 0, 0))


@dataclass
class _Held:
    """A buffer for some columns and channels of all rows, and how many it has of each image."""

    of: tuple[tuple[int, int], tuple[int, int]]
    buffer: ir.Value
    ends: dict[int, int] = field(default_factory=dict[int, int])


@dataclass
class Writer:
    """Find windows of a result: in sram where it stays, in a tile that is stored otherwise."""

    tiler: Tiler
    images: Images

    @property
    def stores(self) -> bool:
        """Say whether windows need tiles of their own."""
        return self.images.sram is None

    def window(self, image: int, ranges: Ranges) -> Window:
        """Return where to write a window."""
        if self.images.sram is not None:
            return self.images.sram.moved(start_of(image, ranges))
        sizes = [end - first for first, end in ranges]
        tile = self.tiler.alloc(self.tiler.layout.images((1, *sizes), SRAM))
        return Window(tile)

    def finish(self, window: Window, image: int, ranges: Ranges) -> None:
        """Store a window that was written, if the value is to be in dram."""
        if self.images.dram is None:
            return
        target = self.images.dram.moved(start_of(image, ranges))
        places = {"source_at": window.at, "destination_at": target.at}
        self.tiler.put(dla.Store, window.buffer, target.buffer, **places, **sizes_of(ranges))


@dataclass
class Weights:
    """Bring chunks of bytes into the memory of weights; the last ones are still there."""

    tiler: Tiler
    source: ir.Value
    starts: Sequence[int]
    keep: int
    there: dict[int, ir.Value] = field(default_factory=dict[int, ir.Value])

    def chunk(self, number: int) -> ir.Value:
        """Return the buffer of a chunk, after loading it if it is not there."""
        if number not in self.there:
            first, end = self.starts[number : number + 2]
            buffer = self.tiler.alloc(Buffer((end - first,), "i8", WEIGHTS))
            self.tiler.put(
                dla.LoadWeights, self.source, buffer, source_at=first, length=end - first
            )
            while len(self.there) >= self.keep:
                del self.there[next(iter(self.there))]
            self.there[number] = buffer
        return self.there[number]


Rule = Callable[[Any, Tiler], None]
Function = TypeVar("Function", bound=Rule)
Made = TypeVar("Made")

TILINGS: dict[type[Op], Rule] = {}
"""How each op of the tensor form is cut into tiles; an accelerator adds those of its own ops."""


def tiles(*classes: type[Op]) -> Callable[[Function], Function]:
    """Register the decorated function as the rule that writes the tiles of ops."""

    def register(function: Function) -> Function:
        for cls in classes:
            if cls in TILINGS:
                raise TypeError(f"{cls.op_name} has two rules for its tiles")
            TILINGS[cls] = function
        return function

    return register


def tiling_of(op: Op) -> Rule:
    """Return the rule for the tiles of an op; raise CompileError when there is none."""
    if type(op) in TILINGS:
        return TILINGS[type(op)]
    message = f"'{op.op_name}' op has no rule for its tiles: add a function under @tiles"
    raise CompileError([Diagnostic(describe(op.location), message, (f"in phase {TENSOR_SCHED}",))])


def cut(rule: Callable[[Any, Tiler], Made], op: Op, tiler: Tiler, room: int, weights: int) -> Made:
    """Let a rule cut an op into tiles of which two fit, or one where that is all that can be.

    There are `room` bytes of sram, and of the memory of weights as many as `weights`. Raises
    Unsupported where not even the smallest tile fits.
    """
    for among, chunks in ((2, 3), (1, 1)):
        tiler.room, tiler.budget = room, room // among
        tiler.weight_budget = weights // chunks
        try:
            return rule(op, tiler)
        except Unsupported as error:
            refused = error
    raise refused


def parts(total: int, step: int) -> list[tuple[int, int]]:
    """Cut a range into parts of a step; the last one may be smaller."""
    return [(first, min(first + step, total)) for first in range(0, total, step)]


def even(total: int, most: int, grain: int = 1) -> int:
    """Return the step, of whole grains, that cuts a range into as few parts, of about a size."""
    count = -(-total // max(most, 1))
    step = -(-total // count)
    return -(-step // grain) * grain
