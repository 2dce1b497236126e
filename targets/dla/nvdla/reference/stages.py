"""The codes of SDP's stages, and their operands."""

from dataclasses import dataclass

from .arithmetic import Integers

MAX, MIN, SUM, EQUAL = range(4)
MULTIPLY, ALU, BOTH = 1, 2, 3
PER_LAYER, PER_CHANNEL, PER_ELEMENT = range(3)
RELU, TABLE, PRELU = 1, 2, 3


@dataclass(frozen=True)
class Operands:
    """The operands of a stage, which broadcast to [C, H, W]; None where a stage has none."""

    alu: Integers | None = None
    multiplier: Integers | None = None


NO_OPERANDS = Operands()
