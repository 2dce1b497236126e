"""The packets of vanilla: the op that each runs, and what it costs.

`vanilla.toml` has the positions of their fields.
"""

from collections.abc import Sequence
from pathlib import Path

from ....dialects import dla
from ....dialects.core.numerics.integers import require_scale, table_of
from ..core.description import Description
from ..core.packet import InstructionSet, Packet
from ..core.simulator_state import SimulatorState
from ..core.tile_packet import Tile, TilePacket
from ..core.toml_file import read_description

FILE = Path(__file__).with_name("vanilla.toml")


class Transfer(TilePacket[Tile]):
    """Base of packets that copy bytes between DRAM and an on-chip memory."""

    runs_on = "dma"
    needed = True

    def cycles(self, description: Description) -> int:
        costs = description.costs(self.name)
        (written,) = self.writes(description)
        return costs["latency"] + -(-written.bytes // costs["bytes_per_cycle"])


class Load(Transfer[dla.Load]):
    """Load a window of an image."""

    tile = dla.Load


class LoadWeights(Transfer[dla.LoadWeights]):
    """Load weights and tables."""

    tile = dla.LoadWeights


class Store(Transfer[dla.Store]):
    """Store a window of an image."""

    tile = dla.Store


class Conv(TilePacket[dla.ConvTile]):
    """Convolve on the multiply-accumulate engine: each tap of a pixel is a step."""

    tile = dla.ConvTile
    runs_on = "mac"

    def cycles(self, description: Description) -> int:
        costs, op = description.costs(self.name), self.op
        depth = 1 if op.mode == "depthwise" else -(-op.channels // costs["rows"])
        steps = depth * -(-op.filters // costs["columns"]) * op.window.taps
        return costs["overhead"] + steps * op.out_rows * op.out_columns

    def execute(self, state: SimulatorState) -> None:
        if self.op.finish:
            self._check_multipliers(state)
        super().execute(state)

    def _check_multipliers(self, state: SimulatorState) -> None:
        """Raise Invalid for multipliers of more bits than the accelerator has."""
        padded = state.description.padded(self.op.filters)
        found = self.op.accesses(state.description.atom)
        (table,) = (access for access in found if access.operand == "table")
        entries = state.read(self.extent(table, state.description))
        _, multiplier, shift = table_of(entries, padded)
        require_scale(multiplier, shift, state.description.multiplier_bits)


class VectorPacket(TilePacket[Tile]):
    """Base of packets of the vector engine; their cycles depend on the bytes written."""

    runs_on = "vec"

    def cycles(self, description: Description) -> int:
        costs = description.costs(self.name)
        (written,) = self.writes(description)
        return costs["overhead"] + -(-written.bytes * self.steps // costs["lanes"])

    @property
    def steps(self) -> int:
        """Return the engine steps per byte."""
        return 1


class Pool(VectorPacket[dla.PoolTile]):
    """Pool on the vector engine: each tap of a byte is a step."""

    tile = dla.PoolTile

    @property
    def steps(self) -> int:
        return self.op.window.taps


class Eltwise(VectorPacket[dla.EltwiseTile]):
    """Combine two images."""

    tile = dla.EltwiseTile


class Lookup(VectorPacket[dla.LookupTile]):
    """Look up bytes in a table."""

    tile = dla.LookupTile


class Resize(VectorPacket[dla.ResizeTile]):
    """Repeat or drop rows and columns."""

    tile = dla.ResizeTile


class Copy(VectorPacket[dla.CopyTile]):
    """Copy and rescale an image."""

    tile = dla.CopyTile
    needed = True


class End(Packet):
    """End the stream."""

    name = "end"
    needed = True
    ends = True


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
    """Read a description that has these packets; another file gives another accelerator."""
    return InstructionSet(read_description(file), CLASSES)
