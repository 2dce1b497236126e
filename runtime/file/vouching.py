"""What a manifest says about the entries of a package: sizes, checksums, files of their own."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from ..contents import Entry
from ..errors import PackageError, RunError
from ..manifest import ExactProgram, Manifest
from . import archive
from .checksum import SHA256, checksum
from .compression import SUFFIX

RANGE = 2 << 20
"""How many bytes of an entry have a checksum of their own where it has more than these."""


def vouched(name: str, data: memoryview, file: str = "", offset: int = 0) -> Entry:
    """Return the entry of a manifest for some bytes, which are in a `file` of their own if named.

    Others may replace such a file, so its checksums keep forgers out.
    """
    if len(data) <= RANGE:
        return Entry(name, len(data), checksum(data, bool(file)), (), file, offset)
    parts = (data[at : at + RANGE] for at in range(0, len(data), RANGE))
    ranges = tuple(checksum(part, bool(file)) for part in parts)
    return Entry(name, len(data), _of_ranges(ranges), ranges, file, offset)


def listed(manifest: Manifest, views: Mapping[str, memoryview]) -> Manifest:
    """Return a manifest that vouches for the bytes of entries, those of programs included.

    What it lists in a file of its own stays there, one entry after another, each on a page.
    """
    files = {each.name.removesuffix(SUFFIX): each.file for each in manifest.entries}
    ends: dict[str, int] = {}
    entries: list[Entry] = []
    for name in sorted(views):
        file = files.get(name.removesuffix(SUFFIX), "")
        offset = -(-ends.get(file, 0) // archive.PAGE) * archive.PAGE if file else 0
        entries.append(vouched(name, views[name], file, offset))
        ends[file] = offset + len(views[name])
    exact = _renewed(manifest, {each.name: each for each in entries})
    return replace(manifest, entries=tuple(entries), exact=exact)


def _renewed(manifest: Manifest, entries: Mapping[str, Entry]) -> tuple[ExactProgram, ...]:
    """Return the programs for exact sizes with the checksums that their entries have now."""
    changed = {
        (old.size, old.checksum): entries[old.name]
        for old in manifest.entries
        if old.name in entries and old.checksum != entries[old.name].checksum
    }
    if not changed:
        return manifest.exact

    def renew(entry: Entry) -> Entry:
        new = changed.get((entry.size, entry.checksum))
        return replace(entry, size=new.size, checksum=new.checksum) if new else entry

    exact: list[ExactProgram] = []
    for program in manifest.exact:
        entries_of = tuple(map(renew, program.manifest.entries))
        exact.append(replace(program, manifest=replace(program.manifest, entries=entries_of)))
    return tuple(exact)


def check_entry(entry: Entry) -> None:
    """Raise PackageError unless an entry has checksums and a place as `vouched` gives them."""
    where = f"manifest: entry '{entry.name}'"
    count = -(-entry.size // RANGE) if entry.size > RANGE else 0
    if len(entry.ranges) != count:
        raise PackageError(
            f"{where} has {len(entry.ranges)} checksums of ranges, must have {count} for "
            f"{entry.size} bytes"
        )
    if count and entry.checksum != _of_ranges(entry.ranges):
        raise PackageError(f"{where} has a checksum that is not that of its {count} ranges")
    if entry.file:
        if fault := _fault_of_name(entry.file):
            raise PackageError(f"{where} has file {fault}")
        if not all(each.startswith(SHA256) for each in (entry.checksum, *entry.ranges)):
            raise PackageError(f"{where} is in file '{entry.file}', its checksums must be sha256")
    if entry.offset < 0 or entry.offset % archive.CACHE_LINE or (entry.offset and not entry.file):
        raise PackageError(
            f"{where} is at offset {entry.offset}, must be at a multiple of {archive.CACHE_LINE} "
            "in a file of its own, else at 0"
        )


def check_external(file: str, constants: Collection[str]) -> None:
    """Raise RunError unless a file in the folder of a package may have its constants."""
    if not constants:
        raise RunError(
            f"external_weights is '{file}', but the package has no constants: leave it out"
        )
    if fault := _fault_of_name(file):
        raise RunError(f"external_weights is {fault}")


def _fault_of_name(file: object) -> str:
    """Return why a name could be that of a file out of the folder of a package; empty if not."""
    if isinstance(file, str) and archive.is_name(file.encode(errors="replace")):
        return ""
    return f"{file!r}, must name a file in the folder of the package: {archive.NAMES}"


def _of_ranges(ranges: Sequence[str]) -> str:
    return checksum(memoryview(" ".join(ranges).encode()), strong=True)
