"""Programs drawn at random, on small buffers, which read only what was written before."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from trivium.dialects import dla
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.module import Module
from trivium.dialects.dla.types import BufferType, memref_of

SIDE, ATOM = 4, 16
IMAGE = (1, SIDE, SIDE, ATOM)
WEIGHTS, TABLE, LOOKUP = 256, 144, 256

NAMES = ("inputs", "constants", "outputs")
TYPES = (
    BufferType(IMAGE, "i8", "dram.inputs"),
    BufferType(IMAGE, "i8", "dram.inputs"),
    BufferType((WEIGHTS + TABLE + LOOKUP,), "i8", "dram.constants"),
    BufferType(IMAGE, "i8", "dram.outputs"),
    BufferType(IMAGE, "i8", "dram.outputs"),
)

MAIN = """
func.func @main(%x0: tensor<1x4x4x16xi8>, %x1: tensor<1x4x4x16xi8>) -> (
    tensor<1x4x4x16xi8>, tensor<1x4x4x16xi8>) {
  %c = "tri.weight"() {name = "c", type = tensor<656xi8>} : () -> tensor<656xi8>
  %0:2 = "dla.run"(%x0, %x1, %c) {program = "drawn"} : (
      tensor<1x4x4x16xi8>, tensor<1x4x4x16xi8>, tensor<656xi8>) -> (
      tensor<1x4x4x16xi8>, tensor<1x4x4x16xi8>)
  return %0#0, %0#1 : tensor<1x4x4x16xi8>, tensor<1x4x4x16xi8>
}
"""


@dataclass
class Image:
    """A buffer, and which of its pixels were written."""

    value: ir.Value
    written: Any = field(default_factory=lambda: np.zeros((SIDE, SIDE), bool))

    def window(self, draw: random.Random) -> tuple[int, int, int, int] | None:
        """Draw a window that was written: its first row and column, its rows and columns."""
        for _ in range(8):
            window = drawn_window(draw)
            if self.written[slices(*window)].all():
                return window
        return None


def drawn_window(draw: random.Random) -> tuple[int, int, int, int]:
    row, column = draw.randrange(SIDE), draw.randrange(SIDE)
    return row, column, draw.randint(1, SIDE - row), draw.randint(1, SIDE - column)


def slices(row: int, column: int, rows: int, columns: int) -> tuple[slice, slice]:
    return slice(row, row + rows), slice(column, column + columns)


def constants(draw: random.Random) -> Any:
    """Draw weights, a table of scales, and a table to look up in."""
    values = np.random.RandomState(draw.randrange(1 << 30))
    table = np.zeros(TABLE, np.int8)
    table[:64].view(np.int32)[:] = values.randint(-500, 500, 16)
    table[64:128].view(np.int32)[:] = values.randint(1 << 30, (1 << 31) - 1, 16)
    table[128:] = values.randint(33, 40, 16)
    bytes_ = values.randint(-128, 128, WEIGHTS + LOOKUP).astype(np.int8)
    return np.concatenate([bytes_[:WEIGHTS], table, bytes_[WEIGHTS:]])


def inputs(draw: random.Random) -> list[Any]:
    values = np.random.RandomState(draw.randrange(1 << 30))
    return [values.randint(-128, 128, IMAGE).astype(np.int8) for _ in range(2)]


class Drawing:
    """Put ops that are drawn at random into a program."""

    def __init__(self, draw: random.Random, block: ir.Block) -> None:
        self.draw = draw
        every = np.ones((SIDE, SIDE), bool)
        arguments = list(block.arguments)
        self.sources = [Image(value, every) for value in arguments[:2]]
        self.constants = arguments[2]
        self.outputs = [Image(value) for value in arguments[3:]]
        self.images: list[Image] = []
        self.spills: list[Image] = []
        self.tables: dict[str, ir.Value] = {}

    def step(self) -> None:
        steps: list[Callable[[], None]] = [
            self.load, self.load, self.store, self.store, self.spill, self.copy, self.eltwise,
            self.pool, self.lookup, self.conv, self.sums, self.forget, self.resize, self.repeat,
        ]  # fmt: skip
        self.draw.choice(steps)()

    def alloc(self, shape: tuple[int, ...] = IMAGE, space: str = "sram") -> ir.Value:
        type_ = memref_of(BufferType(shape, "i32" if space == "accumulator" else "i8", space))
        return dla.Alloc.create([], [type_], {}).results[0]

    def target(self) -> Image:
        """Return a new image, or one that is written again."""
        if self.images and self.draw.random() < 0.4:
            return self.draw.choice(self.images)
        self.images.append(Image(self.alloc()))
        return self.images[-1]

    def read(self) -> tuple[Image, tuple[int, int, int, int]] | None:
        if not self.images:
            return None
        image = self.draw.choice(self.images)
        window = image.window(self.draw)
        return None if window is None else (image, window)

    def forget(self) -> None:
        """Let an image die, so that another one may have its bytes."""
        if self.images:
            self.images.pop(self.draw.randrange(len(self.images)))

    def load(self) -> None:
        source = self.draw.choice([*self.sources, *self.spills])
        window = source.window(self.draw)
        if window is None:
            return
        row, column, rows, columns = window
        outer = drawn_window(self.draw)
        top, left = self.draw.randint(0, 1), self.draw.randint(0, 1)
        rows, columns = min(rows, outer[2] - top), min(columns, outer[3] - left)
        if min(rows, columns) < 1:
            return
        target = self.target()
        dla.Load.put(
            source.value, target.value, source_at=(0, row, column, 0),
            destination_at=(0, *outer[:2], 0), rows=rows, columns=columns, channels=ATOM,
            top=top, left=left, bottom=outer[2] - top - rows, right=outer[3] - left - columns,
            fill=self.draw.randint(-128, 127),
        )  # fmt: skip
        target.written[slices(*outer)] = True

    def _store(self, target: Image) -> None:
        found = self.read()
        if found is None:
            return
        image, (row, column, rows, columns) = found
        to = (self.draw.randint(0, SIDE - rows), self.draw.randint(0, SIDE - columns))
        dla.Store.put(
            image.value, target.value, source_at=(0, row, column, 0), destination_at=(0, *to, 0),
            rows=rows, columns=columns, channels=ATOM,
        )  # fmt: skip
        target.written[slices(*to, rows, columns)] = True

    def store(self) -> None:
        self._store(self.draw.choice(self.outputs))

    def spill(self) -> None:
        if not self.spills or self.draw.random() < 0.3:
            self.spills = [*self.spills[-1:], Image(self.alloc(IMAGE, "dram.activations"))]
        self._store(self.draw.choice(self.spills))

    def table(self, name: str) -> ir.Value:
        start, length = {
            "weights": (0, WEIGHTS), "table": (WEIGHTS, TABLE), "lookup": (WEIGHTS + TABLE, LOOKUP)
        }[name]  # fmt: skip
        if name not in self.tables or self.draw.random() < 0.3:
            self.tables[name] = self.alloc((length,), "weights")
            dla.LoadWeights.put(self.constants, self.tables[name], source_at=start, length=length)
        return self.tables[name]

    def _tile(self, op: Any, *more: ir.Value, **given: Any) -> None:
        """Put an op that makes an image of the shape of its source."""
        found = self.read()
        if found is None:
            return
        image, (row, column, rows, columns) = found
        target = self.target()
        to = (self.draw.randint(0, SIDE - rows), self.draw.randint(0, SIDE - columns))
        if target is image:
            if "out_rows" in given:
                return
            to = (row, column)
        sizes = {"rows": rows, "columns": columns, "channels": ATOM}
        sizes |= {"out_rows": rows, "out_columns": columns} if "out_rows" in given else {}
        op.put(
            image.value, target.value, *more, **{**given, **sizes},
            source_at=(0, row, column, 0), destination_at=(0, *to, 0),
            destination_zero=self.draw.randint(-9, 9),
        )  # fmt: skip
        target.written[slices(*to, rows, columns)] = True

    def copy(self) -> None:
        self._tile(dla.CopyTile, multiplier=self.draw.randint(1, 3), shift=self.draw.randint(0, 2))

    def lookup(self) -> None:
        self._tile(dla.LookupTile, self.table("lookup"))

    def eltwise(self) -> None:
        others = [image for image in self.images if image.written.all()]
        if not others:
            return
        other = self.draw.choice(others)
        found = [image for image in self.images if image is not other]
        kept, self.images = self.images, found
        operator = self.draw.choice(["add", "mul", "max", "min"])
        self._tile(dla.EltwiseTile, other.value, operator=operator, shift=2)
        self.images = [*kept, *(image for image in self.images if image not in kept)]

    def pool(self) -> None:
        self._tile(
            dla.PoolTile, out_rows=0, mode=self.draw.choice(["max", "average"]), multiplier=1 << 20,
            shift=20, divisor="inside", kernel_rows=3, kernel_columns=3, pad_top=1, pad_left=1,
        )  # fmt: skip

    def resize(self) -> None:
        step = self.draw.choice([1 << 15, 1 << 16, 3 << 15])
        self._tile(dla.ResizeTile, out_rows=0, step_rows=step, step_columns=1 << 16, start_rows=-9)

    def repeat(self) -> None:
        """Add one pixel, or one row, to all."""
        columns = self.draw.choice([1, SIDE])
        other = self.alloc((1, 1, columns, ATOM))
        dla.Load.put(self.sources[0].value, other, rows=1, columns=columns, channels=ATOM)
        found = self.read()
        if found is None:
            return
        image, (row, _, rows, _) = found
        if not image.written[row : row + rows].all():
            return
        target = Image(self.alloc())
        dla.EltwiseTile.put(
            image.value, target.value, other, operator="add", source_at=(0, row, 0, 0),
            rows=rows, columns=SIDE, channels=ATOM,
        )  # fmt: skip
        target.written[:rows] = True
        self.images.append(target)

    def conv(self) -> None:
        sums = self.alloc(IMAGE, "accumulator")
        tables = (self.table("weights"), self.table("table"), sums)
        self._tile(dla.ConvTile, *tables, out_rows=0, filters=ATOM, kernel_rows=1, kernel_columns=1)

    def sums(self) -> None:
        """Sum in two steps."""
        found = self.read()
        if found is None:
            return
        image, (row, column, rows, columns) = found
        target = Image(self.alloc())
        weights, table = self.table("weights"), self.table("table")
        sums = self.alloc(IMAGE, "accumulator")
        for step in range(2):
            dla.ConvTile.put(
                image.value, target.value, weights, table, sums, source_at=(0, row, column, 0),
                rows=rows, columns=columns, channels=ATOM, filters=ATOM, out_rows=rows,
                out_columns=columns, kernel_rows=1, kernel_columns=1, begin=1 - step, finish=step,
            )  # fmt: skip
        target.written[:rows, :columns] = True
        self.images.append(target)


def drawn_program(draw: random.Random, steps: int) -> Module:
    """Return a module with a program in buffer form and a call of it, in the current context."""
    with ir.Location.unknown():
        made = ir.Module.parse("module {}")
        with ir.InsertionPoint(made.operation.regions[0].blocks[0]):
            program = dla.Program.create(
                [], [], {"sym_name": "drawn", "target": "vanilla", "atom": ATOM}
            )
        unknown = [ir.Location.unknown()] * len(TYPES)
        types = [memref_of(type_) for type_ in TYPES]
        block = ir.Block.create_at_start(program.operation.regions[0], types, unknown)
        with ir.InsertionPoint(block):
            drawing = Drawing(draw, block)
            drawing.load()
            for number in range(steps):
                with ir.Location.name(f"step_{number}"):
                    drawing.step()
            dla.End.create([], [], {})
    body = made.operation.regions[0].blocks[0].operations[0]
    text = body.operation.get_asm(enable_debug_info=True)
    return Module.parse(f"module {{\n{text}\n{MAIN}\n}}", {"c": constants(draw)})
