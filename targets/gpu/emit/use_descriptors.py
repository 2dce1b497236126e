"""Move blocks of matrices through tensor descriptors, on GPUs that have them."""

from collections.abc import Sequence
from dataclasses import dataclass

from ....dialects import tile
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, ops
from ....dialects.core.op import Op, view
from ....dialects.core.sizes.limits import at_least
from ....dialects.core.sizes.substitution import likely
from ....dialects.core.tensor import DTYPES
from ....dialects.tile.types import FLOAT8, Memory, Tile, need_memory, plain_type
from ....passes.core import Pass
from ....passes.rewriting import users
from ..kernels.cleanup import clean_up
from ..kernels.value import Value, scalar
from ..schedule.intervals import Intervals

ALIGNMENT_BYTES = 16
"""Alignment of the rows of a matrix, and the least size of a row of a block."""

MOST = 256
"""The most elements that a block has along a dimension."""

UNFIT = ("i1",)
"""Types that descriptors do not have."""


class UseDescriptors(Pass):
    """Load factors of products, and store the results, block by block through descriptors.

    The block must be part of a matrix whose rows have no gaps between elements and begin at
    multiples of 16 bytes. Elements out of bounds are 0, and may only be at the upper end. Further
    dims of the tensor become rows of the matrix; a block does not cross from one to the next.

    %a = tile.load %x[%row + arange(BM), %k + arange(BK)]; tile.dot %a, …
        =>   %a = tile.load_block %x[%row, %k] {block = ["BM", "BK"]}; tile.dot %a, …
    """

    def run(self, module: Module) -> None:
        with module.operation.context, ir.Location.unknown():
            for kernel in tile.kernels_of(module.operation):
                use_descriptors(kernel)


def use_descriptors(kernel: tile.Kernel) -> None:
    """Use descriptors in one kernel, for the block sizes that it has."""
    found = ops(kernel.block)
    if not any(isinstance(op, tile.Dot) and _suits(op) for op in found):
        return
    blocks = _Blocks(kernel)
    for op in found:
        if isinstance(op, tile.Load) and op.pad == 0 and _is_factor(op.y):
            _replace_load(op, blocks)
        elif isinstance(op, tile.Store) and not op.accumulate:
            _replace_store(op, blocks)
    clean_up(kernel.block)


def _suits(dot: tile.Dot) -> bool:
    """Return whether matrix units multiply: they read memory as descriptors leave it."""
    dtype = Value(dot.a).dtype
    return dtype in ("f16", "bf16", "i8", *FLOAT8) or (dtype == "f32" and dot.precision == "tf32")


def _is_factor(value: ir.Value) -> bool:
    readers = users(value)
    return bool(readers) and all(isinstance(view(reader), tile.Dot) for reader in readers)


@dataclass(frozen=True)
class _Side:
    """A dimension of a tile over a dimension of memory: a block from `first` on."""

    dim: int
    axis: int
    block: str
    first: ir.Value | None


@dataclass(frozen=True)
class _Block:
    """A block of a matrix, and whether the tile is its transpose."""

    memory: Memory
    offsets: tuple[Value, Value]
    sizes: tuple[str, str]
    transposed: bool


def _replace_load(op: tile.Load, blocks: "_Blocks") -> None:
    with ir.InsertionPoint(op.operation):
        if (block := blocks.find(op)) is None:
            return
        values = [offset.value for offset in block.offsets]
        loaded = tile.LoadBlock.build(_seen(op.memory, block.memory), values, block=block.sizes).y
        loaded.owner.location = op.operation.location
        number = Value(loaded)
        op.y.replace_all_uses_with((number.transpose() if block.transposed else number).value)
    op.operation.erase()


def _replace_store(op: tile.Store, blocks: "_Blocks") -> None:
    with ir.InsertionPoint(op.operation):
        if (block := blocks.find(op)) is None:
            return
        number = Value(op.value)
        number = number.transpose() if block.transposed else number
        values = [offset.value for offset in block.offsets]
        tile.StoreBlock.build(number.value, _seen(op.memory, block.memory), values)
    op.operation.erase()


