"""The packets of npu: those of vanilla, and one more."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from trivium.targets.dla.core.packet import InstructionSet
from trivium.targets.dla.core.simulator_state import SimulatorState
from trivium.targets.dla.core.toml_file import read_description
from trivium.targets.dla.vanilla import packets
from trivium.targets.dla.vanilla.vector import VectorPacket


@dataclass(frozen=True, kw_only=True)
class Absolute(VectorPacket):
    """Take values without their sign."""

    name = "absolute"

    def execute(self, state: SimulatorState) -> None:
        self.write(state, np.abs(state.read(self.source_extent)))


FILE = Path(__file__).with_name("npu.toml")
CLASSES = (*packets.CLASSES, Absolute)


def instruction_set(file: Path = FILE) -> InstructionSet:
    return InstructionSet(read_description(file), CLASSES)
