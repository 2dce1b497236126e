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


# What LLVM may use when it generates code for a CPU, as /proc/cpuinfo spells it.
_RELEVANT = (
    *("sse3", "ssse3", "sse4_1", "sse4_2", "popcnt", "movbe", "abm", "bmi1", "bmi2"),
    *("avx", "avx2", "fma", "f16c", "gfni", "avx_vnni"),
    *("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx512ifma", "avx512vbmi"),
    *("avx512_vbmi2", "avx512_vnni", "avx512_bitalg", "avx512_vpopcntdq", "avx512_bf16"),
    *("avx512_fp16", "amx_tile", "amx_int8", "amx_bf16"),
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


@cache
def model_name() -> str:
    """Return what the CPU that this process runs on calls itself."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    line = next((x for x in lines if x.startswith("model name")), "")
    return line.partition(":")[2].strip()
