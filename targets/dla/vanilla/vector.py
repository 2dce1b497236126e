"""The packets of vanilla's vector engine."""

from dataclasses import dataclass

import numpy as np

from ....dialects.core.numerics.integers import (
    Factor,
    combined,
    finish,
    looked_up,
    pair_of,
    pooled,
    resized,
)
from ..core.description import Description
from ..core.extent import Extent
from ..core.simulator_state import SimulatorState
from .images import ImagePacket, WindowPacket


@dataclass(frozen=True, kw_only=True)
class VectorPacket(ImagePacket):
    """Base of packets that read one image; their cycles depend on the bytes written."""

    runs_on = "vec"

    def reads(self, description: Description) -> tuple[Extent, ...]:
        return (self.source_extent,)

    def writes(self, description: Description) -> tuple[Extent, ...]:
        return (self.destination_extent(description),)

    def cycles(self, description: Description) -> int:
        costs = description.costs(self.name)
        elements = self.destination_extent(description).bytes * self.steps
        return costs["overhead"] + -(-elements // costs["lanes"])

    @property
    def steps(self) -> int:
        """Return the engine steps per byte."""
        return 1


@dataclass(frozen=True, kw_only=True)
class Pool(WindowPacket, VectorPacket):
    """Take the greatest value or the average of each window; only values in the image count.

    y = clamp(round((max(x) - source_zero) * multiplier / 2^shift) + destination_zero); an average
    uses sum(x - source_zero) instead of the maximum. With `divisor` "none", the multiplier contains
    one over the count; with "inside", the sum is divided by count * 2^shift, exactly, and rounds
    half away from zero.
    """

    name = "pool"

    mode: str
    divisor: str
    multiplier: int
    shift: int

    @property
    def steps(self) -> int:
        return self.window.taps

    def execute(self, state: SimulatorState) -> None:
        x = state.read(self.source_extent)
        factor = Factor(self.multiplier, self.shift, state.description.rounding)
        y = pooled(x, self.window, self.mode, self.divisor, self.source_zero, factor)
        self.write(state, finish(y, self.destination_zero, self.low, self.high))


@dataclass(frozen=True, kw_only=True)
class Eltwise(VectorPacket):
    """Combine two tensors: p = (a - source_zero) * multiplier, q = (b - other_zero) * other.

    y = clamp(round(op(p, q) / 2^shift) + destination_zero) for add, max and min; the operator mul
    computes p * (b - other_zero), and ignores `other_multiplier`.
    """

    name = "eltwise"
    in_place = True

    source_zero: int
    operator: str
    other: int
    other_row: int
    other_pixel: int
    other_zero: int
    multiplier: int
    other_multiplier: int
    shift: int
    low: int
    high: int

    def reads(self, description: Description) -> tuple[Extent, ...]:
        counts, strides = (self.rows, self.columns), (self.other_row, self.other_pixel)
        return (self.source_extent, Extent("sram", self.other, self.channels, counts, strides))

    def execute(self, state: SimulatorState) -> None:
        a, b = map(state.read, self.reads(state.description))
        zeros = (self.source_zero, self.other_zero)
        factor = Factor(self.multiplier, self.shift, state.description.rounding)
        y = combined(a, b, self.operator, zeros, self.other_multiplier, factor)
        self.write(state, finish(y, self.destination_zero, self.low, self.high))


@dataclass(frozen=True, kw_only=True)
class Lookup(VectorPacket):
    """Replace each value by an entry of a table of 256 bytes; the first one is that of -128."""

    name = "lookup"
    in_place = True

    table: int

    def reads(self, description: Description) -> tuple[Extent, ...]:
        return (self.source_extent, Extent("weights", self.table, 256))

    def execute(self, state: SimulatorState) -> None:
        x, table = map(state.read, self.reads(state.description))
        self.write(state, looked_up(x, table))


@dataclass(frozen=True, kw_only=True)
class Resize(VectorPacket):
    """Repeat or drop rows and columns: positions are (start + step * index) >> 16, clamped."""

    name = "resize"

    out_rows: int
    out_columns: int
    start_rows: int
    start_columns: int
    step_rows: int
    step_columns: int

    @property
    def out_shape(self) -> tuple[int, int, int]:
        return (self.out_rows, self.out_columns, self.channels)

    def execute(self, state: SimulatorState) -> None:
        x = state.read(self.source_extent)
        out, start, step = (pair_of(self, name) for name in ("out", "start", "step"))
        self.write(state, resized(x, out, start, step))


@dataclass(frozen=True, kw_only=True)
class Copy(VectorPacket):
    """Copy a window, and rescale it: y = clamp(round((x - zero) * multiplier / 2^shift) + zero)."""

    name = "copy"
    needed = True
    in_place = True

    source_zero: int
    multiplier: int
    shift: int
    low: int
    high: int

    def execute(self, state: SimulatorState) -> None:
        x = state.read(self.source_extent).astype(np.int64)
        factor = Factor(self.multiplier, self.shift, state.description.rounding)
        y = factor.times(x - self.source_zero)
        self.write(state, finish(y, self.destination_zero, self.low, self.high))
