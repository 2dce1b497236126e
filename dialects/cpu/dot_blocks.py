"""Products of blocks of bytes: activations that are rounded, by matrices of few bits."""

import numpy as np

from ..core.errors import Invalid, need_one_of
from ..core.fields import Operand, Result
from ..core.numerics.precision import widen
from ..core.sizes.checks import need_same, need_same_shape
from ..core.sizes.dim import ceildiv
from ..core.tensor import Array, Tensor, numpy_dtype
from ..tri.linear_algebra.block_quantized import (
    FLOATS,
    ROUNDED,
    check_blocks,
    check_sums,
    round_blocks,
)
from ..tri.linear_algebra.indexed import check_index
from .block_quantized import BlockProduct, check_packed
from .dialect import CpuOp

SUMS = "i32"
"""The element type of sums of products of bytes."""


class QuantizeBlocks(CpuOp):
    """Round blocks of the last axis of `x`, […, K], to i8, as `round_blocks` does.

    `numbers` is [blocks, …, `block`] in i8: rows lie side by side in each block, as kernels read
    them; zeros fill up the last block. `scales` is [blocks, …] in f32; `sums`, of the same shape in
    i32, has the sum of the numbers of each block.
    """

    x: Operand
    block: int
    numbers: Result
    scales: Result
    sums: Result

    def infer(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        need_one_of("element type of x", x.dtype, FLOATS)
        check_blocks(8, self.block)
        check_sums(self.block)
        if not x.rank:
            raise Invalid(f"rounds blocks of {x}, must have an axis")
        outer = (ceildiv(x.shape[-1], self.block), *x.shape[:-1])
        numbers = Tensor((*outer, self.block), ROUNDED)
        return numbers, Tensor(outer, "f32"), Tensor(outer, SUMS)

    def reference(self, x: Array) -> tuple[Array, Array, Array]:
        numbers, scales = round_blocks(widen(x), self.block)
        moved = np.ascontiguousarray(np.moveaxis(numbers, -2, 0))
        steps = np.ascontiguousarray(np.moveaxis(scales, -1, 0))
        return moved, steps, moved.sum(-1, np.int32)


class DotBlockMatMul(BlockProduct):
    """Multiply what `cpu.quantize_blocks` made of a factor by a matrix of few bits.

    The sum of each block is exact, in i32, then scaled in f32 and added to those before. The
    weight and its attributes are those of `cpu.packed_block_mat_mul`; `block` is also that of the
    numbers. `y` is […, `columns`] of type `to`.
    """

    a: Operand
    a_scales: Operand
    a_sums: Operand
    w: Operand
    to: str = "f32"
    y: Result

    def infer(self, a: Tensor, a_scales: Tensor, a_sums: Tensor, w: Tensor) -> Tensor:
        need_one_of("to", self.to, FLOATS)
        check_rounded(self.block, a, a_scales, a_sums)
        check_packed(self.layout, a, a.shape[0], w, self.columns)
        return Tensor((*a.shape[1:-1], self.columns), self.to)

    def reference(self, a: Array, a_scales: Array, a_sums: Array, w: Array) -> Array:
        blocks, *rows, block = a.shape
        numbers, scales, zeros = self.layout.parts(w, self.columns)
        products = a.reshape(blocks, -1, block).astype(np.float64) @ numbers
        sums = products - zeros * a_sums.reshape(blocks, -1, 1)
        steps = scales * a_scales.reshape(blocks, -1, 1)
        total = (sums.astype(np.float32) * steps).sum(0, np.float32)
        return total.reshape(*rows, self.columns).astype(numpy_dtype(self.to))


class DotIndexedBlockMatMul(BlockProduct):
    """Multiply each row by the matrix that its index names, as `cpu.dot_block_mat_mul` does.

    `w` is ui8 [matrices, panels, blocks, bytes of a block], `a` [blocks, rows, elements of one],
    `index` [rows] of i32 or i64, and `y` [rows, `columns`]. A row whose index is not in
    [0, matrices) has the product 0.
    """

    a: Operand
    a_scales: Operand
    a_sums: Operand
    w: Operand
    index: Operand
    to: str = "f32"
    y: Result

    @property
    def of_one(self) -> DotBlockMatMul:
        """Return the product with one of the matrices."""
        return DotBlockMatMul(**self.attributes)

    def infer(
        self, a: Tensor, a_scales: Tensor, a_sums: Tensor, w: Tensor, index: Tensor
    ) -> Tensor:
        if a.rank != 3 or w.rank != 4:
            raise Invalid(
                f"multiplies {a} by {w}, must be [blocks, rows, elements of one] by bytes "
                "[matrices, panels, blocks, bytes of one]"
            )
        check_index(index, Tensor(a.shape[1:], a.dtype))
        return self.of_one.infer(a, a_scales, a_sums, Tensor(w.shape[1:], w.dtype))

    def reference(self, a: Array, a_scales: Array, a_sums: Array, w: Array, index: Array) -> Array:
        y = np.zeros((a.shape[1], self.columns), numpy_dtype(self.to))
        for group, matrix in enumerate(w):
            chosen = index == group
            if not chosen.any():
                continue
            scales, sums = a_scales[:, chosen], a_sums[:, chosen]
            y[chosen] = self.of_one.reference(a[:, chosen], scales, sums, matrix)
        return y


def check_rounded(block: int, a: Tensor, a_scales: Tensor, a_sums: Tensor) -> None:
    """Raise Invalid unless a factor is what `cpu.quantize_blocks` makes."""
    check_sums(block)
    if a.dtype != ROUNDED or a.rank < 2:
        raise Invalid(f"multiplies {a}, must be {ROUNDED} [blocks, …, elements of one]")
    need_same(a.shape[-1], block, f"has blocks of {block}, {a} has others")
    for what, given, dtype in (("scales", a_scales, "f32"), ("sums", a_sums, SUMS)):
        wanted = Tensor(a.shape[:-1], dtype)
        fault = f"has {what} {given} of a, must be {wanted}"
        need_same_shape(given.shape, wanted.shape, fault)
        if given.dtype != dtype:
            raise Invalid(fault)
