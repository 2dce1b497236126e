"""The work of a program of a kernel, counted in its IR for given block sizes."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from ....dialects import tile
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.sizes.limits import Limits
from ....dialects.core.sizes.substitution import likely
from ....dialects.core.tensor import DTYPES
from ....dialects.tile.setting import Setting
from ....dialects.tile.types import Memory, Tile, plain_type
from .intervals import Interval, Intervals

_PASSES = (tile.Cast, tile.Transpose, tile.Expand)
"""Ops through which a factor of a product may go on its way from memory."""


@dataclass
class Work:
    """The work of one program; `programs` is the number of programs.

    `products` are multiplications and additions in dots, by the type of their factors, "tf32"
    among them; `rows` is the least number of rows of a dot. `operations` counts the elements of all
    other ops. `iterations` counts the iterations of loops. `staged` are bytes loaded for products,
    each with the stages of its loop, and `moved` the bytes that descriptors store. `carried` are
    the bytes that loops carry, `largest` the elements of the largest tile. `buffer_bytes` is the
    size of all buffers of the kernel together.
    """

    programs: int
    loaded_bytes: float = 0
    stored_bytes: float = 0
    products: Counter[str] = field(default_factory=Counter[str])
    operations: float = 0
    iterations: float = 0
    rows: int = 0
    staged: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    moved: int = 0
    carried: int = 0
    largest: int = 0
    buffer_bytes: int = 0


def work_of(kernel: tile.Kernel, setting: Setting) -> Work:
    """Count the work of a program of a kernel with a setting."""
    return _Counter(kernel, setting).work


class _Counter:
    def __init__(self, kernel: tile.Kernel, setting: Setting) -> None:
        self.setting = setting
        self.blocks: Mapping[str, int] = dict(setting.blocks)
        self.intervals = Intervals(kernel, self.blocks, _likely_limits)
        programs = math.prod(likely(axis.count(dict(self.blocks))) for axis in kernel.axes)
        self.work = Work(programs)
        self.work.buffer_bytes = sum(_memory_bytes(memory) for memory in kernel.memories)
        self._factors: set[ir.Value] = set()
        self._visit(kernel.block, 1, 1)

    def _visit(self, block: ir.Block, times: float, stages: int) -> None:
        self._note_factors(block)
        for op in tile.body_ops(block):
            if isinstance(op, tile.For):
                self._loop(op, times)
            else:
                self._count(op, times, stages)

    def _loop(self, op: tile.For, times: float) -> None:
        operands = list(op.operation.operands)
        iterations = _iterations(*(self.intervals.of(value) for value in operands[:3]))
        carried = sum(self._bytes(value) for value in operands[3:])
        self.work.carried = max(self.work.carried, carried)
        self.work.iterations += times * iterations
        self._visit(op.block, times * iterations, op.stages or self.setting.stages)

    def _note_factors(self, block: ir.Block) -> None:
        """Find the values that reach a dot of this block, back to where they are loaded."""
        for op in reversed(tile.body_ops(block)):
            if isinstance(op, tile.Dot):
                self._factors |= {op.a, op.b}
            elif isinstance(op, _PASSES) and op.results[0] in self._factors:
                self._factors.add(op.x)

    def _count(self, op: Op, times: float, stages: int) -> None:
        work = self.work
        for value in op.results:
            work.largest = max(work.largest, self._elements(value))
        if isinstance(op, (tile.Load, tile.LoadBlock)):
            size = self._bytes(op.y)
            work.loaded_bytes += times * size
            if op.y in self._factors or isinstance(op, tile.LoadBlock):
                work.staged.append((size, stages))
        elif isinstance(op, (tile.Store, tile.StoreBlock)):
            size = self._bytes(op.value)
            work.stored_bytes += times * size
            if isinstance(op, tile.StoreBlock):
                work.moved += size
        elif isinstance(op, tile.Dot):
            self._count_dot(op, times)
        elif isinstance(op, (tile.Reduce, tile.Scan)):
            work.operations += times * self._elements(op.x)
        elif len(op.results) == 1 and isinstance(plain_type(op.results[0].type), Tile):
            work.operations += times * self._elements(op.results[0])

    def _count_dot(self, op: tile.Dot, times: float) -> None:
        rows, depth = self._shape(op.a)
        dtype = _tile(op.a).dtype
        name = "tf32" if dtype == "f32" and op.precision == "tf32" else dtype
        self.work.products[name] += int(times * 2 * self._elements(op.y) * depth)
        self.work.rows = min(rows, self.work.rows or rows)

    def _shape(self, value: ir.Value) -> tuple[int, ...]:
        sizes = _tile(value).shape
        return tuple(self.blocks[s] if isinstance(s, str) else s for s in sizes)

    def _elements(self, value: ir.Value) -> int:
        if not isinstance(plain_type(value.type), Tile):
            return 0
        return math.prod(self._shape(value))

    def _bytes(self, value: ir.Value) -> int:
        return -(-self._elements(value) * DTYPES[_tile(value).dtype].bits // 8)


def _tile(value: ir.Value) -> Tile:
    type_ = plain_type(value.type)
    assert isinstance(type_, Tile), "only tiles are counted"
    return type_


def _likely_limits(size: Size) -> Limits:
    return likely(size), likely(size)


def _memory_bytes(memory: Memory) -> int:
    return -(-likely(memory.extent) * DTYPES[memory.dtype].bits // 8)


def _iterations(lower: Interval | None, upper: Interval | None, step: Interval | None) -> float:
    """Return the average number of iterations of a loop; 1 if it is unknown."""
    if not (lower and upper and step and step[0] > 0):
        return 1
    # Bounds that depend on the program, as in causal attention, are met by it evenly.
    length = (sum(upper) - sum(lower)) / 2
    return max(0.0, length) / step[0] if upper[0] != upper[1] else max(0, -(-length // step[0]))
