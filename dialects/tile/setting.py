"""Settings: how a kernel is cut into blocks and how a GPU runs it; what it computes stays."""

import re
from dataclasses import dataclass

from ..core.errors import Invalid

_WORD = re.compile(r"([A-Za-z_]\w*)=(\d{1,9})", re.ASCII)


@dataclass(frozen=True)
class Setting:
    """Hold block sizes by name, the number of warps of a program, and of stages of its loops."""

    blocks: tuple[tuple[str, int], ...]
    warps: int
    stages: int

    @staticmethod
    def parse(text: str) -> "Setting":
        """Read `BM=64 BN=32 warps=4 stages=3`; raise Invalid for anything else."""
        found: dict[str, int] = {}
        for word in text.split():
            match = _WORD.fullmatch(word)
            if match is None or match[1] in found:
                raise Invalid(f"setting has '{word}', must be like BM=64, each name once")
            found[match[1]] = int(match[2])
        warps, stages = found.pop("warps", 0), found.pop("stages", 0)
        for which, count in (("warps", warps), ("stages", stages)):
            if count < 1:
                raise Invalid(f"setting '{text}' must have {which}, at least 1")
        for name, size in found.items():
            if size < 1 or size & (size - 1):
                raise Invalid(f"block size {name} is {size}, must be a power of two")
        return Setting(tuple(found.items()), warps, stages)

    def __str__(self) -> str:
        words = [f"{name}={size}" for name, size in self.blocks]
        return " ".join([*words, f"warps={self.warps}", f"stages={self.stages}"])
