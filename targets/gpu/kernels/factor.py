"""Factors of a product: a matrix for each element of a batch."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from ....dialects.core.sizes.substitution import likely
from ....dialects.tile.types import FLOAT8
from .buffer import Buffer, Computed
from .builder import KernelBuilder
from .coordinates import Axis, Coordinates
from .value import Value

Read = Callable[[Sequence[Value]], Value]
"""Load a tile of a factor at indices along its depth; in the type that elements are stored in."""


@dataclass(frozen=True)
class Factor(ABC):
    """View a buffer as a matrix with a depth that is summed over, and an outer side."""

    buffer: Buffer

    @property
    def dtype(self) -> str:
        return self.buffer.dtype

    @property
    @abstractmethod
    def along_depth(self) -> bool:
        """Return whether neighbours along the depth are closer in memory than outer neighbours."""

    @abstractmethod
    def at(self, batch: Value, outer: Value) -> Read:
        """Return a function that loads a tile at indices of the batch and of the outer side."""

    def imported(self, kernel: KernelBuilder) -> Self:
        """Return the same factor as an argument of another kernel."""
        return replace(self, buffer=kernel.import_buffer(self.buffer))


@dataclass(frozen=True)
class Matrix(Factor):
    """See a tensor as a factor: each of its dims is one of the batch, the outer side or the depth.

    Several dims of one side are walked by one index, the last one fastest.
    """

    batch: tuple[int, ...]
    outer: tuple[int, ...]
    depth: tuple[int, ...]

    @property
    def along_depth(self) -> bool:
        return self._nearest(self.depth) < self._nearest(self.outer)

    def _nearest(self, dims: Sequence[int]) -> int:
        steps = [likely(self.buffer.strides[d]) for d in dims if self.buffer.shape[d] != 1]
        return min(steps, default=likely(self.buffer.tensor.size))

    def at(self, batch: Value, outer: Value) -> Read:
        sides = [Axis(self.batch, batch)] if self.batch else []

        def read(depth: Sequence[Value]) -> Value:
            matrix = [Axis(self.outer, outer), Axis(self.depth, *depth)]
            axes = (*sides, *(matrix if self.along_depth else reversed(matrix)))
            return self.buffer.load_raw(Coordinates(self.buffer.shape, axes), whole=True)

        return read


WIDER = {"i8": ("i32",), **dict.fromkeys(FLOAT8, ("f32", "f16", "bf16"))}
"""The types of factors whose products are the same as those of a type that they are casts of."""


def as_stored(left: Buffer, right: Buffer) -> tuple[Buffer, Buffer]:
    """Return factors that are casts of one narrow type as they are stored: sums are the same.

    Others are returned as they are, and so are floats of 8 bits that no memory holds.
    """
    narrow = [f.narrow for f in (left, right) if isinstance(f, Computed) and f.narrow is not None]
    if any(isinstance(f, Computed) and f.dtype in FLOAT8 for f in narrow):
        return left, right
    if len(narrow) < 2 or narrow[0].dtype != narrow[1].dtype or left.dtype != right.dtype:
        return left, right
    same = left.dtype in WIDER.get(narrow[0].dtype, ())
    return (narrow[0], narrow[1]) if same else (left, right)
