"""Factors of products with matrices of few bits, which are scaled in registers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from .buffer import Buffer
from .builder import KernelBuilder
from .coordinates import Axis, Coordinates
from .factor import Factor, Matrix, Read
from .value import Value

WIDE = "f32"
"""The type in which numbers of few bits are scaled and multiplied."""


@dataclass(frozen=True)
class WideMatrix(Matrix):
    """See a tensor as a factor whose elements are widened when they are loaded."""

    @property
    def dtype(self) -> str:
        return WIDE

    def at(self, batch: Value, outer: Value) -> Read:
        read = super().at(batch, outer)
        return lambda depth: read(depth).cast(WIDE)


@dataclass(frozen=True)
class BlockMatrix(Factor):
    """See the operands of `tri.block_quantized_mat_mul` as a factor whose depth is that of `a`.

    `buffer` has the bytes, [columns, blocks, bytes of one]; `scales` and `zeros`, if there are any,
    are [columns, blocks].
    """

    scales: Buffer
    zeros: Buffer | None
    bits: int
    block: int

    @property
    def dtype(self) -> str:
        return WIDE

    @property
    def along_depth(self) -> bool:
        return True

    def at(self, batch: Value, outer: Value) -> Read:
        count = 8 // self.bits

        def of_block(buffer: Buffer, number: Value) -> Value:
            axes = (Axis((0,), outer), Axis((1,), number))
            return buffer.load_raw(Coordinates(buffer.shape, axes), whole=True).cast(WIDE)

        def read(depth: Sequence[Value]) -> Value:
            (place,) = depth
            axes = (Axis((0,), outer), Axis((1, 2), place / count))
            stored = self.buffer.load_raw(Coordinates(self.buffer.shape, axes), whole=True)
            number = stored.cast("i32").named("stored")
            if count > 1:
                shift = place.remainder(count) * self.bits
                number = number.shift_right(shift).logical_and((1 << self.bits) - 1)
            block = place / self.block
            half = number.cast(WIDE).like(1 << self.bits - 1)
            zero = half if self.zeros is None else of_block(self.zeros, block)
            return (number.cast(WIDE) - zero) * of_block(self.scales, block)

        return read

    def imported(self, kernel: KernelBuilder) -> Self:
        buffers = {"buffer": self.buffer, "scales": self.scales, "zeros": self.zeros}
        taken = {n: kernel.import_buffer(b) for n, b in buffers.items() if b is not None}
        return replace(self, **taken)
