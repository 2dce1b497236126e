"""Factors of products with matrices that indices choose."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from ...kernels.lower.index import clamped_index
from .buffer import Buffer
from .builder import KernelBuilder
from .coordinates import Axis, Coordinates
from .factor import Factor, Read
from .value import Value


@dataclass(frozen=True)
class ChosenMatrix(Factor):
    """See one of the matrices of `buffer`, [G, K, N], as the factor of each element of a batch.

    `index` has the number of its matrix; for one that is not there, the nearest one is read.
    """

    index: Buffer

    @property
    def along_depth(self) -> bool:
        _, depth, column = self.buffer.strides
        return depth < column

    def at(self, batch: Value, outer: Value) -> Read:
        place = clamped_index(self.index.load([batch]), self.buffer.shape[0]).cast("i32")
        place = place.named("chosen")

        def read(depth: Sequence[Value]) -> Value:
            matrix = [Axis((2,), outer), Axis((1,), *depth)]
            axes = (Axis((0,), place), *(matrix if self.along_depth else reversed(matrix)))
            return self.buffer.load_raw(Coordinates(self.buffer.shape, axes), whole=True)

        return read

    def imported(self, kernel: KernelBuilder) -> Self:
        buffer, index = (kernel.import_buffer(each) for each in (self.buffer, self.index))
        return replace(self, buffer=buffer, index=index)
