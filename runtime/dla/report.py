"""The report of programs for an accelerator: their memory, and the bytes that they move."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..report import PartReport, Section
from ..spelling import count, spell_size
from .code import DlaProgram


@dataclass(frozen=True)
class AcceleratorInfo:
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

    @staticmethod
    def of(programs: Sequence[DlaProgram], attempts: tuple[str, ...]) -> "DlaReport":
        """Describe programs."""
        described = (
            AcceleratorInfo(
                program.entry,
                program.packets,
                program.sram_bytes,
                program.sram_lower_bound,
                program.sram_capacity,
                program.dram_bytes,
                program.dram_bound,
            )
            for program in programs
        )
        return DlaReport(tuple(described), attempts)

    def sections(self) -> Iterator[Section]:
        yield Section("on accelerators", [row for each in self.accelerators for row in each.rows()])
        yield Section("schedules that did not fit", [(each,) for each in self.attempts])
