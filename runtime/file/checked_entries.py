"""The bytes of entries, each of which is checked when it is first used."""

from collections.abc import Iterator, Mapping, Sequence

from ..contents import Entry
from ..errors import PackageError
from ..fork import ForkSafeLock
from .checksum import checksum


class CheckedEntries(Mapping[str, memoryview]):
    """Offer the bytes of entries by name; the first use of each compares its checksum.

    Raises PackageError where it differs, at every use. `where` begins that error, such as the path
    of the file. What is not among `entries` is right as it is.
    """

    def __init__(
        self, views: Mapping[str, memoryview], entries: Sequence[Entry] = (), where: str = ""
    ) -> None:
        self._views = views
        self._unchecked = {entry.name: entry.checksum for entry in entries}
        self._where = where
        self._lock = ForkSafeLock()

    def __getitem__(self, name: str) -> memoryview:
        view = self._views[name]
        if name in self._unchecked:
            self.check(name)
        return view

    def __iter__(self) -> Iterator[str]:
        return iter(self._views)

    def __len__(self) -> int:
        return len(self._views)

    def __contains__(self, name: object) -> bool:
        return name in self._views

    @property
    def unchecked(self) -> Mapping[str, memoryview]:
        """Return the bytes as they are: who uses them must `check` before."""
        return self._views

    def is_checked(self, name: str) -> bool:
        """Return whether the entry, if there is one, has been compared with its checksum."""
        return name not in self._unchecked

    def check(self, name: str) -> None:
        """Compare an entry, if there is one, with its checksum, unless that was done."""
        with self._lock:  # who comes second waits for the first
            wanted = self._unchecked.get(name)
            if wanted is None:
                return
            if checksum(self._views[name]) != wanted:
                raise PackageError(f"{self._where}is corrupt: the checksum of '{name}' differs")
            del self._unchecked[name]

    def check_all(self) -> None:
        """Compare all entries with their checksums, those that were compared left out."""
        for name in self:
            self.check(name)

    def selected(self, names: Mapping[str, str]) -> "CheckedEntries":
        """Return some of the entries under other names: each key is the new name of its value."""
        return _Selected(self, names)


class _Selected(CheckedEntries):
    """Offer entries of another mapping under other names; what is checked there is checked here."""

    def __init__(self, whole: CheckedEntries, names: Mapping[str, str]) -> None:
        self._whole = whole
        self._names = names

    def __getitem__(self, name: str) -> memoryview:
        return self._whole[self._names[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    @property
    def unchecked(self) -> Mapping[str, memoryview]:
        return {name: self._whole.unchecked[stored] for name, stored in self._names.items()}

    def is_checked(self, name: str) -> bool:
        return name not in self._names or self._whole.is_checked(self._names[name])

    def check(self, name: str) -> None:
        if name in self._names:
            self._whole.check(self._names[name])
