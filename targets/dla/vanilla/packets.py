"""The packets of vanilla: what each reads, writes, computes and costs.

Their fields lie where `vanilla.toml` says. A tensor is [rows, columns, channels] bytes in sram;
`_row` and `_pixel` are the distances between rows and between pixels. What is written has whole
atoms of channels, and the ones that pad hold the zero point.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ....dialects.core.errors import Invalid
from ....dialects.core.fixed_point import multiply_shift
from ....dialects.core.integers import (
    Integers,
    Values,
    Window,
    dense_sums,
    depthwise_sums,
    divide,
    finish,
    require_i32,
    require_scale,
    shifted,
)
from ..core.description import Description
from ..core.extent import Extent
from ..core.machine import Machine
from ..core.packet import InstructionSet, Packet
from ..core.toml_file import read_description
from .transfers import End, Load, LoadWeights, Store

FILE = Path(__file__).with_name("vanilla.toml")


def vec_cycles(description: Description, elements: int) -> int:
    """Return how long the vector engine works on elements."""
    costs = description.engines["vec"].costs
    return costs["overhead"] + -(-elements // costs["lanes"])


@dataclass(frozen=True, kw_only=True)
class Conv(Packet):
    """Convolve; a product of matrices is a kernel of one by one.

    y = clamp(round((bias + sum(x * w)) * multiplier / 2^shift) + destination_zero). Positions
    outside of the source hold `source_zero`; biases have zero points folded in.

    Weights: [kernel_rows, kernel_columns, channels, padded filters], or without filters when
    depthwise. The table: biases, then multipliers (i32), then shifts (i8) of all padded filters.
    Without `begin` sums go on from those of the packet before; without `finish` they stay in the
    accumulator, and nothing else is written.
    """

    name = "conv"

    source: int
    source_row: int
    source_pixel: int
    rows: int
    columns: int
    channels: int
    source_zero: int
    destination: int
    destination_row: int
    destination_pixel: int
    out_rows: int
    out_columns: int
    filters: int
    destination_zero: int
    mode: str
    begin: int
    finish: int
    weights: int
    table: int
    kernel_rows: int
    kernel_columns: int
    stride_rows: int
    stride_columns: int
    dilation_rows: int
    dilation_columns: int
    pad_top: int
    pad_left: int
    low: int
    high: int

    def window(self) -> Window:
        """Return how the kernel moves."""
        return _window(self)

    def reads(self, description: Description) -> tuple[Extent, ...]:
        padded = description.padded(self.filters)
        depth = 1 if self.mode == "depthwise" else self.channels
        size = self.kernel_rows * self.kernel_columns * depth * padded
        reads = [_source(self), Extent("weights", self.weights, size)]
        if self.begin or self.finish:
            reads.append(Extent("weights", self.table, 9 * padded))
        if not self.begin:
            reads.append(self._sums(description))
        return tuple(reads)

    def writes(self, description: Description) -> tuple[Extent, ...]:
        sums = self._sums(description)
        if not self.finish:
            return (sums,)
        counts = (self.out_rows, self.out_columns)
        return (_destination(self, description, counts, self.filters), sums)

    def cycles(self, description: Description) -> int:
        costs = description.engines["mac"].costs
        depth = 1 if self.mode == "depthwise" else -(-self.channels // costs["rows"])
        steps = depth * -(-self.filters // costs["columns"]) * self.window().taps
        return costs["overhead"] + steps * self.out_rows * self.out_columns

    def execute(self, machine: Machine) -> None:
        description = machine.description
        padded, window = description.padded(self.filters), self.window()
        reads = self.reads(description)
        sums = self._products(machine.read(reads[0]), machine.read(reads[1]), padded)
        if self.begin:
            sums += self._table(machine, padded)[0]
        else:
            sums += machine.read(reads[-1]).view(np.int32).reshape(*window.out, padded)
        require_i32(sums)
        machine.write(self._sums(description), sums.astype(np.int32).reshape(-1).view(np.int8))
        if self.finish:
            _, multiplier, shift = self._table(machine, padded)
            require_scale(multiplier, shift, description.multiplier_bits)
            scaled = multiply_shift(sums, multiplier, shift, description.rounding)
            y = finish(scaled, self.destination_zero, self.low, self.high)
            _write(machine, self, y[..., : self.filters])

    def _products(self, x: Values, weights: Values, padded: int) -> Integers:
        window = self.window()
        if self.mode == "dense":
            kernel = weights.reshape(window.taps, self.channels, padded)
            return dense_sums(x, kernel, window, self.source_zero)
        if self.filters != self.channels:
            raise Invalid(f"depthwise conv has {self.filters} filters, {self.channels} channels")
        extra = ((0, 0), (0, 0), (0, padded - self.channels))
        kernel = weights.reshape(window.taps, padded)
        return depthwise_sums(np.pad(x, extra), kernel, window, self.source_zero)

    def _sums(self, description: Description) -> Extent:
        size = 4 * self.out_rows * self.out_columns * description.padded(self.filters)
        return Extent("accumulator", 0, size)

    def _table(self, machine: Machine, padded: int) -> tuple[Integers, Integers, Integers]:
        table = machine.read(Extent("weights", self.table, 9 * padded))
        words = table[: 8 * padded].view(np.int32).astype(np.int64)
        return words[:padded], words[padded:], table[8 * padded :].astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class Pool(Packet):
    """Take the greatest value or the average of each window; only values in the image count.

    The average is one division, rounded half away from zero, of sum(x - source_zero) * multiplier
    by count * 2^shift; `divisor` says what is counted: the kernel, or what of it is inside.
    """

    name = "pool"

    source: int
    source_row: int
    source_pixel: int
    rows: int
    columns: int
    channels: int
    source_zero: int
    mode: str
    divisor: str
    destination: int
    destination_row: int
    destination_pixel: int
    out_rows: int
    out_columns: int
    destination_zero: int
    kernel_rows: int
    kernel_columns: int
    stride_rows: int
    stride_columns: int
    dilation_rows: int
    dilation_columns: int
    pad_top: int
    pad_left: int
    low: int
    high: int
    multiplier: int
    shift: int

    def reads(self, description: Description) -> tuple[Extent, ...]:
        return (_source(self),)

    def writes(self, description: Description) -> tuple[Extent, ...]:
        counts = (self.out_rows, self.out_columns)
        return (_destination(self, description, counts, self.channels),)

    def cycles(self, description: Description) -> int:
        taps = self.kernel_rows * self.kernel_columns
        return vec_cycles(description, self.writes(description)[0].bytes * taps)

    def execute(self, machine: Machine) -> None:
        x = machine.read(self.reads(machine.description)[0])
        window = _window(self)
        best = np.full((*window.out, self.channels), -129, np.int64)
        sums, count = np.zeros_like(best), np.zeros((*window.out, 1), np.int64)
        for found, inside in window.values(x, self.source_zero):
            values = found.astype(np.int64)
            best = np.maximum(best, np.where(inside[..., None], values, -129))
            sums += np.where(inside[..., None], values - self.source_zero, 0)
            count += inside[..., None]
        if not count.all():
            raise Invalid("pools a window that has nothing of the image")
        if self.mode == "max":
            rounding = machine.description.rounding
            y = shifted(best - self.source_zero, self.multiplier, self.shift, rounding)
        else:
            taps = count if self.divisor == "inside" else np.full_like(count, window.taps)
            y = divide(sums * self.multiplier, taps << self.shift)
        _write(machine, self, finish(y, self.destination_zero, self.low, self.high))


@dataclass(frozen=True, kw_only=True)
class Eltwise(Packet):
    """Combine two tensors: p = (a - source_zero) * multiplier, q = (b - other_zero) * other.

    y = clamp(round(op(p, q) / 2^shift) + destination_zero) for add, max and min; the operator mul
    takes p * (b - other_zero), and does not look at `other_multiplier`.
    """

    name = "eltwise"
    in_place = True

    source: int
    source_row: int
    source_pixel: int
    rows: int
    columns: int
    channels: int
    source_zero: int
    operator: str
    other: int
    other_row: int
    other_pixel: int
    other_zero: int
    multiplier: int
    destination: int
    destination_row: int
    destination_pixel: int
    destination_zero: int
    other_multiplier: int
    shift: int
    low: int
    high: int

    def reads(self, description: Description) -> tuple[Extent, ...]:
        counts, strides = (self.rows, self.columns), (self.other_row, self.other_pixel)
        return (_source(self), Extent("sram", self.other, self.channels, counts, strides))

    def writes(self, description: Description) -> tuple[Extent, ...]:
        return (_destination(self, description, (self.rows, self.columns), self.channels),)

    def cycles(self, description: Description) -> int:
        return vec_cycles(description, self.writes(description)[0].bytes)

    def execute(self, machine: Machine) -> None:
        a, b = (machine.read(extent).astype(np.int64) for extent in self.reads(machine.description))
        p, q = (a - self.source_zero) * self.multiplier, b - self.other_zero
        scaled = q * self.other_multiplier
        if self.operator == "add":
            y = p + scaled
        elif self.operator == "mul":
            y = p * q
        else:
            y = np.maximum(p, scaled) if self.operator == "max" else np.minimum(p, scaled)
        y = shifted(y, 1, self.shift, machine.description.rounding)
        _write(machine, self, finish(y, self.destination_zero, self.low, self.high))


@dataclass(frozen=True, kw_only=True)
class Lookup(Packet):
    """Replace each value by an entry of a table of 256 bytes; the first one is that of -128."""

    name = "lookup"
    in_place = True

    source: int
    source_row: int
    source_pixel: int
    rows: int
    columns: int
    channels: int
    destination: int
    destination_row: int
    destination_pixel: int
    table: int
    destination_zero: int

    def reads(self, description: Description) -> tuple[Extent, ...]:
        return (_source(self), Extent("weights", self.table, 256))

    def writes(self, description: Description) -> tuple[Extent, ...]:
        return (_destination(self, description, (self.rows, self.columns), self.channels),)

    def cycles(self, description: Description) -> int:
        return vec_cycles(description, self.writes(description)[0].bytes)

    def execute(self, machine: Machine) -> None:
        x, table = map(machine.read, self.reads(machine.description))
        _write(machine, self, table[x.astype(np.int64) + 128])


@dataclass(frozen=True, kw_only=True)
class Resize(Packet):
    """Repeat or drop rows and columns: positions are (start + step * index) >> 16, clamped."""

    name = "resize"

    source: int
    source_row: int
    source_pixel: int
    rows: int
    columns: int
    channels: int
    destination: int
    destination_row: int
    destination_pixel: int
    out_rows: int
    out_columns: int
    destination_zero: int
    start_rows: int
    start_columns: int
    step_rows: int
    step_columns: int

    def reads(self, description: Description) -> tuple[Extent, ...]:
        return (_source(self),)

    def writes(self, description: Description) -> tuple[Extent, ...]:
        counts = (self.out_rows, self.out_columns)
        return (_destination(self, description, counts, self.channels),)

    def cycles(self, description: Description) -> int:
        return vec_cycles(description, self.writes(description)[0].bytes)

    def execute(self, machine: Machine) -> None:
        x = machine.read(self.reads(machine.description)[0])
        rows = np.arange(self.out_rows, dtype=np.int64) * self.step_rows + self.start_rows
        columns = np.arange(self.out_columns, dtype=np.int64) * self.step_columns
        columns += self.start_columns
        taken = np.clip(rows >> 16, 0, self.rows - 1)[:, None]
        _write(machine, self, x[taken, np.clip(columns >> 16, 0, self.columns - 1)])


@dataclass(frozen=True, kw_only=True)
class Copy(Packet):
    """Copy a window, and rescale it: y = clamp(round((x - zero) * multiplier / 2^shift) + zero)."""

    name = "copy"
    in_place = True

    source: int
    source_row: int
    source_pixel: int
    rows: int
    columns: int
    channels: int
    source_zero: int
    destination: int
    destination_row: int
    destination_pixel: int
    destination_zero: int
    multiplier: int
    shift: int
    low: int
    high: int

    def reads(self, description: Description) -> tuple[Extent, ...]:
        return (_source(self),)

    def writes(self, description: Description) -> tuple[Extent, ...]:
        return (_destination(self, description, (self.rows, self.columns), self.channels),)

    def cycles(self, description: Description) -> int:
        return vec_cycles(description, self.writes(description)[0].bytes)

    def execute(self, machine: Machine) -> None:
        x = machine.read(self.reads(machine.description)[0]).astype(np.int64)
        rounding = machine.description.rounding
        y = shifted(x - self.source_zero, self.multiplier, self.shift, rounding)
        _write(machine, self, finish(y, self.destination_zero, self.low, self.high))


Compute = Conv | Pool | Eltwise | Lookup | Resize | Copy
CLASSES: Sequence[type[Packet]] = (
    Load,
    LoadWeights,
    Store,
    Conv,
    Pool,
    Eltwise,
    Lookup,
    Resize,
    Copy,
    End,
)


def instruction_set(file: Path = FILE) -> InstructionSet:
    """Read a description that has these packets; another file gives another machine."""
    return InstructionSet(read_description(file), CLASSES)


def _window(packet: Conv | Pool) -> Window:
    return Window(
        (packet.out_rows, packet.out_columns),
        (packet.kernel_rows, packet.kernel_columns),
        (packet.stride_rows, packet.stride_columns),
        (packet.dilation_rows, packet.dilation_columns),
        (packet.pad_top, packet.pad_left),
    )


def _source(packet: Compute) -> Extent:
    counts, strides = (packet.rows, packet.columns), (packet.source_row, packet.source_pixel)
    return Extent("sram", packet.source, packet.channels, counts, strides)


def _destination(
    packet: Compute, description: Description, counts: tuple[int, int], channels: int
) -> Extent:
    strides = (packet.destination_row, packet.destination_pixel)
    return Extent("sram", packet.destination, description.padded(channels), counts, strides)


def _write(machine: Machine, packet: Compute, y: Values) -> None:
    """Write a result and fill the channels that pad it."""
    extent = packet.writes(machine.description)[0]
    padded = np.full((*extent.counts, extent.run), packet.destination_zero, np.int8)
    padded[..., : y.shape[-1]] = y
    machine.write(extent, padded)
