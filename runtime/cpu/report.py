"""The report of native code: its kernels, and the CPUs that it is for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..report import PartReport, Section
from ..spelling import spell_names
from .choose_code import lacking
from .code import CpuRequirements, Kernel

RELAYOUTS = ("cpu.block", "cpu.unblock")


@dataclass(frozen=True)
class MachineInfo:
    """Describe a CPU with code in the package; `lacking` is the reason if it does not run here."""

    machine: str
    architecture: str
    features: tuple[str, ...]
    lacking: str
    chosen: bool

    @property
    def suitability(self) -> str:
        """Return whether the code runs here, or the reason why not."""
        return "would run here" if self.chosen else self.lacking or "could run here"


@dataclass(frozen=True)
class CpuReport(PartReport):
    """List the CPUs with code, the best one first, and the kernels of the first one."""

    machines: tuple[MachineInfo, ...]
    kernels: tuple[Kernel, ...]

    @staticmethod
    def of(machines: Sequence[CpuRequirements], kernels: tuple[Kernel, ...]) -> "CpuReport":
        """Describe code; this computer runs that for the first machine which lacks nothing."""
        lacks = [lacking(needed) for needed in machines]
        chosen = lacks.index("") if "" in lacks else None
        described = (
            MachineInfo(needed.machine, needed.architecture, needed.features, lack, i == chosen)
            for i, (needed, lack) in enumerate(zip(machines, lacks, strict=True))
        )
        return CpuReport(tuple(described), kernels)

    def sections(self) -> Iterator[Section]:
        yield Section("machines", [(each.machine, each.suitability) for each in self.machines])
        rows = [
            (_calls(kernel), spell_names(kernel.nodes), " + ".join(kernel.ops), kernel.symbol)
            for kernel in self.kernels
        ]
        moved = [not set(RELAYOUTS).isdisjoint(kernel.ops) for kernel in self.kernels]
        relayouts = [row[:-1] for row, moves in zip(rows, moved, strict=True) if moves]
        yield Section("layout conversions", relayouts)
        yield Section("kernels", rows)


def _calls(kernel: Kernel) -> str:
    if not kernel.load_calls:
        return f"{kernel.calls}x"
    loaded = f"{kernel.load_calls}x at load"
    return f"{kernel.calls}x, {loaded}" if kernel.calls else loaded
