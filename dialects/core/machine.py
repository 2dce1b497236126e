"""Descriptions of hardware, as frozen data that passes and targets reason about."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class Machine:
    """Describe a CPU: its instruction set and the width of its vector registers."""

    architecture: str
    features: tuple[str, ...]
    vector_bytes: int

    def lanes(self, bits: int) -> int:
        """Return how many elements of a width fit in one vector register."""
        return max(1, self.vector_bytes * 8 // bits)


# What generated code may rely on, among all the flags that a CPU reports.
_RELEVANT = (
    *("sse4_1", "sse4_2", "avx", "avx2", "fma", "f16c", "bmi1", "bmi2"),
    *("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx512_vnni", "avx512_bf16"),
)


@cache
def host_machine() -> Machine:
    """Describe the CPU that this process runs on."""
    text = Path("/proc/cpuinfo").read_text()
    line = next((x for x in text.splitlines() if x.startswith("flags")), "")
    flags = set(line.partition(":")[2].split())
    features = tuple(f for f in _RELEVANT if f in flags)
    width = 64 if "avx512f" in flags else 32 if "avx2" in flags else 16
    return Machine("x86_64", features, width)
