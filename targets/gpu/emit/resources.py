"""Registers and memory of a compiled kernel, read from its code; nothing runs."""

import re
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ..schedule.architecture import Architecture
from .compiled import Compiled

SPILL_BYTES = 64
"""The memory that a thread may have beside its registers. Large angles need 40 for a sine."""

INSTRUCTION = re.compile(r"^\s+/\*[0-9a-f]+\*/\s+(?:@!?\w+\s+)?([A-Z][A-Z0-9_]*)", re.MULTILINE)
_CUDA = {"registers": r"\bREG:(\d+)", "local_bytes": r"\bSTACK:(\d+)"}
_HIP = {
    "registers": r"\.vgpr_count:\s+(\d+)",
    "local_bytes": r"\.private_segment_fixed_size:\s+(\d+)",
}


@dataclass(frozen=True)
class Resources:
    """The registers of a thread, and its bytes of local memory for spilled registers."""

    registers: int
    local_bytes: int


def resources(compiled: Compiled, architecture: Architecture) -> Resources:
    """Read the resources of a kernel from its code, or from the text of an AMD kernel."""
    if architecture.backend == "cuda":
        return Resources(**_numbers(_CUDA, _tool("cuobjdump", "-res-usage", compiled.code)))
    return Resources(**_numbers(_HIP, compiled.assembly))


def instructions(compiled: Compiled) -> Counter[str]:
    """Count the instructions of a CUDA kernel by the part before the first dot: `HGMMA`."""
    return Counter(INSTRUCTION.findall(_tool("nvdisasm", "-c", compiled.code)))


def programs_at_once(compiled: Compiled, architecture: Architecture) -> int:
    """Count the programs that fit on a multiprocessor at the same time.

    Registers are given out by the warp, in units of 256. Source: CUDA C++ Programming Guide,
    section on multiprocessor occupancy.
    """
    per_thread = max(1, resources(compiled, architecture).registers)
    per_warp = -(-per_thread * architecture.warp_size // 256) * 256
    memory = compiled.shared_bytes + architecture.reserved_bytes
    return min(
        architecture.registers // (per_warp * compiled.warps),
        architecture.multiprocessor_bytes // memory if memory else architecture.blocks,
        architecture.threads // (compiled.warps * architecture.warp_size),
        architecture.blocks,
    )


def least_driver(compiled: Compiled, architecture: Architecture) -> int:
    """Return the least cuDriverGetVersion of a driver that runs a CUDA kernel; else 0.

    A driver runs what any assembler of its major version wrote, if it knows the architecture.
    Source: CUDA Compatibility, section on minor version compatibility; the versions of PTX follow
    those of CUDA from 4 versions below.
    """
    match = re.search(r"^\.version (\d+)\.\d+", compiled.assembly, re.MULTILINE)
    return max((int(match[1]) + 4) * 1000, architecture.driver) if match else 0


def rejection(compiled: Compiled, architecture: Architecture) -> str | None:
    """Return why a kernel would not run on an architecture, or slowly; None if it fits."""
    if reason := exceeded_limit(compiled, architecture):
        return reason
    spilled = resources(compiled, architecture).local_bytes
    if spilled > SPILL_BYTES:
        return f"it spills {spilled} bytes of registers, may spill {SPILL_BYTES}"
    return None


def exceeded_limit(compiled: Compiled, architecture: Architecture) -> str | None:
    """Return why a kernel would not run on an architecture; None if it runs, even slowly."""
    if compiled.shared_bytes > architecture.shared_bytes:
        return (
            f"it takes {compiled.shared_bytes} bytes of shared memory, "
            f"{architecture.name} has {architecture.shared_bytes}"
        )
    if programs_at_once(compiled, architecture) == 0:
        threads = compiled.warps * architecture.warp_size
        return (
            f"its {threads} threads take {resources(compiled, architecture).registers} registers "
            f"each, {architecture.name} has {architecture.registers}"
        )
    return None


def _numbers(patterns: dict[str, str], text: str) -> dict[str, int]:
    found = {name: re.search(pattern, text) for name, pattern in patterns.items()}
    return {name: int(match[1]) for name, match in found.items() if match}


def _tool(name: str, flag: str, code: bytes) -> str:
    """Run a tool that comes with Triton on code."""
    specification = find_spec("triton")
    assert specification is not None
    assert specification.origin is not None
    tool = Path(specification.origin).parent / "backends" / "nvidia" / "bin" / name
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(code)
        file.flush()
        return subprocess.check_output([str(tool), flag, file.name], text=True)
