"""Choose the native code that this machine has everything for."""

import platform
import sys
from collections.abc import Sequence
from functools import cache

from ..errors import RunError
from .code import CpuRequirements

_ARCHITECTURE = "x86_64"
"""The only one that Trivium generates native code for."""

_CPUINFO = "/proc/cpuinfo"

# Punctuation differs between LLVM (avx512vnni, sse4.1) and Linux (avx512_vnni, sse4_1).
_PUNCTUATION = str.maketrans("", "", "._-")


def choose_code(machines: Sequence[CpuRequirements]) -> CpuRequirements:
    """Return the first of several machines whose code this CPU can run; RunError for none."""
    lacks = [(needed, lacking(needed)) for needed in machines]
    for needed, lack in lacks:
        if not lack:
            return needed
    again = "compile the model or the package again for it"
    if sys.platform != "linux" or platform.machine() != _ARCHITECTURE:
        again = "compile the model for the target host, which numpy computes"
    if not lacks:
        raise RunError(f"the package is for no CPU at all: {again}")
    if len(lacks) == 1:
        raise RunError(f"the package {lacks[0][1]}: {again}")
    each = "; ".join(f"that for {needed.machine} {lack}" for needed, lack in lacks)
    raise RunError(f"the package has no code for this CPU: {each}: {again}")


def lacking(needed: CpuRequirements) -> str:
    """Return what keeps native code from running here, as the end of a sentence, or ""."""
    machine = platform.machine()
    if sys.platform != "linux":
        return f"is for Linux, this system is {sys.platform}"
    if machine != needed.architecture:
        return f"is for {needed.architecture}, this machine is {machine}"
    present = {feature.translate(_PUNCTUATION) for feature in cpu_features()}
    missing = [name for name in needed.features if name.translate(_PUNCTUATION) not in present]
    return f"needs {', '.join(missing)}, which this CPU lacks" if missing else ""


@cache
def cpu_features() -> frozenset[str]:
    """Return the features of this CPU as /proc/cpuinfo spells them."""
    try:
        with open(_CPUINFO) as lines:
            # The first processor stands for all; listing hundreds takes the kernel a while.
            for key, _, value in (line.partition(":") for line in lines):
                if key.strip() == "flags":
                    return frozenset(value.split())
    except OSError as error:
        raise RunError(f"{_CPUINFO} cannot be read: {error.strerror}") from None
    return frozenset()
