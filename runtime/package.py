"""Open and save a package: one file that holds all a session needs."""

import os
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from . import archive
from .atomic_file import atomic_file
from .checks import WEIGHTS_ENTRY, check
from .checksum import checksum
from .errors import PackageError
from .file_bytes import MappedFile, read_file
from .manifest import Entry, Manifest
from .spelling import spell_interface

MANIFEST_ENTRY = "manifest.json"
SUFFIX = ".trv"
"""How the name of a package ends, by which tools tell it from a model."""


@dataclass(frozen=True, repr=False)
class Package:
    """Hold a checked manifest and the bytes of every entry it vouches for, by name.

    `file` is the file that is mapped, None where the bytes are in memory.
    """

    manifest: Manifest
    entries: Mapping[str, memoryview]
    file: MappedFile | None = field(default=None, compare=False)

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
    def open(path: str | os.PathLike[str], *, mmap: bool = True) -> "Package":
        """Open a file and check all of it.

        The file is mapped and no entry is copied, unless `mmap` is False. A mapped file must not
        be changed in place: it is replaced by rename, as `save` does it.
        """
        try:
            if not mmap:
                return _read(read_file(path))
            file = MappedFile(path)
            return replace(_read(file.data), file=file)
        except PackageError as error:
            raise PackageError(f"{os.fspath(path)}: {error}") from None
        except OSError as error:
            raise PackageError(f"{os.fspath(path)}: cannot be read: {error.strerror}") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file as a whole or not at all; the same package gives the same bytes.

        A file of that name is replaced by rename: sessions that have mapped it keep the old one.
        """
        self.check_unchanged()
        text = memoryview(self.manifest.to_json().encode())
        try:
            with atomic_file(path, sync=True) as file:
                archive.write(file, {MANIFEST_ENTRY: text, **self.entries})
        except OSError as error:
            raise PackageError(f"{os.fspath(path)}: cannot be written: {error.strerror}") from None

    def check_unchanged(self) -> None:
        """Raise PackageError where the mapped file was changed in place after it was opened."""
        if self.file is None or not self.file.touched:
            return
        try:
            if self.file.truncated:
                raise PackageError("is truncated")
            _check_entries(self.manifest, self.entries)
        except PackageError:
            raise PackageError(
                f"{self.file.path}: was changed in place after it was opened: replace a package in "
                "use by renaming a new file to its name, or open it with mmap=False"
            ) from None
        self.file.accept()

    @property
    def weights(self) -> memoryview:
        """Return the bytes of all constants."""
        return self.entries.get(WEIGHTS_ENTRY, memoryview(b""))

    def __repr__(self) -> str:
        size = sum(entry.size for entry in self.manifest.entries)
        interface = spell_interface(self.manifest)
        return f"<trivium.Package{interface}, for {self.manifest.target}, {size} bytes>"


def _bytes_of(data: bytes | bytearray | memoryview) -> memoryview:
    view = memoryview(data)
    return view.cast("B").toreadonly() if view.nbytes else memoryview(b"")


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
