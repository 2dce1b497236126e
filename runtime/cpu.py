"""Check that native code runs only on machines that have what it was made for."""

import platform
from functools import cache
from pathlib import Path

from .errors import RunError
from .manifest import CpuRequirements

_CPUINFO = Path("/proc/cpuinfo")

# Punctuation differs between LLVM (avx512vnni, sse4.1) and Linux (avx512_vnni, sse4_1).
_PUNCTUATION = str.maketrans("", "", "._-")


def check_cpu(needed: CpuRequirements) -> None:
    """Raise RunError when this machine lacks what native code needs."""
    machine = platform.machine()
    if machine != needed.architecture:
        raise RunError(
            f"the package is for {needed.architecture}, this machine is {machine}: "
            "compile the model or the package again for it"
        )
    present = {feature.translate(_PUNCTUATION) for feature in cpu_features()}
    missing = [name for name in needed.features if name.translate(_PUNCTUATION) not in present]
    if missing:
        raise RunError(
            f"the package needs {', '.join(missing)}, which this CPU lacks: "
            "compile the model or the package again for it"
        )


@cache
def cpu_features() -> frozenset[str]:
    """Return the features of this CPU as /proc/cpuinfo spells them."""
    try:
        with _CPUINFO.open() as lines:
            # The first processor stands for all; listing hundreds takes the kernel a while.
            for key, _, value in (line.partition(":") for line in lines):
                if key.strip() == "flags":
                    return frozenset(value.split())
    except OSError as error:
        raise RunError(f"{_CPUINFO} cannot be read: {error.strerror}") from None
    return frozenset()
