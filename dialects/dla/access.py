"""Accesses of ops to buffers: bounds, dependencies, addresses and execution derive from them."""

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..core.errors import Invalid
from ..core.tensor import Array, Shape
from .types import BufferType


@dataclass(frozen=True)
class Access:
    """A window of an operand: its start, its sizes, and whether it is read or written.

    Windows of images start at (image, row, column, channel), and have rows, columns and channels;
    windows of bytes have a start and a length. With `repeats`, a single row or column of the buffer
    is broadcast.
    """

    operand: str
    start: Shape
    sizes: Shape
    reads: bool = True
    writes: bool = False
    repeats: bool = False

    @property
    def whole_sizes(self) -> Shape:
        """Return the sizes in all dimensions of the buffer: a window is in one image."""
        return (1, *self.sizes) if len(self.sizes) > 1 else self.sizes

    def check(self, buffer: BufferType) -> None:
        """Raise Invalid unless the window is within a buffer."""
        sizes = self.whole_sizes
        if len(buffer.shape) != len(sizes):
            raise Invalid(f"'{self.operand}' is {buffer}, must have rank {len(sizes)}")
        if len(self.start) != len(sizes):
            raise Invalid(
                f"'{self.operand}' starts at {self.start}, must have {len(sizes)} numbers"
            )
        if min(sizes) < 1:
            raise Invalid(f"window of '{self.operand}' is {self.sizes}, must be at least 1")
        for axis, (first, size, whole) in enumerate(
            zip(self.start, sizes, buffer.shape, strict=True)
        ):
            if self.repeats and whole == 1 and axis in (1, 2) and not first:
                continue
            if first < 0 or first + size > whole:
                raise Invalid(
                    f"window of '{self.operand}' is {first} to {first + size} along axis {axis} "
                    f"of {buffer}"
                )

    def offset(self, buffer: BufferType) -> int:
        """Return the offset of the window in the buffer, in bytes."""
        pairs = zip(self.start, buffer.strides, strict=True)
        return sum(first * stride for first, stride in pairs) * buffer.itemsize

    def strides(self, buffer: BufferType) -> Shape:
        """Return the strides of the window in elements; 0 along a broadcast axis."""
        strides = buffer.strides[-len(self.sizes) :]
        if not self.repeats:
            return strides
        shape = buffer.shape[-len(self.sizes) :]
        pairs = zip(strides[:-1], shape[:-1], strict=True)
        return (*(0 if whole == 1 else stride for stride, whole in pairs), strides[-1])

    def reach(self, buffer: BufferType) -> tuple[int, int]:
        """Return the offsets of the window's first byte and behind its last byte."""
        first = self.offset(buffer)
        pairs = zip(self.sizes, self.strides(buffer), strict=True)
        last = sum((size - 1) * stride for size, stride in pairs)
        return first, first + (last + 1) * buffer.itemsize

    def meets(self, other: "Access") -> bool:
        """Report whether two windows of one buffer overlap."""
        ends, others = (
            [first + size for first, size in zip(a.start, a.whole_sizes, strict=True)]
            for a in (self, other)
        )
        apart = [a >= end for a, end in zip(self.start, others, strict=True)]
        apart += [a >= end for a, end in zip(other.start, ends, strict=True)]
        return not any(apart)

    def of(self, buffer: BufferType, memory: Array) -> Array:
        """Return the window of a buffer that a flat array contains; raise Invalid outside of it."""
        self.check(buffer)
        assert memory.ndim == 1
        flat = memory.view(np.int8 if buffer.itemsize == 1 else np.int32)
        strides = [stride * buffer.itemsize for stride in self.strides(buffer)]
        start = self.offset(buffer) // buffer.itemsize
        return as_strided(flat[start:], self.sizes, strides)
