"""The packet of vanilla's multiply-accumulate engine: convolution."""

from dataclasses import dataclass

import numpy as np

from ....dialects.core.errors import Invalid
from ....dialects.core.numerics.fixed_point import multiply_shift
from ....dialects.core.numerics.integers import (
    TABLE_BYTES,
    Integers,
    conv_sums,
    finish,
    require_i32,
    require_scale,
    table_of,
)
from ..core.description import Description
from ..core.extent import Extent
from ..core.simulator_state import SimulatorState
from .images import WindowPacket


@dataclass(frozen=True, kw_only=True)
class Conv(WindowPacket):
    """Convolve; a product of matrices is a 1x1 kernel.

    y = clamp(round((bias + sum(x * w)) * multiplier / 2^shift) + destination_zero). Positions
    outside of the source are `source_zero`; zero points are folded into biases.

    Weights: [kernel_rows, kernel_columns, channels, padded filters], or without filters if
    depthwise. The table: biases, then multipliers (i32), then shifts (i8) of all padded filters.
    Without `begin`, sums of the packet before are accumulated; without `finish`, sums stay in the
    accumulator, and nothing else is written.
    """

    name = "conv"
    runs_on = "mac"

    filters: int
    mode: str
    begin: int
    finish: int
    weights: int
    table: int

    @property
    def out_shape(self) -> tuple[int, int, int]:
        return (self.out_rows, self.out_columns, self.filters)

    def reads(self, description: Description) -> tuple[Extent, ...]:
        padded = description.padded(self.filters)
        depth = 1 if self.mode == "depthwise" else self.channels
        size = self.kernel_rows * self.kernel_columns * depth * padded
        reads = [self.source_extent, Extent("weights", self.weights, size)]
        if self.begin or self.finish:
            reads.append(Extent("weights", self.table, TABLE_BYTES * padded))
        if not self.begin:
            reads.append(self._sums(description))
        return tuple(reads)

    def writes(self, description: Description) -> tuple[Extent, ...]:
        sums = self._sums(description)
        return (self.destination_extent(description), sums) if self.finish else (sums,)

    def cycles(self, description: Description) -> int:
        costs = description.costs(self.name)
        depth = 1 if self.mode == "depthwise" else -(-self.channels // costs["rows"])
        steps = depth * -(-self.filters // costs["columns"]) * self.window.taps
        return costs["overhead"] + steps * self.out_rows * self.out_columns

    def execute(self, state: SimulatorState) -> None:
        description = state.description
        padded, window = description.padded(self.filters), self.window
        if self.mode == "depthwise" and self.filters != self.channels:
            raise Invalid(f"depthwise conv has {self.filters} filters, {self.channels} channels")
        reads = self.reads(description)
        x, kernel = map(state.read, reads[:2])
        sums = conv_sums(x, kernel, window, self.mode, padded, self.source_zero)
        if self.begin:
            sums += self._table(state, padded)[0]
        else:
            sums += state.read(reads[-1]).view(np.int32).reshape(*window.out, padded)
        require_i32(sums)
        state.write(self._sums(description), sums.astype(np.int32).reshape(-1).view(np.int8))
        if self.finish:
            _, multiplier, shift = self._table(state, padded)
            require_scale(multiplier, shift, description.multiplier_bits)
            scaled = multiply_shift(sums, multiplier, shift, description.rounding)
            y = finish(scaled, self.destination_zero, self.low, self.high)
            self.write(state, y[..., : self.filters])

    def _sums(self, description: Description) -> Extent:
        size = 4 * self.out_rows * self.out_columns * description.padded(self.filters)
        return Extent("accumulator", 0, size)

    def _table(self, state: SimulatorState, padded: int) -> tuple[Integers, Integers, Integers]:
        return table_of(state.read(Extent("weights", self.table, TABLE_BYTES * padded)), padded)
