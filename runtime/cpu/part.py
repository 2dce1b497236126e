"""What a manifest says about native code."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar

from ..contents import Contents, Part
from ..errors import PackageError


@dataclass(frozen=True)
class Kernel:
    """Describe one compiled kernel: its object, what it computes, how often it is called.

    A run makes `calls` of them, loading the package makes `load_calls`.
    """

    symbol: str
    object: str
    nodes: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()
    calls: int = 1
    load_calls: int = 0


@dataclass(frozen=True)
class CpuRequirements:
    """Describe the CPU that native code was compiled for; features as /proc/cpuinfo spells them.

    `machine` is the name that the compiler was given; it names the folder of the code, too.
    """

    architecture: str = "x86_64"
    features: tuple[str, ...] = ()
    machine: str = ""

    @property
    def folder(self) -> str:
        """Return how the names of entries with this code begin."""
        return f"cpu/{self.machine}/" if self.machine else "cpu/"


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
        calls, kernels = sum(kernel.calls for kernel in self.kernels), len(self.kernels)
        return f"{calls} call{'s' * (calls != 1)} of {kernels} kernel{'s' * (kernels != 1)}"

    def entry_kinds(self, contents: Contents) -> Mapping[str, Collection[str]]:
        names = (entry.name for entry in contents.entries)
        return {"native code": [name for name in names if name.startswith("cpu/")]}
