"""The report of the part of a manifest that describes native code."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..frozen import Frozen
from ..report import PartReport, Section
from ..spelling import spell_names
from .choose_code import lacking
from .code import CpuRequirements, Kernel

RELAYOUTS = ("cpu.block", "cpu.unblock")


class MachineInfo(Frozen):
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

    def sections(self) -> Iterator[Section]:
        yield Section("machines", [(each.machine, each.suitability) for each in self.machines])
        moved = [kernel for kernel in self.kernels if not set(RELAYOUTS).isdisjoint(kernel.ops)]
        yield Section("layout conversions", [_row(kernel)[:-1] for kernel in moved])
        yield Section("kernels", list(map(_row, self.kernels)))


def report_of(kernels: tuple[Kernel, ...], requirements: Sequence[CpuRequirements]) -> CpuReport:
    """Return the report of the code for several machines, the best one first."""
    lacks = [lacking(needed) for needed in requirements]
    chosen = lacks.index("") if "" in lacks else None
    machines = (
        MachineInfo(needed.machine, needed.architecture, needed.features, lack, i == chosen)
        for i, (needed, lack) in enumerate(zip(requirements, lacks, strict=True))
    )
    return CpuReport(tuple(machines), kernels)


def _row(kernel: Kernel) -> tuple[str, ...]:
    return _calls(kernel), spell_names(kernel.nodes), " + ".join(kernel.ops), kernel.symbol


def _calls(kernel: Kernel) -> str:
    if not kernel.load_calls:
        return f"{kernel.calls}x"
    loaded = f"{kernel.load_calls}x at load"
    return f"{kernel.calls}x, {loaded}" if kernel.calls else loaded
