"""The contraction template: sums of products over a depth, by blocks of rows and columns."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....dialects.core.sizes.substitution import likely
from ....dialects.core.tensor import Tensor
from ....dialects.tile.contraction import ACCUMULATORS
from ...kernels.arithmetic import compute_dtype
from ..schedule.candidates import product_settings, vector_settings
from ..schedule.product_blocks import Blocks, block_choices, split_count, vector_blocks
from .builder import KernelBuilder
from .coordinates import Axis, Coordinates
from .depth import SINGLE, Depth, Part
from .epilogue import Epilogue
from .factor import Factor, Read
from .value import Value, dot, full, scalar, zeros

FEW = 4
"""Up to so many rows are multiplied as vectors: blocks of `tile.dot` would be empty for most."""

DOT = frozenset(ACCUMULATORS) - {"ui8"}
"""Types that tensor cores multiply, or `tile.dot` does well without; Triton has none for ui8."""

Finish = Callable[[Value, Coordinates], Value]
"""Turn sums into elements of a result, at their coordinates there."""


@dataclass(frozen=True)
class Contraction:
    """A contraction: y[batch, row, column] = Σ left(row, depth) * right(depth, column).

    `batch_dims`, `row_dims` and `column_dims` are the dims of the result that an index of each
    covers; `finish` maps the sums, in the result's compute type.
    """

    epilogue: Epilogue
    batch_dims: tuple[int, ...]
    row_dims: tuple[int, ...]
    column_dims: tuple[int, ...]
    left: Factor
    right: Factor
    depth: Depth
    finish: Finish = lambda number, at: number

    @property
    def batch(self) -> int:
        return self._extent(self.batch_dims)

    @property
    def rows(self) -> int:
        return self._extent(self.row_dims)

    @property
    def columns(self) -> int:
        return self._extent(self.column_dims)

    def _extent(self, dims: Sequence[int]) -> int:
        return math.prod(self.epilogue.shape[dim] for dim in dims)

    @property
    def sums(self) -> str:
        """Return the type that products are summed in."""
        dtype = self.left.dtype
        return ACCUMULATORS[dtype] if dtype in DOT else compute_dtype(dtype)

    @property
    def computed(self) -> str:
        """Return the type that the result is computed in."""
        return compute_dtype(self.epilogue.tensor.dtype)

    @property
    def swapped(self) -> "Contraction":
        """Return the same sums, rows for columns."""
        return replace(
            self,
            row_dims=self.column_dims,
            column_dims=self.row_dims,
            left=self.right,
            right=self.left,
        )

    def imported(self, kernel: KernelBuilder) -> "Contraction":
        """Return the same sums with the factors as arguments of another kernel."""
        return replace(self, left=self.left.imported(kernel), right=self.right.imported(kernel))

    def at(self, batch: Value, row: Value, column: Value) -> Coordinates:
        """Return where sums are in the result."""
        sides = [Axis(self.batch_dims, batch)] if self.batch != 1 else []
        axes = (*sides, Axis(self.row_dims, row), Axis(self.column_dims, column))
        return Coordinates(self.epilogue.shape, axes)


Store = Callable[[Value, Coordinates, Value], None]
"""Store sums over a part of the depth: the sums, their coordinates, the index of the part."""


def contract(kernel: KernelBuilder, sums: Contraction) -> None:
    """Emit a product; with few rows or columns as one with vectors, else block by block."""
    if sums.depth.size == 0:
        sums.epilogue.emit_elementwise(lambda at: sums.finish(full(0, sums.computed), at))
        return
    if _are_few(sums.columns) and not _are_few(sums.rows):
        sums = sums.swapped
    choices = _choices(kernel, sums)
    blocks = choices[0]
    emit = _emit_vectors if _are_few(sums.rows) else _emit_blocks
    width = likely(sums.depth.width)
    steps = likely(sums.depth.size) // max(width, 1) * -(-width // blocks.depth)
    parts = split_count(_programs(sums, blocks), steps)
    if parts == 1:
        emit(kernel, sums, choices, 1, lambda y, at, _: _finish(sums, y, at))
        return
    first = kernel.prior_kernel("partial")
    with first:
        shape = (parts, *sums.epilogue.shape)
        order = (0, *(dim + 1 for dim in sums.epilogue.order))
        partial = first.intermediate(Tensor(shape, sums.sums), "partial", order)
        store: Store = lambda y, at, part: partial.store(y, _in_part(part, at, parts))  # noqa: E731
        emit(first, sums.imported(first), choices, parts, store)
    stored = kernel.import_buffer(partial)

    def read(at: Coordinates) -> Value:
        numbers = [stored.load(_in_part(scalar(part), at, parts)) for part in range(parts)]
        return sums.finish(_sum(numbers).cast(sums.computed), at)

    sums.epilogue.emit_elementwise(read)


def _choices(kernel: KernelBuilder, sums: Contraction) -> list[Blocks]:
    batch, rows, columns, width = map(
        likely, (sums.batch, sums.rows, sums.columns, sums.depth.width)
    )
    if _are_few(sums.rows):
        return [vector_blocks(columns, width, sums.right.along_depth)]
    return block_choices(batch, rows, columns, width, sums.left.dtype, kernel.precision)


def _are_few(rows: Size) -> bool:
    return not is_symbolic(rows) and rows <= FEW


def _programs(sums: Contraction, blocks: Blocks) -> int:
    """Return how many programs a product is likely to have."""
    rows = 1 if _are_few(sums.rows) else -(-likely(sums.rows) // blocks.rows)
    return max(1, likely(sums.batch) * rows * -(-likely(sums.columns) // blocks.columns))


def _finish(sums: Contraction, number: Value, at: Coordinates) -> None:
    number = number.cast(sums.computed)
    sums.epilogue.store(sums.finish(number, at), at)


def _in_part(part: Value, at: Coordinates, parts: int) -> Coordinates:
    """Return where an element is among the sums of all parts of the depth."""
    axes = tuple(Axis(tuple(dim + 1 for dim in axis.dims), axis.index) for axis in at.axes)
    return Coordinates((parts, *at.shape), (Axis((0,), part), *axes))


def _emit_blocks(
    kernel: KernelBuilder, sums: Contraction, choices: list[Blocks], parts: int, store: Store
) -> None:
    """Sum a block of rows and columns in each program, by `tile.dot` where it can."""
    blocks = choices[0]
    kernel.candidates = product_settings(choices, sums.left.dtype)
    exact = sums.left.dtype not in DOT
    rows = kernel.axis(sums.rows, "BM", blocks.rows, name="rows")
    columns = kernel.axis(sums.columns, "BN", blocks.columns, name="columns")
    batch, part = _batch(kernel, sums), _part(kernel, parts)
    kernel.warps, kernel.stages, kernel.group = blocks.warps, blocks.stages, BAND
    if not exact:
        kernel.block_of("BK", blocks.depth)
    left = sums.left.at(batch, rows.expand(1))
    right = sums.right.at(batch, columns.expand(0))

    def step(depth: Sequence[Value], carried: list[Value]) -> list[Value]:
        a, b = left(_expanded(depth, 0)), right(_expanded(depth, 1))
        (total,) = carried
        if exact:
            a, b = (factor.cast(compute_dtype(factor.dtype)) for factor in (a, b))
            return [total + a * b]
        return [dot(a.named("a"), b.named("b"), total, kernel.precision)]

    total = zeros(sums.sums, "BM", "BN").named("acc")
    (total,) = sums.depth.walk(SINGLE if exact else "BK", part, [total], step)
    store(total, sums.at(batch, rows.expand(1), columns.expand(0)), part.index)


BAND = 8
"""Programs walk bands of so many blocks of rows, so that those that run together share factors."""


def _emit_vectors(
    kernel: KernelBuilder, sums: Contraction, choices: list[Blocks], parts: int, store: Store
) -> None:
    """Multiply each row, a vector, by a block of the matrix; sum along the depth at the end."""
    blocks = choices[0]
    kernel.candidates = vector_settings(blocks)
    columns = kernel.axis(sums.columns, "BN", blocks.columns, name="columns")
    batch, part = _batch(kernel, sums), _part(kernel, parts)
    kernel.block_of("BK", blocks.depth)
    kernel.warps, kernel.stages = blocks.warps, blocks.stages
    right = sums.right.at(batch, columns.expand(1))
    rows = [scalar(row) for row in range(sums.rows)]
    left: list[Read] = [sums.left.at(batch, row) for row in rows]

    def step(depth: Sequence[Value], carried: list[Value]) -> list[Value]:
        depth = _expanded(depth, 0)
        matrix = right(depth).cast(sums.sums).named("b")
        vectors = [read(depth).cast(sums.sums).named("a") for read in left]
        return [total + vector * matrix for total, vector in zip(carried, vectors, strict=True)]

    start = [zeros(sums.sums, "BN", "BK").named("acc") for _ in rows]
    totals = sums.depth.walk("BK", part, start, step)
    for row, total in zip(rows, totals, strict=True):
        store(total.reduce("sum", 1), sums.at(batch, row, columns), part.index)


def _batch(kernel: KernelBuilder, sums: Contraction) -> Value:
    return kernel.programs(sums.batch).named("batch") if sums.batch != 1 else scalar(0)


def _part(kernel: KernelBuilder, parts: int) -> Part:
    return Part(kernel.programs(parts).named("part") if parts > 1 else scalar(0), parts)


def _expanded(depth: Sequence[Value], axis: int) -> list[Value]:
    """Lay tiles of indices along the depth beside those of the other side; scalars fit anyway."""
    return [index.expand(axis) if index.shape else index for index in depth]


def _sum(numbers: Sequence[Value]) -> Value:
    total, *rest = numbers
    for number in rest:
        total = total + number
    return total
