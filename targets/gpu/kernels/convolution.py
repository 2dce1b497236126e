"""Convolutions: as products of windows by kernels, of pixels by a matrix, or tap by tap."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ....dialects.core.sizes.limits import at_least
from .buffer import Buffer
from .builder import KernelBuilder
from .contraction import Contraction, contract
from .coordinates import Coordinates
from .depth import Depth, FlatDepth, WindowDepth
from .direct_convolution import emit_direct
from .epilogue import Epilogue
from .factor import Factor, Matrix
from .value import Value
from .windows import Kernels, Windows

MOST_DIRECT = 8
"""Groups with fewer inputs and outputs than so many are computed without `tile.dot`."""

GROUP, OUTPUT = 1, 2
"""Dims of a result [N, groups, outputs, spatial…]."""


@dataclass(frozen=True)
class Convolution:
    """Operands of a convolution, a bias [O], and the epilogue of results [N, O, …]."""

    windows: Windows
    kernels: Kernels
    bias: Buffer | None
    epilogue: Epilogue

    @property
    def grouped(self) -> Epilogue:
        """Return the epilogue as [N, groups, outputs, spatial…]."""
        batch, _, *spatial = self.epilogue.shape
        groups, outputs, *_ = self.kernels.buffer.shape
        return self.epilogue.reshape((batch, groups, outputs, *spatial))

    def emit(self, kernel: KernelBuilder) -> None:
        """Emit the kernel that suits the sizes."""
        groups, outputs, channels, *taps = self.kernels.buffer.shape
        small = all(at_least(MOST_DIRECT - 1, size) is True for size in (channels, outputs))
        if groups > 1 and small:
            emit_direct(kernel, self.windows, self.kernels, self.grouped, self._finish)
        elif self.windows.is_plain and math.prod(taps) == 1:
            self._contract(kernel, self._pixels(), self._matrix(), FlatDepth(channels))
        else:
            depth = WindowDepth(channels, tuple(taps))
            self._contract(kernel, self.windows, self.kernels, depth)

    def _contract(self, kernel: KernelBuilder, left: Factor, right: Factor, depth: Depth) -> None:
        sums = Contraction(
            self.grouped, (GROUP,), self._pixel_dims, (OUTPUT,), left, right, depth, self._finish
        )
        contract(kernel, sums)

    def _finish(self, number: Value, at: Coordinates) -> Value:
        """Add the bias."""
        if self.bias is None:
            return number
        _, groups, outputs, *spatial = at.shape
        bias = self.bias.split((1, groups, outputs, *(1 for _ in spatial)))
        return number + bias.broadcast_to(at.shape).load(at)

    # -- windows of one pixel -----------------------------------------------------------------

    @property
    def _pixel_dims(self) -> tuple[int, ...]:
        return tuple(dim if dim == 0 else dim + OUTPUT for dim in self.windows.order)

    def _pixels(self) -> Matrix:
        return Matrix(self.windows.buffer, self._batch(GROUP), self._pixel_dims, (OUTPUT,))

    def _matrix(self) -> Matrix:
        taps: Sequence[int] = range(3, len(self.kernels.buffer.shape))
        return Matrix(self.kernels.buffer, self._batch(0), (1,), (2, *taps))

    def _batch(self, dim: int) -> tuple[int, ...]:
        """Return the dim of the groups, if there are several."""
        return (dim,) if self.kernels.buffer.shape[0] > 1 else ()
