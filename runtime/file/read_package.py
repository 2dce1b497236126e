"""Read the file of a package, and those beside it, and check what is used first."""

import zlib
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from ..checks import check
from ..contents import SIGNATURE_ENTRY
from ..errors import PackageError
from ..manifest import Manifest
from . import archive
from .checked_entries import CheckedEntries
from .file_bytes import MappedFile
from .vouching import check_entry

if TYPE_CHECKING:
    from .signature import Signature

MANIFEST_ENTRY = "manifest.json"


class Opened(NamedTuple):
    """Hold what a package is made of; `files` are those beside it that are mapped."""

    manifest: Manifest
    entries: CheckedEntries
    signature: "Signature | None"
    files: tuple[MappedFile, ...]


def read_package(
    data: memoryview, path: str = "", *, accepted: tuple[bytes, ...] = (), mapped: bool = False
) -> Opened:
    """Read and check a package; the entries of a mapped one are checked when they are used.

    Without a path, it cannot have entries in files beside it. Raises PackageError.
    """
    views, signature = _verified(data, accepted)
    manifest = Manifest.from_json(bytes(views.pop(MANIFEST_ENTRY)))
    _check_listed(manifest, views)
    files = _open_beside(path, manifest, views, mapped)
    _check_sizes(manifest, views)
    entries = CheckedEntries(views, manifest.entries, f"{path}: " if mapped else "")
    if not mapped:
        entries.check_all()
    check(manifest)
    return Opened(manifest, entries, signature, files)


def manifest_of(data: memoryview) -> Manifest:
    """Return the manifest of a package, of which no more is checked; raises PackageError."""
    views, _ = _verified(data, ())
    return Manifest.from_json(bytes(views[MANIFEST_ENTRY]))


def _verified(
    data: memoryview, accepted: tuple[bytes, ...]
) -> tuple[dict[str, memoryview], "Signature | None"]:
    """Return the entries in the file, and the signature, if any.

    Raises PackageError where one of some keys must have signed them, and none has.
    """
    members = archive.read(data)
    views = {name: data[m.offset : m.offset + m.size] for name, m in members.items()}
    if MANIFEST_ENTRY not in views:
        raise PackageError(f"is not a package: it has no '{MANIFEST_ENTRY}'")
    for name in (MANIFEST_ENTRY, SIGNATURE_ENTRY):
        if name in views and zlib.crc32(views[name]) != members[name].crc:
            raise PackageError(f"is corrupt: the checksum of '{name}' differs")
    signed = views.pop(SIGNATURE_ENTRY, None)
    if signed is None and not accepted:
        return views, None
    from .signature import Signature, verify

    found = None if signed is None else Signature.decode(signed)
    if accepted:
        verify(views, found, accepted)
    return views, found


def _open_beside(
    path: str, manifest: Manifest, views: dict[str, memoryview], mapped: bool
) -> tuple[MappedFile, ...]:
    """Add the entries in files beside a package to those in it; return the mapped files."""
    apart = [each.file for each in manifest.entries if each.file]
    if not apart:
        return ()
    if not path:
        raise PackageError(f"needs file '{apart[0]}' beside it: open the package by its path")
    from .external import files_beside

    files: list[MappedFile] = []
    for beside in files_beside(path, manifest.entries):
        data, file = beside.open(mapped)
        files += [file] if file else []
        for each in beside.entries:
            views[each.name] = data[each.offset : each.offset + each.size]
    return tuple(files)


def _check_listed(manifest: Manifest, views: Mapping[str, memoryview]) -> None:
    apart = {entry.name for entry in manifest.entries if entry.file}
    listed = Counter(entry.name for entry in manifest.entries)
    for name, count in listed.items():
        if count > 1:
            raise PackageError(f"is corrupt: its manifest lists entry '{name}' {count} times")
        if name not in views and name not in apart:
            raise PackageError(f"is corrupt: it lacks entry '{name}', which its manifest lists")
    for name in views:
        if name not in listed or name in apart:
            raise PackageError(f"has an entry '{name}', which its manifest does not list")
    for entry in manifest.entries:
        check_entry(entry)


def _check_sizes(manifest: Manifest, views: Mapping[str, memoryview]) -> None:
    for entry in manifest.entries:
        data = views[entry.name]
        if len(data) != entry.size:
            raise PackageError(
                f"is corrupt: '{entry.name}' has {len(data)} bytes, must have {entry.size}"
            )