class _Blocks:
    """Find the blocks of a kernel; of an argument, all of one size must be of the same matrix."""

    def __init__(self, kernel: tile.Kernel) -> None:
        self._sizes = kernel.block_sizes
        self._intervals = Intervals(kernel)
        self._described: dict[tuple[ir.Value, tuple[int, int]], Memory] = {}

    def find(self, op: tile.Load | tile.Store) -> _Block | None:
        """Return the block that is read or written; None where no descriptor describes it."""
        memory = need_memory("memory", plain_type(op.memory.type))
        indices = list(op.indices)
        walked = {dim: _side(dim, index) for dim, index in enumerate(indices) if _rank(index)}
        sides = [side for side in walked.values() if side is not None]
        if len(walked) != 2 or len(sides) != 2 or {side.axis for side in sides} != {0, 1}:
            return None
        rows, columns = sorted(sides, key=lambda side: -likely(memory.strides[side.dim]))
        if not _fits(memory, rows, columns, self._sizes) or not _is_full(op, rows, columns):
            return None
        if any((found := self._intervals.of(index)) is None or found[0] < 0 for index in indices):
            return None
        stacked = self._stack(memory, indices, rows, columns)
        if stacked is None:
            return None
        matrix, row = stacked
        sizes = self._sizes[rows.block], self._sizes[columns.block]
        if self._described.setdefault((_argument(op.memory), sizes), matrix) != matrix:
            return None
        blocks = rows.block, columns.block
        return _Block(matrix, (row, _first(columns)), blocks, transposed=rows.axis == 1)

    def _stack(
        self, memory: Memory, indices: Sequence[ir.Value], rows: _Side, columns: _Side
    ) -> tuple[Memory, Value] | None:
        """See memory as one matrix with the rows of all other dims; return where a block begins."""
        pitch, count = memory.strides[rows.dim], memory.shape[rows.dim]
        row = _first(rows)
        for dim, index in enumerate(indices):
            if dim in (rows.dim, columns.dim) or self._intervals.of(index) == (0, 0):
                continue
            alone = self._is_inside(index, memory.shape[dim])
            if not alone or not self._is_inside(indices[rows.dim], memory.shape[rows.dim]):
                return None
            steps, rest = divmod(memory.strides[dim], pitch)
            if rest != 0:
                return None
            row = row + Value(index) * steps
            count += (memory.shape[dim] - 1) * steps
        return Memory((count, memory.shape[columns.dim]), (pitch, 1), memory.dtype), row

    def _is_inside(self, index: ir.Value, size: int) -> bool:
        found = self._intervals.of(index)
        return found is not None and found[0] >= 0 and at_least(size, found[1] + 1) is True


def _fits(memory: Memory, rows: _Side, columns: _Side, sizes: dict[str, int]) -> bool:
    """Return whether a descriptor takes blocks of these rows and columns."""
    size = DTYPES[memory.dtype].bits // 8
    pitch = memory.strides[rows.dim]
    return (
        memory.dtype not in UNFIT
        and memory.strides[columns.dim] == 1
        and at_least(pitch, memory.shape[columns.dim]) is True
        and pitch * size % ALIGNMENT_BYTES == 0
        and sizes[columns.block] * size >= ALIGNMENT_BYTES
        and max(sizes[rows.block], sizes[columns.block]) <= MOST
    )


def _is_full(op: tile.Load | tile.Store, rows: _Side, columns: _Side) -> bool:
    """Return whether the stored value is a whole block, not broadcast to one."""
    if isinstance(op, tile.Load):
        return True
    shape = (rows.block, columns.block)
    return Value(op.value).shape == (shape if rows.axis == 0 else shape[::-1])


def _side(dim: int, index: ir.Value) -> _Side | None:
    """Match an index `first + arange` that is a row or a column of a tile; None otherwise."""
    expanded = _maker(index)
    if not isinstance(expanded, tile.Expand) or _rank(expanded.x) != 1:
        return None
    made = _maker(expanded.x)
    if isinstance(made, tile.Arange):
        return _Side(dim, 1 - expanded.axis, made.block, None)
    if not isinstance(made, tile.Binary) or made.function != "add":
        return None
    for places, first in ((made.a, made.b), (made.b, made.a)):
        walk = _maker(places)
        if isinstance(walk, tile.Arange) and not _rank(first):
            return _Side(dim, 1 - expanded.axis, walk.block, first)
    return None


def _first(side: _Side) -> Value:
    return scalar(0) if side.first is None else Value(side.first)


def _maker(value: ir.Value) -> Op | None:
    return view(value.owner) if isinstance(value, ir.OpResult) else None


def _rank(value: ir.Value) -> int:
    type_ = plain_type(value.type)
    assert isinstance(type_, Tile), "indices are tiles"
    return len(type_.shape)


def _argument(memory: ir.Value) -> ir.Value:
    """Return the memory that memory is a view of."""
    made = _maker(memory)
    return _argument(made.memory) if isinstance(made, tile.View) else memory


def _seen(memory: ir.Value, matrix: Memory) -> ir.Value:
    """View memory as a matrix."""
    source = _argument(memory)
    if plain_type(source.type) == matrix:
        return source
    return tile.View.build(source, shape=matrix.shape, strides=matrix.strides).y
