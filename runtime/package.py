"""Open and save a package: one file that holds all a session needs."""

import mmap
import os
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from . import archive
from .atomic_file import atomic_file
from .checks import WEIGHTS_ENTRY, check
from .checksum import checksum
from .errors import PackageError
from .manifest import Entry, Manifest

MANIFEST_ENTRY = "manifest.json"
SUFFIX = ".trv"
"""How the name of a package ends, by which tools tell it from a model."""


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
        try:
            with atomic_file(path, sync=True) as file:
                archive.write(file, {MANIFEST_ENTRY: text, **self.entries})
        except OSError as error:
            raise PackageError(f"{os.fspath(path)}: cannot be written: {error.strerror}") from None

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
    listed = Counter(entry.name for entry in manifest.entries)
    for name, count in listed.items():
        if count > 1:
            raise PackageError(f"is corrupt: its manifest lists entry '{name}' {count} times")
        if name not in views:
            raise PackageError(f"is corrupt: it lacks entry '{name}', which its manifest lists")
    for name in views:
        if name not in listed:
            raise PackageError(f"has an entry '{name}', which its manifest does not list")
    for entry in manifest.entries:
        data = views[entry.name]
        if len(data) != entry.size:
            raise PackageError(
                f"is corrupt: '{entry.name}' has {len(data)} bytes, must have {entry.size}"
            )
        if checksum(data) != entry.checksum:
            raise PackageError(f"is corrupt: the checksum of '{entry.name}' differs")
