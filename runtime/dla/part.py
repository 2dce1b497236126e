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


class LoadableProgram(Frozen):
    """Describe the loadable of NVDLA in `entry`: for which configuration, and what it needs.

    `operations` are those of engines, `winograd` the convolutions among them by that method.
    `memory_bytes` are of all its memories, `constant_bytes` of
    those that are filled when it is loaded.
    """

    entry: str
    configuration: str
    operations: int
    memory_bytes: int
    constant_bytes: int
    winograd: int = 0

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """Yield the rows of the loadable in a section."""
        made = f"{count(self.operations, 'operation')} for {self.configuration}"
        if self.winograd:
            made = f"{made}, {self.winograd} of them by Winograd's method"
        yield self.entry, "loadable", made
        filled = spell_size(self.constant_bytes)
        yield "", "memory", f"{spell_size(self.memory_bytes)}, {filled} of them filled"


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
    loadables: tuple[LoadableProgram, ...] = ()

    def sections(self) -> Iterator[Section]:
        listed = (*self.accelerators, *self.loadables)
        yield Section("on accelerators", [row for each in listed for row in each.rows()])
        yield Section("schedules that did not fit", [(each,) for each in self.attempts])


@dataclass(frozen=True)
class DlaPart(Part):
    """Describe programs and loadables; `attempts` list the failed scheduling attempts."""

    kind: ClassVar[str] = "dla"

    programs: tuple[DlaProgram, ...] = ()
    attempts: tuple[str, ...] = ()
    loadables: tuple[LoadableProgram, ...] = ()

    @property
    def lacks_ir(self) -> bool:
        return bool(self.programs)

    def ops(self) -> Iterable[str]:
        return ["nvdla.conv winograd"] if any(each.winograd for each in self.loadables) else []

    def entry_kinds(self, contents: Contents) -> Iterable[EntryKind]:
        streams = {program.entry for program in self.programs}
        yield EntryKind("constants and code for accelerators", streams, "container")
        loadables = {each.entry for each in self.loadables}
        yield EntryKind("constants and code for NVDLA", loadables, "loadable")

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
        return DlaReport(tuple(programs), self.attempts, self.loadables)
