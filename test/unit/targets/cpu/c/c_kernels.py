"""Print kernels as C and compile them by the C compiler of the system."""

import ctypes
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cpu_kernels import Compiled, LoweredKernel, lower
from groups import Case, build_group, release
from trivium.dialects.core.machine import NATIVE, Machine
from trivium.dialects.core.mlir import code_context, ir, new_context
from trivium.targets.cpu.c.helpers import definitions
from trivium.targets.cpu.c.prelude import PRELUDE
from trivium.targets.cpu.c.print_kernel import print_kernel
from trivium.targets.options import DEFAULT, CompileOptions

CC = shutil.which("gcc") or shutil.which("cc")
needs_cc = pytest.mark.skipif(CC is None, reason="there is no C compiler")

FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-fno-math-errno", "-ffp-contract=off")


@dataclass(frozen=True)
class SharedLibrary:
    """Find functions of a shared library, as `NativeLibrary` does those of objects."""

    library: ctypes.CDLL

    def address(self, symbol: str) -> int:
        return ctypes.cast(self.library[symbol], ctypes.c_void_p).value or 0


def lower_cases(
    cases: Sequence[Case], machine: Machine, options: CompileOptions = DEFAULT
) -> list[LoweredKernel]:
    """Lower a kernel of each case; equal ones are there several times."""
    kernels: list[LoweredKernel] = []
    for case in cases:
        with new_context(), ir.Location.unknown():
            kernels.append(lower(build_group(case), machine, options))
            release()
    return kernels


def source_of(kernels: Sequence[LoweredKernel], machine: Machine, strict: bool = False) -> str:
    """Return C whose functions other code may call."""
    with code_context():
        printed = {
            kernel.symbol: print_kernel(ir.Module.parse(kernel.text), machine, strict)
            for kernel in kernels
        }
    text = "\n".join(printed.values())
    shared = "#undef KERNEL\n#define KERNEL\n"
    return "\n".join([PRELUDE, definitions(text), shared, text, ""])


def compile_c(
    kernels: Sequence[LoweredKernel],
    machine: Machine,
    folder: Path,
    *flags: str,
    strict: bool = False,
) -> Compiled:
    """Compile kernels by the C compiler, of which any warning is an error, and load them."""
    assert CC is not None
    file = folder / "kernels.c"
    file.write_text(source_of(kernels, machine, strict))
    march = "-march=native" if machine.name == NATIVE else f"-march={machine.name}"
    given = [*FLAGS, *([] if machine.is_scalar else [march]), *(flags or ("-O2",))]
    made = folder / "kernels.so"
    command = [CC, *given, "-shared", "-fPIC", str(file), "-o", str(made), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    library: Any = SharedLibrary(ctypes.CDLL(str(made)))
    return Compiled(library, [*kernels])
