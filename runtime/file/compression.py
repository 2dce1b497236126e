"""Constants that a package stores compressed, in an entry of another name."""

from collections.abc import Mapping

from ..contents import Entry
from ..errors import PackageError
from ..fork import ForkSafeLock

SUFFIX = ".zst"
"""What the name of an entry ends in where its content is a frame of zstandard."""

LEVEL = 9
"""How much work compression may be: weights get no smaller at higher levels."""


def compressed(entries: Mapping[str, memoryview], names: frozenset[str]) -> dict[str, memoryview]:
    """Return all entries, those of some names compressed; RunError without zstandard."""
    from .zstandard_frames import compress

    made: dict[str, memoryview] = {}
    for name, data in entries.items():
        if name in names:
            made[name + SUFFIX] = memoryview(compress(data, LEVEL))
        else:
            made[name] = data
    return made


def decompressed(entries: Mapping[str, memoryview], name: str, size: int) -> memoryview:
    """Return the `size` bytes of constants, whichever way they are stored.

    Raises PackageError for a frame of any other size, RunError without zstandard.
    """
    stored = entries.get(name + SUFFIX)
    if stored is None:
        return entries.get(name, memoryview(b""))
    from .zstandard_frames import decompress

    try:
        return decompress(stored, size)
    except PackageError as error:
        raise PackageError(f"is corrupt: '{name}{SUFFIX}' {error}") from None


class Decompressed:
    """Hold the content of compressed entries: equal ones of a package are there once."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, str], memoryview] = {}
        self._lock = ForkSafeLock()

    def get(
        self, entry: Entry, entries: Mapping[str, memoryview], name: str, size: int
    ) -> memoryview:
        """Return the constants that `entry` has compressed."""
        key = entry.size, entry.checksum
        with self._lock:
            if key not in self._found:
                self._found[key] = decompressed(entries, name, size)
            found = self._found[key]
        if len(found) != size:
            raise PackageError(
                f"is corrupt: '{entry.name}' has {len(found)} bytes, must have {size}"
            )
        return found
