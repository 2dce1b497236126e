"""Packages to measure: where they are, and how they are packed for the way to another machine."""

import lzma
from pathlib import Path

from ....runtime.errors import RunError
from ....runtime.file.atomic_file import atomic_file
from ....runtime.package import Package
from .plan import Case

PACKED = ".xz"
MADE_BY = "docs/demo/gpu_packages.py"


def find(case: Case, folder: Path) -> Path | None:
    """Return the file of a case, packed or not; None where there is none."""
    paths = (folder / case.file, folder / f"{case.file}{PACKED}")
    return next((path for path in paths if path.exists()), None)


def open_package(case: Case, folder: Path) -> Package:
    """Open the package of a case, unpacked beside itself; RunError where there is none."""
    path = find(case, folder)
    if path is None:
        raise RunError(
            f"there is no {folder / case.file}: make it by `python {MADE_BY} {folder}` on a "
            "machine with Trivium, no GPU is needed"
        )
    return Package.open(unpack(path) if path.suffix == PACKED else path)


def pack(path: Path) -> Path:
    """Compress a file; the packed one takes its place."""
    packed = path.with_name(path.name + PACKED)
    packed.write_bytes(lzma.compress(path.read_bytes(), preset=1))
    path.unlink()
    return packed


def unpack(path: Path) -> Path:
    """Decompress a file beside itself, unless that was done already; RunError for a broken one."""
    plain = path.with_suffix("")
    if plain.exists():
        return plain
    try:
        with atomic_file(plain) as file:
            file.write(lzma.decompress(path.read_bytes()))
    except lzma.LZMAError as error:
        raise RunError(f"{path}: cannot be unpacked: {error}") from None
    return plain
