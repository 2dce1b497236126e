"""What a compiler must have to read the code of a machine, as checks of the preprocessor."""

from collections.abc import Iterator

from ...dialects.core.machine import Machine

_X86 = ("avx512f", "avx512bw", "avx512vl", "avx512_vnni", "avx_vnni", "avx2", "fma", "f16c")
"""Features whose instructions code names; those of wide vectors make code without them slow."""

_ARM = {"asimddp": "__ARM_FEATURE_DOTPROD", "sve": "__ARM_FEATURE_SVE"}
"""Features of ARM whose instructions code names."""

_ARCHITECTURES = {"aarch64": "__aarch64__", "arm": "__ARM_NEON", "riscv64": "__riscv"}


def checks(machine: Machine, threads: str) -> str:
    """Return the lines that stop other compilers, byte orders, and CPUs that lack features.

    Code without vectors is for any compiler, but for threads, under the macro of that name.
    """
    extensions = "!defined(__GNUC__) && !defined(__clang__)"
    what = "this code is"
    if machine.is_scalar:
        extensions, what = f"{extensions} && defined({threads})", "threads are"
    lines = [
        *_stop(extensions, f"{what} for GCC and Clang: on Windows, use clang or MinGW"),
        *_stop("__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__", "this code is for little-endian CPUs"),
    ]
    given = " ".join(machine.flags)
    for macro in _macros(machine):
        lines += _stop(f"!defined({macro})", f"this code is for {machine.name}: give {given}")
    return "\n".join([*lines, ""])


def _stop(condition: str, message: str) -> list[str]:
    return [f"#if {condition}", f'#error "{message}"', "#endif"]


def _macros(machine: Machine) -> Iterator[str]:
    """Yield the macros that a compiler defines for a machine."""
    if machine.architecture in _ARCHITECTURES:
        yield _ARCHITECTURES[machine.architecture]
        yield from (macro for feature, macro in _ARM.items() if feature in machine.features)
    if machine.architecture == "x86_64":
        for feature in _X86:
            if feature in machine.features:
                yield f"__{feature.upper().replace('AVX512_', 'AVX512').replace('AVX_', 'AVX')}__"
