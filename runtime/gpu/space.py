"""The memory of a package on a GPU, for all of its sessions: kernels and weights."""

from collections.abc import Iterable
from typing import ClassVar

from ..contents import Contents, MemorySpace
from ..errors import PackageError
from ..loader import Loader
from ..memory_space import PackageMemory
from .array import SPACE
from .code import Launch
from .device import Device
from .kernels import LoadedKernel, load_kernels
from .part import GpuPart
from .weights import load_weights
from .workspace import Workspace


class GpuMemory(PackageMemory):
    """Hold the weights of a package on a GPU, and its kernels, which are loaded when first used."""

    kind: ClassVar[str] = SPACE

    def __init__(self, loader: Loader, space: MemorySpace) -> None:
        codes = loader.contents.part(GpuPart).codes
        if not codes:
            raise PackageError(f"the package has memory '{space.name}', but no code for a GPU")
        self.device = Device.open(loader.options.get("device", 0))
        self.code = self.device.choose(codes)
        self.entries = loader.entries
        self.space = space
        self.weights = load_weights(loader, space, self.device)
        self._kernels: dict[str, LoadedKernel] = {}

    def kernels(self, launches: Iterable[Launch]) -> dict[str, LoadedKernel]:
        """Return the kernels of launches."""
        new = [launch for launch in launches if launch.kernel not in self._kernels]
        self._kernels |= load_kernels(self.device, self.code, self.entries, new)
        return self._kernels

    def open(self, contents: Contents, in_process: frozenset[int]) -> Workspace:
        return Workspace(self, contents, in_process)
