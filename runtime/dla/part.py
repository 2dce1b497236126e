"""What a manifest says about programs of an accelerator."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar

from ..contents import Contents, Part

DESCRIPTION = "dla/description.toml"
"""The entry that describes the accelerator which the steps of kind `dla` are for."""


@dataclass(frozen=True)
class DlaProgram:
    """Describe the command stream in the container `entry`, and what a run of it takes and moves.

    `sram_bytes` are those of the accelerator's memory that it uses, `sram_lower_bound` those that
    any plan needs for what is alive at once. `dram_bytes` are read from dram and written to it;
    `dram_bound` would be if no op left anything in that memory for another.
    """

    entry: str
    packets: int
    sram_bytes: int
    sram_lower_bound: int
    sram_capacity: int
    dram_bytes: int
    dram_bound: int


@dataclass(frozen=True)
class DlaPart(Part):
    """Describe the programs of an accelerator; `attempts` list the failed scheduling attempts."""

    kind: ClassVar[str] = "dla"

    programs: tuple[DlaProgram, ...] = ()
    attempts: tuple[str, ...] = ()

    def entry_kinds(self, contents: Contents) -> Mapping[str, Collection[str]]:
        streams = {program.entry for program in self.programs}
        return {"constants and code for accelerators": streams}
