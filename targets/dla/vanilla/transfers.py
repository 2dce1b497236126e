"""The packets of vanilla that move bytes between DRAM and the on-chip memories, and the end."""

from dataclasses import dataclass

import numpy as np

from ..core.description import Description
from ..core.extent import Extent
from ..core.packet import Packet
from ..core.simulator_state import SimulatorState
from .images import BetweenImages


def dma_cycles(description: Description, packet: str, count: int) -> int:
    """Return the cycles in which the engine of a packet copies bytes."""
    costs = description.costs(packet)
    return costs["latency"] + -(-count // costs["bytes_per_cycle"])


def dram(description: Description, region: int) -> str:
    """Return the space of a region by number; an unknown number gets a space of its own."""
    names = description.regions
    return f"dram.{names[region] if region < len(names) else region}"


@dataclass(frozen=True, kw_only=True)
class Load(BetweenImages):
    """Copy a window of a tensor from DRAM; rows and columns around it are set to `fill`."""

    name = "load"
    runs_on = "dma"
    needed = True

    region: int
    fill: int
    top: int
    bottom: int
    left: int
    right: int

    def reads(self, description: Description) -> tuple[Extent, ...]:
        return (self.source_in(dram(description, self.region)),)

    def writes(self, description: Description) -> tuple[Extent, ...]:
        rows, columns = self.top + self.rows + self.bottom, self.left + self.columns + self.right
        return (self.destination_in("sram", rows, columns, self.channels),)

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
class Store(BetweenImages):
    """Copy a window of a tensor to DRAM."""

    name = "store"
    runs_on = "dma"
    needed = True

    region: int

    def reads(self, description: Description) -> tuple[Extent, ...]:
        return (self.source_in("sram"),)

    def writes(self, description: Description) -> tuple[Extent, ...]:
        space = dram(description, self.region)
        return (self.destination_in(space, self.rows, self.columns, self.channels),)

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
