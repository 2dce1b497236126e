"""The part of a manifest that describes programs of an accelerator."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..contents import Contents, Part
from ..frozen import Frozen
from ..kinds import Kind
from ..report import EntryKind, PartReport, Section
from ..spelling import count, spell_size

DESCRIPTION = "dla/description.toml"
"""The entry that describes the accelerator which the steps of kind `dla` are for."""


class DlaProgram(Frozen):
    """Describe the command stream in the container `entry`, its memory, and the bytes it moves.

    `sram_bytes` is the SRAM that it uses, `sram_lower_bound` the least for values live at once.
    `dram_bytes` are read from DRAM and written to it; `dram_bound` is their number if no value were
    resident in SRAM between ops.
    """

    entry: str
    packets: int
    sram_bytes: int
    sram_lower_bound: int
    sram_capacity: int
    dram_bytes: int
    dram_bound: int


class AcceleratorInfo(Frozen):
    """Describe a program of an accelerator, the memory it uses and the bytes it moves."""

    entry: str
    packets: int
    sram_bytes: int
    sram_lower_bound_bytes: int
    sram_capacity_bytes: int
    dram_bytes: int
    dram_bound_bytes: int

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """Yield the rows of the program in a section."""
        sram = f"{spell_size(self.sram_bytes)} of {spell_size(self.sram_capacity_bytes)}"
        least = f"{spell_size(self.sram_lower_bound_bytes)} live at once"
        moved, alone = spell_size(self.dram_bytes), spell_size(self.dram_bound_bytes)
        yield self.entry, "stream", count(self.packets, "packet")
        yield "", "sram", f"{sram}, {least}"
        yield "", "dram", f"{moved} moved, {alone} if each op went by itself"


@dataclass(frozen=True)
class DlaReport(PartReport):
    """List the programs, and the scheduling attempts that failed, with the reasons."""

    accelerators: tuple[AcceleratorInfo, ...]
    attempts: tuple[str, ...]

    def sections(self) -> Iterator[Section]:
        yield Section("on accelerators", [row for each in self.accelerators for row in each.rows()])
        yield Section("schedules that did not fit", [(each,) for each in self.attempts])


@dataclass(frozen=True)
class DlaPart(Part):
    """Describe the programs of an accelerator; `attempts` list the failed scheduling attempts."""

    kind: ClassVar[str] = "dla"

    programs: tuple[DlaProgram, ...] = ()
    attempts: tuple[str, ...] = ()

    @property
    def lacks_ir(self) -> bool:
        return bool(self.programs)

    def entry_kinds(self, contents: Contents) -> Iterable[EntryKind]:
        streams = {program.entry for program in self.programs}
        yield EntryKind("constants and code for accelerators", streams, "container")

    def report(self, contents: Contents, steps: Sequence[Kind]) -> DlaReport:
        programs = (
            AcceleratorInfo(
                program.entry,
                program.packets,
                program.sram_bytes,
                program.sram_lower_bound,
                program.sram_capacity,
                program.dram_bytes,
                program.dram_bound,
            )
            for program in self.programs
        )
        return DlaReport(tuple(programs), self.attempts)
