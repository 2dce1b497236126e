"""The part of a manifest that describes native code."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..contents import Contents, Part
from ..errors import PackageError
from ..frozen import Frozen
from ..kinds import Kind
from ..report import EntryKind, PartReport, Section
from ..spelling import count, spell_names
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


@dataclass(frozen=True)
class CpuPart(Part):
    """Describe native code for several machines, the best one first.

    `kernels` are those of the first machine; each machine has all functions of steps.
    """

    kind: ClassVar[str] = "cpu"

    kernels: tuple[Kernel, ...] = ()
    machines: tuple[CpuRequirements, ...] = ()

    def check(self, contents: Contents) -> None:
        entries = {entry.name for entry in contents.entries}
        for i, kernel in enumerate(self.kernels):
            if kernel.object not in entries:
                raise PackageError(
                    f"'kernels[{i}].object' is '{kernel.object}', which is not stored"
                )

    def summary(self) -> str:
        calls = sum(kernel.calls for kernel in self.kernels)
        return f"{count(calls, 'call')} of {count(len(self.kernels), 'kernel')}"

    def entry_kinds(self, contents: Contents) -> Iterable[EntryKind]:
        names = (entry.name for entry in contents.entries)
        code = [name for name in names if name.startswith("cpu/")]
        yield EntryKind("native code", code, "object")

    def ops(self) -> Iterable[str]:
        return (op for kernel in self.kernels for op in kernel.ops)

    def report(self, contents: Contents, steps: Sequence[Kind]) -> CpuReport:
        lacks = [lacking(needed) for needed in self.machines]
        chosen = lacks.index("") if "" in lacks else None
        machines = (
            MachineInfo(needed.machine, needed.architecture, needed.features, lack, i == chosen)
            for i, (needed, lack) in enumerate(zip(self.machines, lacks, strict=True))
        )
        return CpuReport(tuple(machines), self.kernels)


def _row(kernel: Kernel) -> tuple[str, ...]:
    return _calls(kernel), spell_names(kernel.nodes), " + ".join(kernel.ops), kernel.symbol


def _calls(kernel: Kernel) -> str:
    if not kernel.load_calls:
        return f"{kernel.calls}x"
    loaded = f"{kernel.load_calls}x at load"
    return f"{kernel.calls}x, {loaded}" if kernel.calls else loaded
