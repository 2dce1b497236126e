"""The packets of acme: those of vanilla, and `leaky_relu`.

Their fields lie where `acme.toml` says.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trivium.targets.dla.core.packet import InstructionSet, Packet
from trivium.targets.dla.core.simulator_state import SimulatorState
from trivium.targets.dla.core.toml_file import read_description
from trivium.targets.dla.vanilla import packets as vanilla
from trivium.targets.dla.vanilla.vector import VectorPacket

from .arithmetic import Slopes

FILE = Path(__file__).with_name("acme.toml")


@dataclass(frozen=True, kw_only=True)
class LeakyRelu(VectorPacket):
    """Rescale a window by one multiplier from the zero point on, and by another one below it."""

    name = "leaky_relu"
    in_place = True

    source_zero: int
    multiplier: int
    negative_multiplier: int
    shift: int

    def execute(self, state: SimulatorState) -> None:
        slopes = Slopes(
            self.source_zero,
            self.multiplier,
            self.negative_multiplier,
            self.shift,
            state.description.rounding,
            self.destination_zero,
        )
        self.write(state, slopes.of(state.read(self.source_extent)))


CLASSES: Sequence[type[Packet]] = (*vanilla.CLASSES, LeakyRelu)


def instruction_set(file: Path = FILE) -> InstructionSet:
    """Read a description that has these packets; another file gives another machine."""
    return InstructionSet(read_description(file), CLASSES)
