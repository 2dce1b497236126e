"""The packets of acme: those of vanilla, and `leaky_relu`.

`acme.toml` has the positions of their fields.
"""

from collections.abc import Sequence
from pathlib import Path

from trivium.targets.dla.core.packet import InstructionSet, Packet
from trivium.targets.dla.core.toml_file import read_description
from trivium.targets.dla.vanilla import packets as vanilla
from trivium.targets.dla.vanilla.packets import VectorPacket

from .dialect import LeakyReluTile

FILE = Path(__file__).with_name("acme.toml")


class LeakyRelu(VectorPacket[LeakyReluTile]):
    """Rescale a window on the vector engine; the op has the fields, and what is computed."""

    tile = LeakyReluTile


CLASSES: Sequence[type[Packet]] = (*vanilla.CLASSES, LeakyRelu)


def instruction_set(file: Path = FILE) -> InstructionSet:
    """Read a description that has these packets; another file gives another machine."""
    return InstructionSet(read_description(file), CLASSES)
