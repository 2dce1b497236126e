"""Open and save a package: one file that holds all a session needs."""

import mmap
import os
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from . import SUFFIX as SUFFIX
from . import archive
from .checks import WEIGHTS_ENTRY, check
from .checksum import checksum
from .errors import PackageError
from .manifest import Entry, Manifest

MANIFEST_ENTRY = "manifest.json"


@dataclass(frozen=True)
class Package:
    """Hold a checked manifest and the bytes of every entry it vouches for, by name."""

    manifest: Manifest
    entries: Mapping[str, memoryview]

    @staticmethod
    def create(
        manifest: Manifest, entries: Mapping[str, bytes | bytearray | memoryview]
    ) -> "Package":
        """Put a package together; fills in `manifest.entries` and checks it all."""
        views = {name: _bytes_of(entries[name]) for name in sorted(entries)}
        if MANIFEST_ENTRY in views:
            raise PackageError(f"entry '{MANIFEST_ENTRY}' is written by save, must not be given")
        vouched = tuple(Entry(name, len(data), checksum(data)) for name, data in views.items())
        # By way of its text, so that it is exactly what open will find.
        manifest = Manifest.from_json(replace(manifest, entries=vouched).to_json())
        check(manifest)
        return Package(manifest, views)

    @staticmethod
    def open(path: str | os.PathLike[str]) -> "Package":
        """Map the file and check all of it; no entry is copied."""
        try:
            return _read(_map(path))
        except PackageError as error:
            raise PackageError(f"{os.fspath(path)}: {error}") from None
        except OSError as error:
            raise PackageError(f"{os.fspath(path)}: cannot be read: {error.strerror}") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file as a whole or not at all; the same package gives the same bytes."""
        text = memoryview(self.manifest.to_json().encode())
        target = Path(path)
        draft = target.parent / f".{target.name}.{os.urandom(4).hex()}"
        try:
            _write(draft, {MANIFEST_ENTRY: text, **self.entries})
            draft.replace(target)
            _flush_folder(target.parent)
        except OSError as error:
            raise PackageError(f"{target}: cannot be written: {error.strerror}") from None
        finally:
            with suppress(OSError):
                draft.unlink()

    @property
    def weights(self) -> memoryview:
        """Return the bytes of all constants."""
        return self.entries.get(WEIGHTS_ENTRY, memoryview(b""))


def _bytes_of(data: bytes | bytearray | memoryview) -> memoryview:
    view = memoryview(data)
    return view.cast("B").toreadonly() if view.nbytes else memoryview(b"")


def _map(path: str | os.PathLike[str]) -> memoryview:
    with open(path, "rb") as file:
        if not os.fstat(file.fileno()).st_size:
            raise PackageError("is not a package: it is empty")
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _read(data: memoryview) -> Package:
    members = archive.read(data)
    views = {name: data[m.offset : m.offset + m.size] for name, m in members.items()}
    if MANIFEST_ENTRY not in views:
        raise PackageError(f"is not a package: it has no '{MANIFEST_ENTRY}'")
    text = views.pop(MANIFEST_ENTRY)
    if zlib.crc32(text) != members[MANIFEST_ENTRY].crc:
        raise PackageError(f"is corrupt: the checksum of '{MANIFEST_ENTRY}' differs")
    manifest = Manifest.from_json(bytes(text))
    _check_entries(manifest, views)
    check(manifest)
    return Package(manifest, views)


def _check_entries(manifest: Manifest, views: Mapping[str, memoryview]) -> None:
    names = [entry.name for entry in manifest.entries]
    if sorted(names) != sorted(views):
        odd = sorted(set(names) ^ set(views)) or names
        raise PackageError(f"is corrupt: its manifest and its entries differ in {', '.join(odd)}")
    for entry in manifest.entries:
        data = views[entry.name]
        if len(data) != entry.size:
            raise PackageError(
                f"is corrupt: '{entry.name}' has {len(data)} bytes, must have {entry.size}"
            )
        if checksum(data) != entry.checksum:
            raise PackageError(f"is corrupt: the checksum of '{entry.name}' differs")


def _write(path: Path, entries: Mapping[str, memoryview]) -> None:
    with open(path, "xb") as file:
        archive.write(file, entries)
        file.flush()
        os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    # A rename lasts through a power cut once its folder is on disk; not every file system can.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
