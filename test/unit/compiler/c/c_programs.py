"""Build what `emit_c` writes by the system's C compiler, and run its client on files."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from trivium.compiler.c.emit import CFolder
from trivium.dialects.core.tensor import Array

GCC = shutil.which("gcc")
MAKE = shutil.which("make")
needs_gcc = pytest.mark.skipif(not (GCC and MAKE), reason="there is no gcc, or no make")


def run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def build(folder: Path, *flags: str, **variables: str) -> None:
    """Build the client; any warning is an error."""
    given = " ".join(("-O1", "-Werror", *flags))
    named = [f"{name}={value}" for name, value in variables.items()]
    done = run(["make", "-B", f"CFLAGS={given}", *named], folder)
    assert not done.returncode, done.stderr


def run_client(
    written: CFolder, inputs: Sequence[Array], launcher: Sequence[str] = ()
) -> list[Array]:
    """Run the client on arrays, and read the outputs that it writes."""
    folder = written.path
    names: list[str] = []
    for number, array in enumerate(inputs):
        names.append(f"input_{number}.raw")
        array.tofile(folder / names[-1])
    outputs = [f"output_{number}.raw" for number in range(len(written.contents.outputs))]
    flags = [word for name in outputs for word in ("-o", name)]
    done = run([*launcher, "./main", *flags, *names], folder)
    assert not done.returncode, done.stderr
    return [
        np.fromfile(folder / name, port.dtype).reshape([int(n) for n in port.shape])
        for name, port in zip(outputs, written.contents.outputs, strict=True)
    ]


def fixed_addresses(folder: Path) -> list[str]:
    """Return what runs a program without random addresses, at which threads are not watched."""
    command = ["setarch", "-R"]
    if not shutil.which("setarch") or run([*command, "true"], folder).returncode:
        return []
    return command
