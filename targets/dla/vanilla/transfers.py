"""The packets of vanilla that move bytes between DRAM and the on-chip memories, and the end."""

from dataclasses import dataclass

import numpy as np

from ..core.description import Description
from ..core.extent import Extent
from ..core.packet import Packet
from ..core.simulator_state import SimulatorState


def dma_cycles(description: Description, packet: str, count: int) -> int:
    """Return the cycles in which the engine of a packet copies bytes."""
    costs = description.costs(packet)
    return costs["latency"] + -(-count // costs["bytes_per_cycle"])


def dram(description: Description, region: int) -> str:
    """Return the space of a region by number; an unknown number gets a space of its own."""
    names = description.regions
    return f"dram.{names[region] if region < len(names) else region}"


@dataclass(frozen=True, kw_only=True)
class Load(Packet):
    """Copy a window of a tensor from dram; rows and columns outside of it get `fill`."""

    name = "load"
    runs_on = "dma"
    needed = True

    region: int
    source: int
    source_row: int
    source_pixel: int
    fill: int
    rows: int
    columns: int
    destination: int
    destination_row: int
    destination_pixel: int
    channels: int
    top: int
    bottom: int
    left: int
    right: int

    def reads(self, description: Description) -> tuple[Extent, ...]:
        counts, strides = (self.rows, self.columns), (self.source_row, self.source_pixel)
        space = dram(description, self.region)
        return (Extent(space, self.source, self.channels, counts, strides),)

    def writes(self, description: Description) -> tuple[Extent, ...]:
        counts = (self.top + self.rows + self.bottom, self.left + self.columns + self.right)
        strides = (self.destination_row, self.destination_pixel)
        return (Extent("sram", self.destination, self.channels, counts, strides),)

    def cycles(self, description: Description) -> int:
        return dma_cycles(description, self.name, self.writes(description)[0].bytes)

    def execute(self, state: SimulatorState) -> None:
        (target,) = self.writes(state.description)
        window = np.full((*target.counts, target.run), self.fill, np.int8)
        rows, columns = self.top + self.rows, self.left + self.columns
        window[self.top : rows, self.left : columns] = state.read(self.reads(state.description)[0])
        state.write(target, window)


@dataclass(frozen=True, kw_only=True)
class LoadWeights(Packet):
    """Copy bytes from dram to the memory of weights and tables."""

    name = "load_weights"
    runs_on = "dma"
    needed = True

    region: int
    source: int
    destination: int
    length: int

    def reads(self, description: Description) -> tuple[Extent, ...]:
        return (Extent(dram(description, self.region), self.source, self.length),)

    def writes(self, description: Description) -> tuple[Extent, ...]:
        return (Extent("weights", self.destination, self.length),)

    def cycles(self, description: Description) -> int:
        return dma_cycles(description, self.name, self.length)

    def execute(self, state: SimulatorState) -> None:
        values = state.read(self.reads(state.description)[0])
        state.write(self.writes(state.description)[0], values)


@dataclass(frozen=True, kw_only=True)
class Store(Packet):
    """Copy a window of a tensor to dram."""

    name = "store"
    runs_on = "dma"
    needed = True

    region: int
    destination: int
    destination_row: int
    destination_pixel: int
    rows: int
    columns: int
    source: int
    source_row: int
    source_pixel: int
    channels: int

    def reads(self, description: Description) -> tuple[Extent, ...]:
        counts, strides = (self.rows, self.columns), (self.source_row, self.source_pixel)
        return (Extent("sram", self.source, self.channels, counts, strides),)

    def writes(self, description: Description) -> tuple[Extent, ...]:
        counts = (self.rows, self.columns)
        strides = (self.destination_row, self.destination_pixel)
        space = dram(description, self.region)
        return (Extent(space, self.destination, self.channels, counts, strides),)

    def cycles(self, description: Description) -> int:
        return dma_cycles(description, self.name, self.reads(description)[0].bytes)

    def execute(self, state: SimulatorState) -> None:
        values = state.read(self.reads(state.description)[0])
        state.write(self.writes(state.description)[0], values)


@dataclass(frozen=True, kw_only=True)
class End(Packet):
    """End the stream."""

    name = "end"
    needed = True
    ends = True
