"""What a manifest says about code for GPUs."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar

from ..contents import Contents, Part
from .checks import check_codes
from .code import GpuCode


@dataclass(frozen=True)
class GpuPart(Part):
    """Hold code for one or several architectures.

    All of them run the same launches in the same buffers.
    """

    kind: ClassVar[str] = "gpu"

    codes: tuple[GpuCode, ...] = ()

    def check(self, contents: Contents) -> None:
        check_codes(self.codes, contents)

    def entry_kinds(self, contents: Contents) -> Mapping[str, Collection[str]]:
        cubins = {kernel.entry for code in self.codes for kernel in code.kernels}
        return {"code for GPUs": cubins}
