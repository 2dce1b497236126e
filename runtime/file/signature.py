"""Sign packages, and refuse those that no accepted key has signed.

A signature covers the name, the size and the SHA-256 of every entry, the manifest among them. It is
an entry itself, so a package is signed without being compiled again, and a signature replaced.
"""

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from ..contents import SIGNATURE_ENTRY
from ..errors import PackageError, RunError
from ..frozen import Frozen

Key: TypeAlias = str | os.PathLike[str] | bytes
"""The path of a PEM file, or its bytes."""

Keys: TypeAlias = Key | Sequence[Key]

_FORM = "trivium signature 1\nkey {}\nsignature {}\n"
_TEXT = re.compile(_FORM.format("([0-9a-f]{64})", "([0-9a-f]{128})").encode())

# What comes before the 32 bytes of an Ed25519 key in SubjectPublicKeyInfo (RFC 8410).
_SUBJECT = bytes.fromhex("302a300506032b6570032100")


class Signature(Frozen):
    """The public key of the signer, 32 bytes, and the signature, 64 bytes."""

    key: bytes
    value: bytes

    @property
    def fingerprint(self) -> str:
        """Return the fingerprint of the key."""
        return fingerprint(self.key)

    def encode(self) -> bytes:
        """Return the bytes of the entry."""
        return _FORM.format(self.key.hex(), self.value.hex()).encode()

    @staticmethod
    def decode(data: memoryview) -> "Signature":
        """Read the entry; PackageError unless it is one that this version writes."""
        found = _TEXT.fullmatch(data)
        if found is None:
            raise PackageError(
                f"entry '{SIGNATURE_ENTRY}' is not a signature as this version writes it: sign "
                "the package again"
            )
        key, value = (bytes.fromhex(text.decode()) for text in found.groups())
        return Signature(key, value)


def fingerprint(key: bytes) -> str:
    """Return the SHA-256 of a public key as `openssl pkey -pubin -outform DER` writes it."""
    return f"sha256:{hashlib.sha256(_SUBJECT + key).hexdigest()}"


def new_key(path: str | os.PathLike[str]) -> str:
    """Write a new private key to `path`, its public key to `path`.pub; return the fingerprint.

    Nobody else may read the private key. Raises RunError where a file is there already.
    """
    from . import ed25519

    private, public = ed25519.generate()
    _write_new(os.fspath(path), private, 0o600)
    try:
        _write_new(f"{os.fspath(path)}.pub", public, 0o644)
    except RunError:
        os.unlink(path)
        raise
    return fingerprint(ed25519.public_key(public))


def _write_new(path: str, data: bytes, mode: int) -> None:
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(data)
    except OSError as error:
        raise RunError(f"{path}: cannot be written: {error.strerror}") from None


def sign(entries: Mapping[str, memoryview], key: Key) -> Signature:
    """Sign all entries of a package with a private key; RunError for a key that cannot."""
    from . import ed25519

    name, pem = _read(key)
    try:
        return Signature(*ed25519.sign(pem, _statement(entries)))
    except RunError as error:
        raise RunError(f"{name}: {error}") from None


def public_keys(keys: Keys) -> tuple[bytes, ...]:
    """Return the 32 bytes of each key; RunError for anything but public keys, and for none."""
    from . import ed25519

    several = [keys] if isinstance(keys, str | bytes) or not isinstance(keys, Sequence) else keys
    if not several:
        raise RunError("key is an empty sequence, must have at least one public key")
    found: list[bytes] = []
    for name, pem in map(_read, several):
        try:
            found.append(ed25519.public_key(pem))
        except RunError as error:
            raise RunError(f"{name}: {error}") from None
    return tuple(found)


def verify(
    entries: Mapping[str, memoryview], signature: Signature | None, accepted: Sequence[bytes]
) -> None:
    """Raise PackageError unless an accepted key has signed the entries as they are."""
    from . import ed25519

    wanted = " or ".join(map(fingerprint, accepted))
    if signature is None:
        raise PackageError(f"is not signed, must be signed by {wanted}")
    if signature.key not in accepted:
        raise PackageError(f"is signed by {signature.fingerprint}, must be signed by {wanted}")
    if not ed25519.verify(signature.key, signature.value, _statement(entries)):
        raise PackageError(f"was altered after {signature.fingerprint} had signed it")


def _statement(entries: Mapping[str, memoryview]) -> bytes:
    """Return the text that is signed: a line for each entry, sorted by name."""
    lines = [
        f"{hashlib.sha256(data).hexdigest()} {len(data)} {name}"
        for name, data in sorted(entries.items())
    ]
    return "\n".join(["trivium package 1", *lines, ""]).encode()


def _read(key: Key) -> tuple[str, bytes]:
    """Return the name of a key for messages, and its PEM text."""
    if isinstance(key, bytes):
        return "key", key
    try:
        path = os.fspath(key)
    except TypeError:
        raise _no_key(type(key).__name__) from None
    if "\n" in path:
        raise _no_key("a text of several lines")
    try:
        return path, Path(path).read_bytes()
    except OSError as error:
        raise RunError(f"{path}: cannot be read: {error.strerror}") from None


def _no_key(what: str) -> RunError:
    return RunError(f"key is {what}, must be the path of a PEM file or its bytes")
