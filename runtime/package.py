"""Open and save a package: one file that holds all a session needs."""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import field, replace
from functools import cached_property
from io import BytesIO
from pickle import PickleBuffer
from typing import TYPE_CHECKING, Any, SupportsIndex
from weakref import WeakValueDictionary

from .checks import check
from .contents import SIGNATURE_ENTRY, WEIGHTS_ENTRY
from .errors import PackageError, RunError
from .file import archive
from .file.archive import Bytes, bytes_of, given_bytes
from .file.checked_entries import CheckedEntries, Span
from .file.compression import SUFFIX, Decompressed, compressed
from .file.file_bytes import Identity, MappedFile, path_of, read_file
from .file.optional_entries import checked_kinds, kept_kinds, kind_of, own_name
from .file.read_package import MANIFEST_ENTRY, manifest_of, read_package
from .file.vouching import check_external, listed
from .frozen import Frozen
from .manifest import Manifest

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .file.signature import Key, Keys, Signature


class Package(Frozen):
    """Hold a checked manifest and the bytes of every entry it vouches for, by name.

    `files` are those that are mapped, none where the bytes are in memory: that of the package, and
    those beside it. The entries of mapped files are compared with their checksums when they are
    first used: see `open`. Those that are in memory were compared.
    """

    manifest: Manifest
    entries: CheckedEntries
    signature: "Signature | None" = None
    files: tuple[MappedFile, ...] = field(default=(), compare=False)
    decompressed: Decompressed = field(default_factory=Decompressed, compare=False)

    @staticmethod
    def create(
        manifest: Manifest, entries: Mapping[str, bytes | bytearray | memoryview]
    ) -> "Package":
        """Put a package together; fills in `manifest.entries` and checks it all.

        Entries that the manifest lists in files beside the package stay there.
        """
        views = {name: bytes_of(entries[name]) for name in sorted(entries)}
        for name in (MANIFEST_ENTRY, SIGNATURE_ENTRY):
            if name in views:
                raise PackageError(f"entry '{name}' is written by save, must not be given")
        # By way of its text, so that it is exactly what open will find.
        manifest = Manifest.from_json(listed(manifest, views).to_json())
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
        if (data := given_bytes(path)) is not None:
            if mmap:
                raise RunError("mmap is True, must be left out with bytes: they are in memory")
            return _read(data, "", accepted)
        path = path_of(path)
        try:
            if accepted or mmap is False:
                return _read(read_file(path), path, accepted)
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

    def save(
        self,
        path: str | os.PathLike[str],
        external_weights: str | None = None,
        strip: Iterable[str] = (),
    ) -> None:
        """Write the file as a whole or not at all; the same package gives the same bytes.

        A file of that name is replaced by rename: sessions that have mapped it keep the old one.
        Constants are written to the file `external_weights` in its folder, as they are in
        `with_external_weights`, or, if that is None, where the package has them. Such a file is
        left as it is where it has these bytes; one that has others must belong to the package that
        is replaced. Entries of the kinds `strip` are left out, as `stripped` does it.
        """
        from .file.atomic_file import atomic_file
        from .file.external import write_beside

        path = path_of(path)
        if external_weights is not None:
            self.with_external_weights(external_weights).save(path, strip=strip)
            return
        if names := checked_kinds(strip):
            self.stripped(names).save(path)
            return
        self.check_unchanged()
        try:
            with ExitStack() as stack:
                file = stack.enter_context(atomic_file(path, sync=True))
                archive.write(file, self._signed_contents())
                apart = stack, path, self.manifest.entries, self.entries
                write_beside(*apart, lambda: _files_named_at(path))
        except OSError as error:
            raise PackageError(f"{path}: cannot be written: {error.strerror}") from None

    def to_bytes(self) -> bytes:
        """Return what `save` writes to a file; constants in a file beside it are among them."""
        if self._apart:
            return self.with_external_weights("").to_bytes()
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

    def with_external_weights(self, file: str) -> "Package":
        """Return the package with its constants in a file in its folder; in itself if that is "".

        Other packages may use the file, too. The result has no signature. Raises RunError for a
        name that could be outside of the folder, and where there are no constants.
        """
        self.check_unchanged()
        names = self._names_of_constants()
        if file:
            check_external(file, names)
        entries = (
            replace(each, file=file if each.name in names else "", offset=0)
            for each in self.manifest.entries
        )
        return Package.create(replace(self.manifest, entries=tuple(entries)), self.entries)

    def stripped(self, kinds: Iterable[str]) -> "Package":
        """Return the package without entries of some `KINDS`: `ir`, `calls`, `tuning`, `sources`.

        It has no signature. Raises RunError for other kinds.
        """
        self.check_unchanged()
        names = checked_kinds(kinds)

        def without(manifest: Manifest) -> Manifest:
            kept = (each for each in manifest.entries if kind_of(each.name) not in names)
            return replace(manifest, entries=tuple(kept))

        exact = (replace(e, manifest=without(e.manifest)) for e in self.manifest.exact)
        kept = {name: self.entries[name] for name in self.entries if kind_of(name) not in names}
        return Package.create(replace(self.manifest, exact=tuple(exact)), kept)

    @property
    def kept(self) -> tuple[str, ...]:
        """Return the kinds of entries in it that no run needs, as `stripped` takes them."""
        return kept_kinds(self.entries)

    def compressed(self) -> "Package":
        """Return the package with its constants compressed; sessions decompress them to memory.

        It has no signature. Raises RunError where zstandard is not installed.
        """
        self.check_unchanged()
        names = {name for name in self._names_of_constants() if not name.endswith(SUFFIX)}
        entries = compressed(self.entries, frozenset(names))
        stored = {(e.size, e.checksum) for e in self.manifest.entries if e.name in names}

        def renamed(manifest: Manifest) -> Manifest:
            changed = (
                replace(e, name=e.name + SUFFIX)
                if (e.size, e.checksum) in stored and e.name.endswith(WEIGHTS_ENTRY)
                else e
                for e in manifest.entries
            )
            return replace(manifest, entries=tuple(changed))

        exact = (replace(e, manifest=renamed(e.manifest)) for e in self.manifest.exact)
        return Package.create(replace(renamed(self.manifest), exact=tuple(exact)), entries)

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
        """Raise PackageError where a mapped file was changed in place after it was opened."""
        for file in self.files:
            if not file.touched:
                continue
            try:
                if file.truncated:
                    raise PackageError("is truncated")
                CheckedEntries(self.entries.unchecked, self.manifest.entries).check_all()
            except PackageError:
                raise PackageError(
                    f"{file.path}: was changed in place after it was opened: replace a package in "
                    "use by renaming a new file to its name, or open it with mmap=False"
                ) from None
            file.accept()

    def is_beside(self, path: str) -> bool:
        """Return whether the files that are mapped are those beside a path, unchanged."""
        if not self._apart:
            return True
        from .file.external import identities_beside

        with suppress(OSError, PackageError):
            found = identities_beside(path, self.manifest.entries)
            return found == tuple(file.identity for file in self.files[1:])
        return False

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
        """Return whether all bytes of constants have been compared with their checksums."""
        return self.entries.is_checked(WEIGHTS_ENTRY)

    def check_weights(self, spans: Sequence[Span] | None = None) -> None:
        """Compare the bytes of constants, or some of them, with their checksums.

        Raises PackageError where one differs.
        """
        self.check_unchanged()
        self.entries.check(WEIGHTS_ENTRY, spans)

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

    def _names_of_constants(self) -> frozenset[str]:
        """Return the names of the entries that have constants, those of programs among them."""
        spaces = (space for p in (self, *self.exact) for space in p.manifest.spaces)
        names = {WEIGHTS_ENTRY, *(space.weights_entry for space in spaces)}
        return frozenset(n for n in self.entries if own_name(n).removesuffix(SUFFIX) in names)

    @property
    def _apart(self) -> frozenset[str]:
        """Return the names of the entries that are not in the file of the package."""
        return frozenset(each.name for each in self.manifest.entries if each.file)

    def _contents(self) -> dict[str, memoryview]:
        """Return what the file holds, but for the signature."""
        inside = {name: self.entries[name] for name in self.entries if name not in self._apart}
        return {MANIFEST_ENTRY: memoryview(self.manifest.to_json().encode()), **inside}

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
    if found is not None and found.is_beside(path):
        found.check_unchanged()
        return found
    opened = read_package(file.data, path, mapped=True)
    package = Package(*opened[:3], files=(file, *opened.files))
    found = _OPEN.setdefault(file.identity, package)
    return found if found.is_beside(path) else package


def _read(data: memoryview, path: str, accepted: tuple[bytes, ...]) -> Package:
    """Check a package in memory."""
    return Package(*read_package(data, path, accepted=accepted))


def _files_named_at(path: str) -> set[str]:
    """Return the names of the files that belong to the package at a path, if there is one."""
    with suppress(PackageError, OSError):
        return {each.file for each in manifest_of(MappedFile(path).data).entries}
    return set()


def _unpickled(data: "bytes | PickleBuffer") -> Package:
    return Package.open(memoryview(data))


def _public_keys(key: "Keys | None") -> tuple[bytes, ...]:
    if key is None:
        return ()
    from .file.signature import public_keys

    return public_keys(key)
