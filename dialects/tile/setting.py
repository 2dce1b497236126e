"""Settings of a kernel: block sizes, warps and stages. They do not change its results."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..core.errors import Invalid
from .types import NAME, is_power_of_two

_WORD = re.compile(rf"({NAME.pattern})=(0|[1-9][0-9]{{0,8}})")


@dataclass(frozen=True)
class Setting:
    """Hold block sizes by name, the number of warps of a program, and of stages of its loops.

    Block sizes and warps are powers of two.
    """

    blocks: tuple[tuple[str, int], ...]
    warps: int
    stages: int

    @staticmethod
    def parse(text: str) -> "Setting":
        """Read `BM=64 BN=32 warps=4 stages=3`; raise Invalid for anything else."""
        found = numbers_of(text.split(), "setting")
        warps, stages = found.pop("warps", 0), found.pop("stages", 0)
        setting = Setting(tuple(found.items()), warps, stages)
        try:
            setting.check()
        except Invalid as error:
            raise Invalid(f"setting is '{text}', its {error}") from None
        return setting

    def check(self) -> None:
        """Raise Invalid for a number that is none of its kind."""
        for name, size in (*self.blocks, ("warps", self.warps)):
            if not is_power_of_two(size):
                raise Invalid(f"{name} is {size}, must be a power of two")
        if self.stages < 1:
            raise Invalid(f"stages is {self.stages}, must be at least 1")

    def __str__(self) -> str:
        words = [f"{name}={size}" for name, size in self.blocks]
        return " ".join([*words, f"warps={self.warps}", f"stages={self.stages}"])


def numbers_of(words: Sequence[str], what: str) -> dict[str, int]:
    """Read words like `BM=128`; raise Invalid for anything else, and for a name that comes twice.

    `what` has the words, for the message.
    """
    found: dict[str, int] = {}
    for word in words:
        match = _WORD.fullmatch(word)
        if match is None or match[1] in found:
            raise Invalid(f"{what} has '{word}', must be like BM=128, each name once")
        found[match[1]] = int(match[2])
    return found
