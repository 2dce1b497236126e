"""The part of a manifest that describes code for GPUs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..contents import Contents, Part
from ..kinds import Kind
from ..report import EntryKind
from .checks import check_codes
from .code import GpuCode, LaunchStep
from .report import GpuReport


@dataclass(frozen=True)
class GpuPart(Part):
    """Hold code for one or several architectures.

    All of them run the same launches in the same buffers.
    """

    kind: ClassVar[str] = "gpu"

    codes: tuple[GpuCode, ...] = ()

    def check(self, contents: Contents) -> None:
        check_codes(self.codes, contents)

    def entry_kinds(self, contents: Contents) -> Iterable[EntryKind]:
        cubins = {kernel.entry for code in self.codes for kernel in code.kernels}
        yield EntryKind("code for GPUs", cubins, "cubin")

    def report(self, contents: Contents, steps: Sequence[Kind]) -> GpuReport:
        launching = (step for step in steps if isinstance(step, LaunchStep))
        return GpuReport.of(self.codes, [each for step in launching for each in step.launches])
