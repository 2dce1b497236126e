"""Descriptions of hardware, as frozen data that passes and targets reason about."""

import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path

from .arguments import listed
from .errors import CompileError

NATIVE = "native"
"""The name of the CPU that this process runs on."""


class Factors(Enum):
    """Where multiply-adds read the number by which they multiply all lanes of a vector.

    From MEMORY, numbers are repeated one after the other, in one register. Where all operands are
    in registers, compilers load the numbers of all rows of a tile before they multiply: VECTORS
    occupies a vector register for each of them, SCALARS none.
    """

    MEMORY = "memory"
    VECTORS = "vectors"
    SCALARS = "scalars"


@dataclass(frozen=True)
class Core:
    """Describe the core that code for a machine is tuned for.

    A cycle begins `multiplies` multiply-adds of vectors, each of which takes `latency` cycles, and
    `loads` loads of vectors. `caches` are the sizes of the first and the second data cache, bytes.
    """

    multiplies: float
    latency: int
    loads: float
    caches: tuple[int, int]
    factors: Factors


ZEN4 = Core(1, 4, 1, (32 << 10, 1 << 20), Factors.MEMORY)
"""The core on which the costs of schedules were measured, with vectors of 64 bytes."""


@dataclass(frozen=True)
class Machine:
    """Describe a CPU: its instruction set, as /proc/cpuinfo spells it, and its vector registers.

    One that `is_scalar` has none: lanes that its code computes side by side are single numbers.
    C for it is compiled with the `flags`; compilers for it are called by the prefix `cross`. The
    `core` is what schedules are chosen for.
    """

    name: str
    summary: str
    features: tuple[str, ...]
    vector_bytes: int
    registers: int
    architecture: str = "x86_64"
    is_scalar: bool = False
    flags: tuple[str, ...] = ()
    cross: str = ""
    core: Core = ZEN4

    def lanes(self, bits: int) -> int:
        """Return how many elements of a width fit in one vector register."""
        return max(1, self.vector_bytes * 8 // bits)

    @property
    def fuses(self) -> bool:
        """Report whether a multiplication and an addition can be one instruction."""
        return bool({"fma", "avx512f"} & set(self.features))


def _levels() -> tuple[Machine, ...]:
    """Describe the micro-architecture levels of x86-64, each with the features of those before.

    Source: System V Application Binary Interface, AMD64 Architecture Processor Supplement, version
    1.0, table 3.1. What only the operating system uses (osfxsr, osxsave, sce) is left out.
    """
    v1 = ("cmov", "cx8", "fpu", "fxsr", "mmx", "sse", "sse2")
    v2 = (*v1, "cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3")
    v3 = (*v2, "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe")
    v4 = (*v3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
    return (
        _level("x86-64", "any x86-64 CPU: SSE2", v1, 16, 16),
        _level("x86-64-v2", "SSE4.2, of about 2009 on", v2, 16, 16),
        _level("x86-64-v3", "AVX2 and FMA, of about 2013 on", v3, 32, 16),
        _level("x86-64-v4", "AVX-512, of about 2017 on, not in every CPU", v4, 64, 32),
    )


def _level(
    name: str, summary: str, features: tuple[str, ...], vector_bytes: int, registers: int
) -> Machine:
    flags = (f"-march={name}",)
    return Machine(name, summary, features, vector_bytes, registers, flags=flags)


LEVELS = _levels()
"""The machines that code can be made for anywhere, the least one first."""

CONTRACT = "-ffp-contract=fast"
"""Lets a compiler fuse products and sums where the code has no instruction for that."""


_N1 = Core(2, 4, 2, (64 << 10, 512 << 10), Factors.VECTORS)
"""Neoverse N1 and Cortex-A76, of Arm's guides to optimizing software for them."""

_V1 = Core(2, 4, 2, (64 << 10, 1 << 20), Factors.VECTORS)
"""Neoverse V1, likewise: two multiply-adds and two loads of SVE in a cycle."""

_A53 = Core(1, 8, 0.5, (32 << 10, 512 << 10), Factors.VECTORS)
"""Cortex-A53, which loads 8 bytes in a cycle."""

_ONE = Core(1, 4, 1, (32 << 10, 512 << 10), Factors.SCALARS)
"""A core that begins one instruction of each kind in a cycle: an assumption."""


def _portable() -> tuple[Machine, ...]:
    """Describe the machines whose code is C alone; features are those that lowerings ask for.

    Vectors of RISC-V are as long as the least ones of the extension V. Floats of NEON on 32 bits
    are flushed to zero, for which GCC wants to be asked; sums keep their order.
    """
    neon = ("-march=armv7-a", "-mfpu=neon-vfpv4", "-mfloat-abi=hard", "-funsafe-math-optimizations")
    fused, dot, order = (
        ("fma",),
        ("fma", "asimddp"),
        ("-fno-associative-math", "-fno-reciprocal-math"),
    )
    sve = ("-march=armv8.2-a+sve", "-msve-vector-bits=256", CONTRACT)
    v8, v8_2 = ("-march=armv8-a",), ("-march=armv8.2-a+dotprod",)
    return (
        Machine("generic", "any CPU with a compiler of C99", (), 16, 8, "any", is_scalar=True),
        _arm64("armv8-a", "ARM of 64 bits: NEON", fused, 16, v8, _N1),
        _arm64("armv8.2-a", "ARM of 64 bits: NEON, dot products of bytes", dot, 16, v8_2, _N1),
        _arm64("sve-256", "ARM of 64 bits: SVE of 256 bits", ("fma", "sve"), 32, sve, _V1),
        Machine(
            name="armv7-neon",
            summary="ARM of 32 bits: NEON, VFPv4",
            features=fused,
            vector_bytes=16,
            registers=16,
            architecture="arm",
            flags=(*neon, *order),
            cross="arm-linux-gnueabihf-",
            core=_A53,
        ),
        Machine(
            name="rv64gcv",
            summary="RISC-V of 64 bits: V of 128 bits",
            features=fused,
            vector_bytes=16,
            registers=32,
            architecture="riscv64",
            flags=("-march=rv64gcv", CONTRACT),
            cross="riscv64-linux-gnu-",
            core=_ONE,
        ),
    )


def _arm64(
    name: str,
    summary: str,
    features: tuple[str, ...],
    vector_bytes: int,
    flags: tuple[str, ...],
    core: Core,
) -> Machine:
    cross = "aarch64-linux-gnu-"
    return Machine(
        name, summary, features, vector_bytes, 32, "aarch64", flags=flags, cross=cross, core=core
    )


PORTABLE = _portable()
"""The machines whose code is C alone, which a compiler for them reads."""

# What LLVM may use when it generates code for the CPU at hand, as /proc/cpuinfo spells it.
_RELEVANT = (
    *("pni", "ssse3", "sse4_1", "sse4_2", "popcnt", "movbe", "abm", "bmi1", "bmi2"),
    *("avx", "avx2", "fma", "f16c", "gfni", "avx_vnni"),
    *("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx512ifma", "avx512vbmi"),
    *("avx512_vbmi2", "avx512_vnni", "avx512_bitalg", "avx512_vpopcntdq", "avx512_bf16"),
    *("avx512_fp16", "amx_tile", "amx_int8", "amx_bf16"),
)


@cache
def host_machine() -> Machine:
    """Describe the CPU that this process runs on; CompileError where it is not x86-64 on Linux."""
    here = f"{platform.machine()} on {sys.platform}"
    if here != "x86_64 on linux":
        raise CompileError(
            f"machine '{NATIVE}' is {here}, must be x86_64 on linux: name the machine that will "
            "run the package, such as x86-64-v3, or compile for the target host"
        )
    text = Path("/proc/cpuinfo").read_text()
    line = next((x for x in text.splitlines() if x.startswith("flags")), "")
    flags = set(line.partition(":")[2].split())
    features = tuple(f for f in _RELEVANT if f in flags)
    wide = "avx512f" in flags
    width = 64 if wide else 32 if "avx2" in flags else 16
    registers = 32 if wide else 16
    return Machine(NATIVE, "this CPU", features, width, registers, flags=("-march=native",))


@cache
def model_name() -> str:
    """Return the name that the CPU of this process reports."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    line = next((x for x in lines if x.startswith("model name")), "")
    return line.partition(":")[2].strip()


def machine_names() -> tuple[str, ...]:
    """List the names of all machines."""
    return (NATIVE, *(machine.name for machine in (*LEVELS, *PORTABLE)))


def find_machine(name: str) -> Machine:
    """Return the machine of a name; CompileError when there is none."""
    checked_names(name)
    if name == NATIVE:
        return host_machine()
    return next(machine for machine in (*LEVELS, *PORTABLE) if machine.name == name)


def find_machines(names: str | Sequence[str]) -> tuple[Machine, ...]:
    """Return the machines of one name or of several, the most capable one first.

    Raises CompileError for a name that is no machine, that is given twice, and for no name at all.
    """
    found = [find_machine(name) for name in checked_names(names)]
    return tuple(sorted(found, key=_capability, reverse=True))


def checked_names(names: str | Sequence[str]) -> tuple[str, ...]:
    """Return one name of a machine or several as a tuple, without asking what this CPU is.

    Raises CompileError as `find_machines` does.
    """
    given = listed(names)
    known = machine_names()
    if not given:
        raise CompileError(f"no machine is given, there are: {', '.join(known)}")
    if unknown := [name for name in given if name not in known]:
        raise CompileError(f"no machine is called '{unknown[0]}', there are: {', '.join(known)}")
    if twice := next((name for name in given if given.count(name) > 1), None):
        raise CompileError(f"machine '{twice}' is given twice")
    return given


def _capability(machine: Machine) -> tuple[int, bool, int]:
    return machine.vector_bytes, machine.name == NATIVE, len(machine.features)
