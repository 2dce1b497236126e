"""Make a shared library of a package by the C compiler of this machine."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from ...dialects.core.errors import CompileError, Diagnostic
from ...runtime.c.sources import sources
from ...runtime.contents import STATE_ENTRY
from ...runtime.cpu.code import CpuRequirements
from ...runtime.cpu.part import CpuPart
from ...runtime.cpu.thread_pool import CODE
from ...runtime.manifest import Manifest
from ...runtime.package import Package
from ...version import __version__
from ..c.emit import NAME, check_name
from ..c.refusals import IN_LIBRARY, native_faults, unknown_sizes
from .assembly import Assembly
from .tables import header, tables

_LIBRARY = Path(__file__).with_name("library.c")
_USED = ("error.c", "internal.h", "machine.c", "memory.c", "pool.c", "session.c", "trivium.h")
"""What a model's library has of libtrivium."""

_FLAGS = "-std=c11 -O2 -fPIC -fvisibility=hidden -pthread -shared -DTRIVIUM_API="
_LINKER = "-Wl,-z,text -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,-Bsymbolic"
"""The linker refuses relocations in code, if there should be any."""

_BLOB = "model.bin"
_MADE = "made"


def emit_library(package: Package, folder: Path, name: str = NAME) -> tuple[Path, Path]:
    """Write `libNAME.so` and `NAME.h` to a folder, which is made where it is missing.

    Functions and macros begin with the name. Return the paths of both. The library has code and
    weights, and needs libc alone. Raises CompileError for what it cannot run, before anything is
    written, and where the C compiler `$CC`, or `cc`, is missing or fails.
    """
    check_name(name)
    machine = check_package(package.manifest)
    compiler = shutil.which(os.environ.get("CC") or "cc")
    if compiler is None:
        raise CompileError(
            "a library is linked by a C compiler, cc or $CC, and there is none: install one, or "
            "set CC"
        )
    try:
        with TemporaryDirectory() as place:
            _write_sources(package, machine, Path(place), name)
            library, described = _build(compiler, Path(place), name)
            folder.mkdir(parents=True, exist_ok=True)
            made = folder / library.name, folder / described.name
            for source, target in zip((library, described), made, strict=True):
                shutil.copy(source, target)
    except OSError as error:
        raise CompileError(f"cannot write '{folder}': {error.strerror}") from None
    return made


def check_package(manifest: Manifest) -> CpuRequirements:
    """Return the machine of a package; raise CompileError that lists what no library has."""
    if faults := [*_faults(manifest)]:
        raise CompileError(faults)
    (machine,) = manifest.part(CpuPart).machines
    return machine


def _faults(manifest: Manifest) -> Iterator[Diagnostic]:
    yield from native_faults(manifest, IN_LIBRARY)
    yield from unknown_sizes(manifest)
    for pair in manifest.carried:
        if pair.in_place and not pair.is_bound:
            text = "is updated in place in memory of a caller, which no library does"
            yield Diagnostic(pair.input, text, ("bind it by --state OUTPUT=INPUT",))
    if manifest.settings.cores:
        text = "binds threads to cores, which a library does not"
        yield Diagnostic("model", text, ("leave out --cores",))
    machines = manifest.part(CpuPart).machines
    if not manifest.steps:
        note = "run it as a package: its outputs are constants or inputs"
        yield Diagnostic("model", "has no native code, must have some in a library", (note,))
    elif len(machines) > 1:
        names = ", ".join(machine.machine for machine in machines)
        yield Diagnostic("model", f"is for {names}, must be for one machine", ("give --machine",))


def _write_sources(package: Package, machine: CpuRequirements, place: Path, name: str) -> None:
    files = sources()
    for each in _USED:
        (place / each).write_bytes(files[each])
    shutil.copy(_LIBRARY, place / _LIBRARY.name)
    manifest = package.manifest
    (place / "model_tables.h").write_text(tables(name, manifest, machine), "utf-8")
    (place / _MADE).mkdir()  # apart, since a model may have the name of a source
    (place / _MADE / f"{name}.h").write_text(header(name, manifest, machine), "utf-8")
    assembly = Assembly(_BLOB)
    code = [each for each in package.entries if each.rpartition("/")[0] + "/" == machine.folder]
    assembly.add_objects({each: package.entries[each] for each in (*code, CODE)})
    assembly.add_data("model_weights", package.weights)
    assembly.add_data("model_state", package.entries.get(STATE_ENTRY, b""))
    (place / "model.S").write_text(assembly.text, "utf-8")
    (place / _BLOB).write_bytes(assembly.data)


def _build(compiler: str, place: Path, name: str) -> tuple[Path, Path]:
    library = place / _MADE / f"lib{name}.so"
    written = sorted(path.name for path in place.iterdir() if path.suffix in (".c", ".S"))
    version = f'-DTRIVIUM_VERSION="{__version__}"'
    soname = f"-Wl,-soname,{library.name}"
    command = [compiler, *_FLAGS.split(), version, *_LINKER.split(), soname]
    command += ["-o", str(library), *written, "-Wl,--as-needed", "-lm"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        fault = next((line for line in lines if "error" in line), lines[-1])
        raise CompileError(f"{compiler} cannot link the library: {fault}")
    return library, place / _MADE / f"{name}.h"
