"""The grid of kernels that pool regions: a program has a region, and elements of its result."""

import math

from ..schedule.row_plan import flat_block
from .builder import KernelBuilder
from .coordinates import Axis, Coordinates
from .epilogue import Epilogue


class Region:
    """Walk a result [regions, channels, rows, columns]: what a region says is a scalar."""

    def __init__(self, kernel: KernelBuilder, y: Epilogue) -> None:
        inner = tuple(dim for dim in y.order if dim)
        count = math.prod(y.shape[1:])
        self.number = kernel.programs(y.shape[0]).named("region")
        index = kernel.axis(count, "BLOCK", flat_block(count), name="index")
        self.at = Coordinates(y.shape, (Axis((0,), self.number), Axis(inner, index)))
        self.shape = index.shape
        _, self.channel, *self.cell = self.at.indices()
