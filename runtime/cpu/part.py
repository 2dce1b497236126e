"""The part of a manifest that describes native code."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ..contents import Contents, Part
from ..errors import PackageError
from ..kinds import Kind
from .code import CpuRequirements, Kernel

if TYPE_CHECKING:
    from ..report import EntryKind
    from .report import CpuReport


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
        from ..spelling import count

        calls = sum(kernel.calls for kernel in self.kernels)
        return f"{count(calls, 'call')} of {count(len(self.kernels), 'kernel')}"

    def entry_kinds(self, contents: Contents) -> "Iterable[EntryKind]":
        from ..report import EntryKind

        names = (entry.name for entry in contents.entries)
        code = [name for name in names if name.startswith("cpu/")]
        yield EntryKind("native code", code, "object")

    def ops(self) -> Iterable[str]:
        return (op for kernel in self.kernels for op in kernel.ops)

    def report(self, contents: Contents, steps: Sequence[Kind]) -> "CpuReport":
        from .report import report_of

        return report_of(self.kernels, self.machines)
