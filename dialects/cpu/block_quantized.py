"""Products with matrices of few bits, packed in panels that one pass reads from first to last."""

from dataclasses import dataclass

import numpy as np

from ..core.errors import Invalid, need_one_of
from ..core.fields import Operand, Result
from ..core.numerics.precision import narrow, widen
from ..core.sizes.atoms import Size
from ..core.sizes.checks import need, need_same
from ..core.sizes.dim import ceildiv
from ..core.tensor import DTYPES, Array, Tensor, bytes_of, numpy_dtype
from ..tri.linear_algebra.block_quantized import FLOATS, check_blocks
from .dialect import CpuOp

WORD = 32
"""The bits of a word, which holds numbers of one column."""

BYTES = WORD // 8


@dataclass(frozen=True)
class BlockLayout:
    """Describe how a panel of some columns stores a block of its depth, as one run of bytes.

    First come the words of the numbers: for each group of 32 / `bits` numbers in depth, a word of
    each column. Four neighbours in depth are in the lowest bits of the four bytes of a word, the
    next four above them: so instructions on bytes take four neighbours out of a word at once. Then
    follow the scales of the columns, of type `scales`, and their zero points, if their type
    `zero_points` is one. Panels hold block after block.
    """

    bits: int
    block: int
    scales: str
    zero_points: str = ""

    @property
    def count(self) -> int:
        """Return how many numbers a word holds."""
        return WORD // self.bits

    @property
    def words(self) -> int:
        """Return how many words of a column a block has."""
        return self.block // self.count

    @property
    def column_bytes(self) -> int:
        """Return the bytes that a column takes in a block."""
        zero = DTYPES[self.zero_points].itemsize if self.zero_points else 0
        return self.words * BYTES + DTYPES[self.scales].itemsize + zero

    def shift(self, number: int) -> int:
        """Return the place in a word, in bits, of one of its numbers."""
        return number % BYTES * 8 + number // BYTES * self.bits

    def pack(self, w: Array, scales: Array, zero_points: Array | None, width: int) -> Array:
        """Pack the operands of `tri.block_quantized_mat_mul` to ui8 [panels, blocks, bytes].

        Columns whose scales are zero fill up the last panel. Matrices of
        `tri.indexed_block_mat_mul` are packed one after another: [matrices, panels, blocks, bytes].
        """
        if w.ndim > 3:
            zeros = [None] * len(w) if zero_points is None else zero_points
            return np.stack([self.pack(*one, width) for one in zip(w, scales, zeros, strict=True)])
        columns, blocks, _ = w.shape
        panels = -(-columns // width)

        def panelled(array: Array) -> Array:
            """Return [panels, blocks, width, …]."""
            rest = [(0, 0)] * (array.ndim - 1)
            filled = np.pad(array, [(0, panels * width - columns), *rest])
            return filled.reshape(panels, width, *array.shape[1:]).swapaxes(1, 2)

        words = panelled(self._words(w)).swapaxes(2, 3)
        given = (words, panelled(scales), *([] if zero_points is None else [panelled(zero_points)]))
        return np.concatenate(
            [bytes_of(part).reshape(panels, blocks, -1) for part in given], axis=-1
        )

    def _words(self, w: Array) -> Array:
        """Return the words of packed numbers: four neighbours, then the next, lie in four bytes."""
        in_order = np.ascontiguousarray(w).view("<u4")
        words = np.zeros_like(in_order)
        for shift in range(0, 8, self.bits):
            numbers = in_order >> np.uint32(shift * BYTES) & _mask(BYTES * self.bits, WORD)
            numbers = (numbers | numbers << np.uint32(16 - 2 * self.bits)) & _mask(
                2 * self.bits, 16
            )
            numbers = (numbers | numbers << np.uint32(8 - self.bits)) & _mask(self.bits, 8)
            words |= numbers << np.uint32(shift)
        return words

    def unpack(self, packed: Array, columns: int) -> Array:
        """Return the matrix [blocks * block, columns] that is packed, in f32."""
        numbers, scales, zeros = self.parts(packed, columns)
        matrix = (numbers - zeros) * scales
        return matrix.reshape(-1, columns)

    def parts(self, packed: Array, columns: int) -> tuple[Array, Array, Array]:
        """Return the numbers [blocks, block, columns] that are packed, in f32.

        Behind them are the scales and the zero points, [blocks, 1, columns].
        """
        panels, blocks, size = packed.shape
        width = size // self.column_bytes
        first = width * self.words * BYTES
        second = first + width * DTYPES[self.scales].itemsize
        parts = packed[..., :first].reshape(panels, blocks, self.words, width, BYTES)
        shifts = np.arange(0, 8, self.bits, dtype=np.uint8)
        numbers = parts[..., None, :] >> shifts[:, None] & np.uint8((1 << self.bits) - 1)
        apart = numbers.reshape(panels, blocks, self.words, width, self.count).swapaxes(3, 4)
        matrix = apart.reshape(panels, blocks, self.block, width).astype(np.float32)
        scales = _row(packed[..., first:second], self.scales)
        half = np.full_like(scales, 1 << self.bits - 1)
        zeros = _row(packed[..., second:], self.zero_points) if self.zero_points else half

        def joined(array: Array) -> Array:
            return np.moveaxis(array, 0, 2).reshape(blocks, array.shape[2], -1)[..., :columns]

        return joined(matrix), joined(scales), joined(zeros)


def _mask(bits: int, step: int) -> np.uint32:
    """Return a word whose first bits of each `step` are ones."""
    ones = sum(1 << start for start in range(0, WORD, step))
    return np.uint32(((1 << bits) - 1) * ones & 0xFFFFFFFF)


def _row(packed: Array, dtype: str) -> Array:
    """Return numbers of a type, in f32, as [panels, blocks, 1, width]."""
    numbers = np.ascontiguousarray(packed).view(numpy_dtype(dtype))
    return numbers.astype(np.float32)[:, :, None]


class BlockProduct(CpuOp, abstract=True):
    """Base of products with matrices of few bits: the attributes that say how these are packed."""

    bits: int
    block: int
    columns: int
    scales: str = "f32"
    zero_points: str = ""

    anchor = True

    @property
    def layout(self) -> BlockLayout:
        return BlockLayout(self.bits, self.block, self.scales, self.zero_points)


class PackedBlockMatMul(BlockProduct):
    """Multiply by a matrix as `tri.block_quantized_mat_mul` does, whose columns come in panels.

    `w` is ui8 [panels, blocks, bytes of a block], packed by `BlockLayout.pack`; `columns` counts
    those that are not filling. `scales` is the type of scales, `zero_points` that of zero points;
    without any, they are 2^(bits - 1). The product has the type of `a`.
    """

    a: Operand
    w: Operand
    y: Result

    def infer(self, a: Tensor, w: Tensor) -> Tensor:
        need_one_of("element type of a", a.dtype, FLOATS)
        if not a.rank:
            raise Invalid(f"multiplies {a} by {w}, must have an axis")
        check_packed(self.layout, a, ceildiv(a.shape[-1], self.block), w, self.columns)
        return Tensor((*a.shape[:-1], self.columns), a.dtype)

    def reference(self, a: Array, w: Array) -> Array:
        matrix = self.layout.unpack(w, self.columns)[: a.shape[-1]]
        product = np.tensordot(widen(a), matrix, (-1, 0))
        return narrow(np.asarray(product, np.float32), a)


def check_packed(layout: BlockLayout, a: Tensor, needed: Size, w: Tensor, columns: int) -> None:
    """Raise Invalid unless bytes hold the blocks that a factor needs, of some columns."""
    check_blocks(layout.bits, layout.block)
    need_one_of("scales", layout.scales, FLOATS)
    if layout.zero_points:
        need_one_of("zero_points", layout.zero_points, ("ui8", *FLOATS))
    if w.rank != 3 or w.dtype != "ui8":
        raise Invalid(f"multiplies {a} by {w}, must be by bytes [panels, blocks, bytes of one]")
    panels, blocks, size = w.shape
    need_same(blocks, needed, f"has {blocks} blocks of {layout.block}, {a} needs {needed}")
    one = layout.column_bytes
    need_same(size % one, 0, f"has blocks of {size} bytes, must be of {one} for each column")
    fault = f"weight {w} does not hold {columns} columns"
    need(columns, (panels - 1) * (size // one) + 1, fault)
    need(panels * (size // one), columns, fault)
