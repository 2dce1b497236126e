"""The bytes of entries, each of which is checked when it is first used."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..contents import Entry
from ..errors import PackageError
from ..fork import ForkSafeLock
from .checksum import has_checksum
from .vouching import RANGE

Span = tuple[int, int]
"""The begin and the end of some bytes of an entry."""


class _Unchecked:
    """Hold the checksums of an entry with which its bytes were not compared yet, by number."""

    def __init__(self, entry: Entry) -> None:
        sums = entry.ranges or (entry.checksum,)
        self.spelled = f"'{entry.name}' in '{entry.file}'" if entry.file else f"'{entry.name}'"
        self._step = RANGE if entry.ranges else max(entry.size, 1)
        self.left = dict(enumerate(sums))

    def touched(self, spans: Iterable[Span]) -> set[int]:
        """Return the numbers of ranges that are unchecked and have bytes of the spans."""
        step = self._step
        numbers = (range(a // step, -(-b // step)) for a, b in spans if a < b)
        return self.left.keys() & {number for each in numbers for number in each}

    def compare(self, number: int, data: memoryview) -> bool:
        """Compare a range of the entry with its checksum; return whether they are equal."""
        start = number * self._step
        if not has_checksum(data[start : start + self._step], self.left[number]):
            return False
        del self.left[number]
        return True


class CheckedEntries(Mapping[str, memoryview]):
    """Offer the bytes of entries by name; the first use of each compares its checksums.

    Raises PackageError where one differs, at every use. `where` begins that error, such as the path
    of the file. What is not among `entries` is right as it is.
    """

    def __init__(
        self, views: Mapping[str, memoryview], entries: Sequence[Entry] = (), where: str = ""
    ) -> None:
        self._views = views
        self._unchecked = {entry.name: _Unchecked(entry) for entry in entries}
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
        """Return whether the entry, if there is one, has been compared with all its checksums."""
        return name not in self._unchecked

    def check(self, name: str, spans: Sequence[Span] | None = None) -> None:
        """Compare an entry, if there is one, with its checksums, unless that was done.

        With `spans`, only the ranges that have bytes of these are read.
        """
        with self._lock:  # who comes second waits for the first
            found = self._unchecked.get(name)
            if found is None:
                return
            for number in sorted(found.left if spans is None else found.touched(spans)):
                if not found.compare(number, self._views[name]):
                    raise PackageError(
                        f"{self._where}is corrupt: the checksum of {found.spelled} differs"
                    )
            if not found.left:
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

    def check(self, name: str, spans: Sequence[Span] | None = None) -> None:
        if name in self._names:
            self._whole.check(self._names[name], spans)
