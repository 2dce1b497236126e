"""Which part of a buffer an op touches: what bounds, order, addresses and execution derive from."""

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..core.errors import Invalid
from ..core.tensor import Array, Shape
from .types import BufferType


@dataclass(frozen=True)
class Access:
    """Name a window of an operand: where it starts, how many of each it has, and what is done.

    Images start at (image, row, column, channel), and their windows have rows, columns and
    channels; bytes start at a number and have a length. With `repeats`, a buffer that has one row
    or column gives it to all.
    """

    operand: str
    start: Shape
    sizes: Shape
    reads: bool = True
    writes: bool = False
    repeats: bool = False

    @property
    def whole_sizes(self) -> Shape:
        """Return a size for each dimension of the buffer: a window of images is in one of them."""
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
        """Return how many bytes into the buffer the window starts."""
        pairs = zip(self.start, buffer.strides, strict=True)
        return sum(first * stride for first, stride in pairs) * buffer.itemsize

    def strides(self, buffer: BufferType) -> Shape:
        """Return the distances between the window's elements; 0 where one is given to all."""
        strides = buffer.strides[-len(self.sizes) :]
        if not self.repeats:
            return strides
        shape = buffer.shape[-len(self.sizes) :]
        pairs = zip(strides[:-1], shape[:-1], strict=True)
        return (*(0 if whole == 1 else stride for stride, whole in pairs), strides[-1])

    def reach(self, buffer: BufferType) -> tuple[int, int]:
        """Return the first byte of the window, and the one behind its last, in the buffer."""
        first = self.offset(buffer)
        pairs = zip(self.sizes, self.strides(buffer), strict=True)
        last = sum((size - 1) * stride for size, stride in pairs)
        return first, first + (last + 1) * buffer.itemsize

    def meets(self, other: "Access") -> bool:
        """Say whether two windows, both within one buffer, have an element in common."""
        ends, others = (
            [first + size for first, size in zip(a.start, a.whole_sizes, strict=True)]
            for a in (self, other)
        )
        apart = [a >= end for a, end in zip(self.start, others, strict=True)]
        apart += [a >= end for a, end in zip(other.start, ends, strict=True)]
        return not any(apart)

    def of(self, buffer: BufferType, memory: Array) -> Array:
        """Return the window of a buffer whose elements lie in a flat array; Invalid outside."""
        self.check(buffer)
        assert memory.ndim == 1
        flat = memory.view(np.int8 if buffer.itemsize == 1 else np.int32)
        strides = [stride * buffer.itemsize for stride in self.strides(buffer)]
        start = self.offset(buffer) // buffer.itemsize
        return as_strided(flat[start:], self.sizes, strides)
