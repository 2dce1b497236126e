"""Descriptions of hardware, as frozen data that passes and targets reason about."""

import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .arguments import listed
from .errors import CompileError

NATIVE = "native"
"""The name of the CPU that this process runs on."""


@dataclass(frozen=True)
class Machine:
    """Describe a CPU: its instruction set, as /proc/cpuinfo spells it, and its vector registers.

    One that `is_scalar` has none: lanes that its code computes side by side are single numbers.
    C for it is compiled with the `flags`; compilers for it are called by the prefix `cross`.
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


def _portable() -> tuple[Machine, ...]:
    """Describe the machines whose code is C alone; features are those that lowerings ask for.

    Vectors of RISC-V are as long as the least ones of the extension V. Floats of NEON on 32 bits
    are flushed to zero, for which GCC wants to be asked; sums keep their order.
    """
    neon = ("-mfpu=neon-vfpv4", "-mfloat-abi=hard", "-funsafe-math-optimizations")
    order = ("-fno-associative-math", "-fno-reciprocal-math")
    fused, sve = ("fma",), ("-march=armv8.2-a+sve", "-msve-vector-bits=256")
    arm64, arm32, riscv = "aarch64-linux-gnu-", "arm-linux-gnueabihf-", "riscv64-linux-gnu-"

    def machine(
        name: str,
        summary: str,
        vectors: tuple[int, int],
        architecture: str,
        flags: tuple[str, ...],
        cross: str,
    ) -> Machine:
        return Machine(name, summary, fused, *vectors, architecture, flags=flags, cross=cross)

    return (
        Machine("generic", "any CPU with a compiler of C99", (), 16, 8, "any", is_scalar=True),
        machine("armv8-a", "ARM of 64 bits: NEON", (16, 32), "aarch64", ("-march=armv8-a",), arm64),
        machine(
            "sve-256",
            "ARM of 64 bits: SVE of 256 bits",
            (32, 32),
            "aarch64",
            (*sve, CONTRACT),
            arm64,
        ),
        machine(
            "armv7-neon",
            "ARM of 32 bits: NEON, VFPv4",
            (16, 16),
            "arm",
            ("-march=armv7-a", *neon, *order),
            arm32,
        ),
        machine(
            "rv64gcv",
            "RISC-V of 64 bits: V of 128 bits",
            (16, 32),
            "riscv64",
            ("-march=rv64gcv", CONTRACT),
            riscv,
        ),
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
