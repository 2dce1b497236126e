"""The packets of npu: those of vanilla, and one more, with the op on tiles that it runs."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from trivium.dialects.core.op import Dialect
from trivium.dialects.core.tensor import Array
from trivium.dialects.dla.tiles import ImageOp
from trivium.targets.dla.core.packet import InstructionSet
from trivium.targets.dla.core.toml_file import read_description
from trivium.targets.dla.vanilla import packets
from trivium.targets.dla.vanilla.packets import VectorPacket

NPU = Dialect("npu", target="npu")


class AbsoluteTile(ImageOp, dialect=NPU):
    """Take the values of a window without their sign."""

    packet = "absolute"

    def execute(self, windows: Mapping[str, Array]) -> None:
        self.write(windows, np.abs(windows["source"]))


class Absolute(VectorPacket[AbsoluteTile]):
    """Take values without their sign."""

    tile = AbsoluteTile


FILE = Path(__file__).with_name("npu.toml")
CLASSES = (*packets.CLASSES, Absolute)


def instruction_set(file: Path = FILE) -> InstructionSet:
    return InstructionSet(read_description(file), CLASSES)
