"""Files beside that of a package, with some of its entries: several packages may share one."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from typing import NamedTuple

import numpy as np

from ..contents import Entry
from ..errors import PackageError
from .atomic_file import atomic_file
from .file_bytes import Identity, MappedFile, identity_of, read_file, share_mapping

_CHUNK = 16 << 20


class Beside(NamedTuple):
    """Name a file in the folder of a package, with its path and the entries that it has."""

    name: str
    path: str
    entries: tuple[Entry, ...]

    @property
    def size(self) -> int:
        """Return how many bytes the file must have."""
        return max(entry.offset + entry.size for entry in self.entries)

    def open(self, mapped: bool) -> tuple[memoryview, MappedFile | None]:
        """Return the bytes of the file, and its mapping; raise PackageError for one that is not it.

        Of its content, nothing is checked but the size.
        """
        try:
            found = os.path.getsize(self.path)
            if found != self.size or not os.path.isfile(self.path):
                raise PackageError(
                    f"needs file '{self.name}' of {self.size} bytes beside it, which has {found}: "
                    "take the one that was saved with it"
                )
            if not mapped:
                return read_file(self.path), None
            file = share_mapping(MappedFile(self.path))
            return file.data, file
        except OSError as error:
            raise PackageError(
                f"needs file '{self.name}' beside it, which cannot be read: {error.strerror}"
            ) from None

    def has(self, views: Mapping[str, memoryview]) -> bool:
        """Return whether the file is there and has the bytes of its entries."""
        if not os.path.isfile(self.path) or os.path.getsize(self.path) != self.size:
            return False
        data = MappedFile(self.path).data
        return all(
            _equal(data[each.offset : each.offset + each.size], views[each.name])
            for each in self.entries
        )

    def write(self, stack: ExitStack, views: Mapping[str, memoryview]) -> None:
        """Write the file anew; it replaces an earlier one when the stack is left."""
        file = stack.enter_context(atomic_file(self.path, sync=True))
        for each in self.entries:
            file.write(bytes(each.offset - file.tell()))
            file.write(views[each.name])


def files_beside(path: str, entries: Iterable[Entry]) -> Iterator[Beside]:
    """Yield the files of entries that are not in the package at a path.

    Raises PackageError for one that is not in the folder of the package, or is the package.
    """
    listed: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.file:
            listed.setdefault(entry.file, []).append(entry)
    folder = os.path.dirname(path) or os.curdir
    for name, found in listed.items():
        beside = os.path.join(folder, name)
        real = os.path.realpath(beside)
        if not real.startswith(os.path.join(os.path.realpath(folder), "")):
            raise PackageError(f"names file '{name}', which a link leads out of its folder")
        if real == os.path.realpath(path):
            raise PackageError(f"names file '{name}', which is the package itself")
        yield Beside(name, beside, tuple(sorted(found, key=lambda entry: entry.offset)))


def identities_beside(path: str, entries: Iterable[Entry]) -> tuple[Identity, ...]:
    """Return what identifies the files beside a package as they are now; raises OSError."""
    return tuple(identity_of(os.stat(each.path)) for each in files_beside(path, entries))


def write_beside(
    stack: ExitStack,
    path: str,
    entries: Iterable[Entry],
    views: Mapping[str, memoryview],
    replaceable: Callable[[], Collection[str]],
) -> None:
    """Write the files beside a package that are not there with the same bytes.

    They appear when the stack is left. Raises PackageError for a file that has other bytes and is
    not `replaceable`, and for one that cannot be written.
    """
    try:
        files = list(files_beside(path, entries))
    except PackageError as error:
        raise PackageError(f"{path}: {error}") from None
    for each in files:
        try:
            if each.has(views):
                continue
            if os.path.lexists(each.path) and each.name not in replaceable():
                raise PackageError(
                    f"{each.path}: has other bytes and does not belong to the package that is "
                    "replaced: choose another name for the file, or remove it"
                )
            each.write(stack, views)
        except OSError as error:
            raise PackageError(f"{each.path}: cannot be written: {error.strerror}") from None


def _equal(one: memoryview, other: memoryview) -> bool:
    if len(one) != len(other):
        return False
    a, b = np.frombuffer(one, np.uint8), np.frombuffer(other, np.uint8)
    parts = (slice(start, start + _CHUNK) for start in range(0, len(one), _CHUNK))
    return all(np.array_equal(a[part], b[part]) for part in parts)
