"""The part of a manifest that describes code for GPUs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..contents import Contents, Part
from ..frozen import Frozen
from ..kinds import Kind
from ..report import EntryKind, PartReport, Section
from ..spelling import count, spell_names, spell_shape, spell_size
from .checks import check_codes
from .code import GpuCode, GpuKernel, LaunchStep
from .device import lacking_here


class GpuKernelInfo(Frozen):
    """Describe a kernel of a GPU; `registers` and `spills` are of each thread."""

    nodes: tuple[str, ...]
    calls: int
    symbol: str
    grid: tuple[int, ...]
    warps: int
    shared_bytes: int
    registers: int
    spills: int
    blocks: tuple[str, ...]
    stages: int

    def row(self) -> tuple[str, ...]:
        """Return the cells of the kernel in a section."""
        spills = [count(self.spills, "spill")] * bool(self.spills)
        return (
            f"{self.calls}x",
            spell_names(self.nodes),
            self.symbol,
            spell_shape(self.grid),
            count(self.warps, "warp"),
            f"{spell_size(self.shared_bytes)} shared",
            ", ".join([count(self.registers, "register"), *spills]),
            " ".join((*self.blocks, count(self.stages, "stage"))),
        )


class GpuInfo(Frozen):
    """Describe the code for one architecture; `lacking` is the reason if it does not run here."""

    architecture: str
    lacking: str
    kernels: tuple[GpuKernelInfo, ...]


@dataclass(frozen=True)
class GpuReport(PartReport):
    """List the code for each architecture."""

    gpus: tuple[GpuInfo, ...]

    def sections(self) -> Iterator[Section]:
        rows = [(gpu.architecture, gpu.lacking or "would run here") for gpu in self.gpus]
        yield Section("code for GPUs", rows)
        for gpu in self.gpus:
            title = f"kernels for {gpu.architecture}"
            yield Section(title, [kernel.row() for kernel in gpu.kernels])


@dataclass(frozen=True)
class GpuPart(Part):
    """Hold code for one or several architectures.

    All of them run the same launches in the same buffers.
    """

    kind: ClassVar[str] = "gpu"

    codes: tuple[GpuCode, ...] = ()

    @property
    def variants(self) -> tuple[str, ...]:
        return tuple(code.architecture for code in self.codes)

    def check(self, contents: Contents) -> None:
        check_codes(self.codes, contents)

    def entry_kinds(self, contents: Contents) -> Iterable[EntryKind]:
        cubins = {kernel.entry for code in self.codes for kernel in code.kernels}
        yield EntryKind("code for GPUs", cubins, "cubin")

    def report(self, contents: Contents, steps: Sequence[Kind]) -> GpuReport:
        launching = (step for step in steps if isinstance(step, LaunchStep))
        launches = [launch for step in launching for launch in step.launches]
        calls = Counter(launch.kernel for launch in launches)
        nodes = {launch.kernel: launch.nodes for launch in reversed(launches)}

        def describe(kernel: GpuKernel) -> GpuKernelInfo:
            return GpuKernelInfo(
                nodes.get(kernel.symbol, ()),
                calls[kernel.symbol],
                kernel.symbol,
                kernel.grid,
                kernel.warps,
                kernel.shared_bytes,
                kernel.registers,
                kernel.spills,
                kernel.blocks,
                kernel.stages,
            )

        gpus = (
            GpuInfo(code.architecture, lacking_here(code), tuple(map(describe, code.kernels)))
            for code in self.codes
        )
        return GpuReport(tuple(gpus))
