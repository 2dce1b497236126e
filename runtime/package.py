"""Open and save a package: one file that holds all a session needs."""

import os
import zlib
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import field, replace
from functools import cached_property
from io import BytesIO
from pickle import PickleBuffer
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias, cast
from weakref import WeakValueDictionary

from .checks import check
from .contents import SIGNATURE_ENTRY, WEIGHTS_ENTRY, Entry
from .errors import PackageError, RunError
from .file import archive
from .file.checked_entries import CheckedEntries
from .file.checksum import checksum
from .file.compression import SUFFIX, Decompressed, compressed
from .file.file_bytes import Identity, MappedFile, path_of, read_file
from .frozen import Frozen
from .manifest import ExactProgram, Manifest

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .file.signature import Key, Keys, Signature

Bytes: TypeAlias = bytes | bytearray | memoryview
"""The bytes of the file of a package."""

MANIFEST_ENTRY = "manifest.json"


class Package(Frozen):
    """Hold a checked manifest and the bytes of every entry it vouches for, by name.

    `file` is the file that is mapped, None where the bytes are in memory. The entries of a mapped
    file are compared with their checksums when they are first used: see `open`. Those that are in
    memory were compared.
    """

    manifest: Manifest
    entries: CheckedEntries
    signature: "Signature | None" = None
    file: MappedFile | None = field(default=None, compare=False)
    decompressed: Decompressed = field(default_factory=Decompressed, compare=False)

    @staticmethod
    def create(
        manifest: Manifest, entries: Mapping[str, bytes | bytearray | memoryview]
    ) -> "Package":
        """Put a package together; fills in `manifest.entries` and checks it all."""
        views = {name: _bytes_of(entries[name]) for name in sorted(entries)}
        for name in (MANIFEST_ENTRY, SIGNATURE_ENTRY):
            if name in views:
                raise PackageError(f"entry '{name}' is written by save, must not be given")
        vouched = tuple(_vouched(name, data) for name, data in views.items())
        # By way of its text, so that it is exactly what open will find.
        manifest = Manifest.from_json(replace(manifest, entries=vouched).to_json())
        check(manifest)
        return Package(manifest, CheckedEntries(views))

    @staticmethod
    def open(
        path: "str | os.PathLike[str] | Bytes",
        *,
        mmap: bool | None = None,
        key: "Keys | None" = None,
        check: bool = False,
    ) -> "Package":
        """Open a file, or what `to_bytes` has returned, and check it.

        A file is mapped, and no entry is copied, unless `mmap` is False. Of a mapped file, the
        manifest and the places of entries are checked, but the bytes of an entry not before they
        are first used; with `check`, these are read and checked, too. One that is mapped by now,
        and that nobody has changed, is not checked again. A mapped file must not be changed in
        place: it is replaced by rename, as `save` does it. With `key`, public keys
        in PEM form by path or as bytes, a package that none of them has signed is refused before
        anything in it is used; it is then read into memory, because a mapped file could change
        after the verification.

        Raises PackageError for a file that is refused, RunError for a wrong argument.
        """
        accepted = _public_keys(key)
        if accepted and mmap:
            raise RunError("mmap is True, must be left out with key: a map could change later")
        if (data := _given_bytes(path)) is not None:
            if mmap:
                raise RunError("mmap is True, must be left out with bytes: they are in memory")
            return _read(data, accepted)
        path = path_of(path)
        try:
            if accepted or mmap is False:
                return _read(read_file(path), accepted)
            package = _mapped(path)
        except PackageError as error:
            raise PackageError(f"{path}: {error}") from None
        except OSError as error:
            raise PackageError(f"{path}: cannot be read: {error.strerror}") from None
        if check:
            package.check_entries()
        return package

    def check_entries(self) -> None:
        """Read all entries that were not used yet; raise PackageError for a wrong checksum."""
        self.entries.check_all()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file as a whole or not at all; the same package gives the same bytes.

        A file of that name is replaced by rename: sessions that have mapped it keep the old one.
        """
        from .file.atomic_file import atomic_file

        path = path_of(path)
        self.check_unchanged()
        try:
            with atomic_file(path, sync=True) as file:
                archive.write(file, self._signed_contents())
        except OSError as error:
            raise PackageError(f"{path}: cannot be written: {error.strerror}") from None

    def to_bytes(self) -> bytes:
        """Return what `save` writes to a file."""
        self.check_unchanged()
        file = BytesIO()
        archive.write(file, self._signed_contents())
        return file.getvalue()

    def __reduce_ex__(self, protocol: SupportsIndex, /) -> tuple[Any, ...]:
        """Pickle the bytes of the file, from protocol 5 on as a buffer.

        Whoever moves buffers beside the pickle, as Ray does, maps the package where it is read.
        """
        data = self.to_bytes()
        return _unpickled, (PickleBuffer(data) if int(protocol) >= 5 else data,)

    def without(self, names: Collection[str]) -> "Package":
        """Return the package without entries of some names, also of programs for exact sizes.

        It has no signature. Runs may need them: what is left is not checked for that.
        """
        self.check_unchanged()
        exact = tuple(
            replace(each, manifest=_without(each.manifest, names)) for each in self.manifest.exact
        )
        kept = {name: data for name, data in self.entries.items() if _own_name(name) not in names}
        return Package.create(replace(self.manifest, exact=exact), kept)

    def compressed(self) -> "Package":
        """Return the package with its constants compressed; sessions decompress them to memory.

        It has no signature. Raises RunError where zstandard is not installed.
        """
        self.check_unchanged()
        spaces = (space for p in (self, *self.exact) for space in p.manifest.spaces)
        names = frozenset({WEIGHTS_ENTRY, *(space.weights_entry for space in spaces)})
        whole = {name for name in self.entries if _own_name(name) in names}
        entries = compressed(self.entries, frozenset(whole))
        made = {name: _vouched(name + SUFFIX, entries[name + SUFFIX]) for name in whole}
        stored = {(e.size, e.checksum): e.name for e in self.manifest.entries}
        exact: list[ExactProgram] = []
        for program in self.manifest.exact:
            listed = (
                replace(made[kept], name=each.name + SUFFIX)
                if (kept := stored[each.size, each.checksum]) in made
                else each
                for each in program.manifest.entries
            )
            exact.append(
                replace(program, manifest=replace(program.manifest, entries=tuple(listed)))
            )
        return Package.create(replace(self.manifest, exact=tuple(exact)), entries)

    def with_weights(self, given: "Mapping[str, ArrayLike]") -> "Package":
        """Return the package with other weights, by their names in the source model.

        It has no signature. Raises RunError unless the package was compiled with `refit`, and for
        names, shapes and types that are not those of its weights.
        """
        from .refit.part import RefitPart

        manifest = self.manifest
        part = next((each for each in manifest.parts if isinstance(each, RefitPart)), None)
        if part is None:
            raise RunError("the package keeps its weights: compile the model again with refit=True")
        made = part.written(self.weights, given)
        is_compressed = WEIGHTS_ENTRY + SUFFIX in self.entries
        others = {n: d for n, d in self.entries.items() if n.removesuffix(SUFFIX) != WEIGHTS_ENTRY}
        package = Package.create(manifest, {**others, WEIGHTS_ENTRY: made})
        return package.compressed() if is_compressed else package

    def sign(self, key: "Key") -> "Package":
        """Return the package with a signature by a private Ed25519 key, which is a PEM file.

        Raises RunError for a key that cannot sign, and where cryptography is not installed.
        """
        from .file import signature

        self.check_unchanged()
        return replace(self, signature=signature.sign(self._contents(), key))

    def check_unchanged(self) -> None:
        """Raise PackageError where the mapped file was changed in place after it was opened."""
        if self.file is None or not self.file.touched:
            return
        try:
            if self.file.truncated:
                raise PackageError("is truncated")
            CheckedEntries(self.entries.unchecked, self.manifest.entries).check_all()
        except PackageError:
            raise PackageError(
                f"{self.file.path}: was changed in place after it was opened: replace a package in "
                "use by renaming a new file to its name, or open it with mmap=False"
            ) from None
        self.file.accept()

    @property
    def weights(self) -> memoryview:
        """Return the bytes of all constants."""
        name, size = WEIGHTS_ENTRY, self.manifest.memory.weight_bytes
        for entry in self.manifest.entries:
            if entry.name == name + SUFFIX:
                return self.decompressed.get(entry, self.entries, name, size)
        return self.entries.get(name, memoryview(b""))

    @property
    def unchecked_weights(self) -> memoryview:
        """Return the bytes of all constants, for whom calls `check_weights` before using them."""
        return self.entries.unchecked.get(WEIGHTS_ENTRY) or self.weights

    @property
    def has_checked_weights(self) -> bool:
        """Return whether the bytes of constants have been compared with their checksum."""
        return self.entries.is_checked(WEIGHTS_ENTRY)

    def check_weights(self) -> None:
        """Compare the bytes of constants with their checksum; raise PackageError if it differs."""
        self.check_unchanged()
        self.entries.check(WEIGHTS_ENTRY)

    @cached_property
    def exact(self) -> "tuple[Package, ...]":
        """Return the programs for exact sizes, in the order of the manifest, as packages."""
        stored = {(each.size, each.checksum): each.name for each in self.manifest.entries}
        return tuple(
            Package(
                program.manifest,
                self.entries.selected(
                    {e.name: stored[e.size, e.checksum] for e in program.manifest.entries}
                ),
                decompressed=self.decompressed,
            )
            for program in self.manifest.exact
        )

    def _contents(self) -> dict[str, memoryview]:
        """Return what the file holds, but for the signature."""
        return {MANIFEST_ENTRY: memoryview(self.manifest.to_json().encode()), **self.entries}

    def _signed_contents(self) -> dict[str, memoryview]:
        """Return all that the file holds."""
        contents = self._contents()
        if self.signature is not None:
            contents[SIGNATURE_ENTRY] = memoryview(self.signature.encode())
        return contents

    def __repr__(self) -> str:
        from .spelling import spell_interface

        size = sum(entry.size for entry in self.manifest.entries)
        signed = f", signed by {self.signature.fingerprint}" if self.signature else ""
        interface = spell_interface(self.manifest)
        return f"<trivium.Package{interface}, for {self.manifest.target}, {size} bytes{signed}>"


_OPEN: "WeakValueDictionary[Identity, Package]" = WeakValueDictionary()
"""The packages whose files are mapped, by what identifies a file that nobody has changed."""


def _mapped(path: str) -> Package:
    """Map a file, and check it; where it is mapped already, return that package."""
    file = MappedFile(path)
    found = _OPEN.get(file.identity)
    if found is not None:
        found.check_unchanged()
        return found
    package = replace(_read(file.data, where=f"{path}: "), file=file)
    return _OPEN.setdefault(file.identity, package)


def _vouched(name: str, data: memoryview) -> Entry:
    return Entry(name, len(data), checksum(data))


def _without(manifest: Manifest, names: Collection[str]) -> Manifest:
    return replace(manifest, entries=tuple(e for e in manifest.entries if e.name not in names))


def _own_name(name: str) -> str:
    """Return the name of an entry in its program: those of exact sizes have folders."""
    return name.split("/", 2)[2] if name.startswith("exact/") else name


def _unpickled(data: "bytes | PickleBuffer") -> Package:
    return Package.open(memoryview(data))


def _given_bytes(source: object) -> memoryview | None:
    """Return the bytes of a package that are given in place of a path, or None for a path.

    A path may be bytes, too, but begins as no archive does.
    """
    if isinstance(source, bytes) and not source.startswith(archive.MARK):
        return None
    if not isinstance(source, bytes | bytearray | memoryview):
        return None
    return memoryview(cast("Bytes", source)).cast("B").toreadonly()


def _bytes_of(data: bytes | bytearray | memoryview) -> memoryview:
    view = memoryview(data)
    return view.cast("B").toreadonly() if view.nbytes else memoryview(b"")


def _public_keys(key: "Keys | None") -> tuple[bytes, ...]:
    if key is None:
        return ()
    from .file.signature import public_keys

    return public_keys(key)


def _read(
    data: memoryview, accepted: tuple[bytes, ...] = (), *, where: str | None = None
) -> Package:
    """Check a file; with `where`, the entries are checked when used, and errors begin with it."""
    members = archive.read(data)
    views = {name: data[m.offset : m.offset + m.size] for name, m in members.items()}
    if MANIFEST_ENTRY not in views:
        raise PackageError(f"is not a package: it has no '{MANIFEST_ENTRY}'")
    for name in (MANIFEST_ENTRY, SIGNATURE_ENTRY):
        if name in views and zlib.crc32(views[name]) != members[name].crc:
            raise PackageError(f"is corrupt: the checksum of '{name}' differs")
    signed = views.pop(SIGNATURE_ENTRY, None)
    found = _verified(signed, views, accepted) if accepted or signed is not None else None
    manifest = Manifest.from_json(bytes(views.pop(MANIFEST_ENTRY)))
    _check_listed(manifest, views)
    entries = CheckedEntries(views, manifest.entries, where or "")
    if where is None:
        entries.check_all()
    check(manifest)
    return Package(manifest, entries, found)


def _verified(
    signed: memoryview | None, views: Mapping[str, memoryview], accepted: tuple[bytes, ...]
) -> "Signature | None":
    """Read the signature of a package, if any; raise PackageError unless it is accepted."""
    from .file.signature import Signature, verify

    found = None if signed is None else Signature.decode(signed)
    if accepted:
        verify(views, found, accepted)
    return found


def _check_listed(manifest: Manifest, views: Mapping[str, memoryview]) -> None:
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
