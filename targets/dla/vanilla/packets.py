"""The packets of vanilla: what each reads, writes, computes and costs.

`vanilla.toml` has the positions of their fields.
"""

from collections.abc import Sequence
from pathlib import Path

from ..core.packet import InstructionSet, Packet
from ..core.toml_file import read_description
from .convolution import Conv
from .transfers import End, Load, LoadWeights, Store
from .vector import Copy, Eltwise, Lookup, Pool, Resize

FILE = Path(__file__).with_name("vanilla.toml")

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
