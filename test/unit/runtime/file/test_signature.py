"""Packages that are signed: who may have signed them, and what cannot be changed afterwards."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trivium.runtime import Package, PackageError, RunError, load, package
from trivium.runtime.file import archive, checked_entries
from trivium.runtime.file.signature import fingerprint, new_key
from trivium.runtime.manifest import Manifest

forms = pytest.importorskip("cryptography.hazmat.primitives.serialization")
ed25519 = pytest.importorskip("trivium.runtime.file.ed25519")

MINE, THEIRS = ed25519.generate(), ed25519.generate()
MY_PRINT, THEIR_PRINT = (fingerprint(ed25519.public_key(pem)) for _, pem in (MINE, THEIRS))


@pytest.fixture
def signed(scale: Package, tmp_path: Path) -> Path:
    path = tmp_path / "signed.trv"
    scale.sign(MINE[0]).save(path)
    return path


def refusal(path: Path, key: Any = MINE[1]) -> str:
    with pytest.raises(PackageError) as caught:
        Package.open(path, key=key)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert message.isprintable()
    return message.removeprefix(f"{path}: ")


def test_a_signed_package_runs_with_and_without_a_key(signed: Path):
    for key in (None, MINE[1], [THEIRS[1], MINE[1]]):
        session = load(signed, key=key)
        result = session(np.ones(16, np.float32))
        np.testing.assert_array_equal(result, np.arange(1, 17, dtype=np.float32))


def test_a_key_is_a_path_or_bytes(signed: Path, tmp_path: Path):
    (tmp_path / "key.pub").write_bytes(MINE[1])
    for key in (tmp_path / "key.pub", str(tmp_path / "key.pub"), MINE[1], (MINE[1],)):
        assert Package.open(signed, key=key).signature is not None


def test_signing_changes_nothing_else(scale: Package, signed: Path):
    opened = Package.open(signed)
    assert opened.manifest == scale.manifest
    assert opened.entries == scale.entries
    assert opened.signature is not None
    assert opened.signature.fingerprint == MY_PRINT


def test_a_package_keeps_its_signature_when_it_is_saved(signed: Path, tmp_path: Path):
    load(signed).save(tmp_path / "again.trv")
    assert (tmp_path / "again.trv").read_bytes() == signed.read_bytes()


def test_a_signature_is_replaced_by_another(scale: Package, signed: Path):
    Package.open(signed).sign(THEIRS[0]).save(signed)
    assert refusal(signed) == f"is signed by {THEIR_PRINT}, must be signed by {MY_PRINT}"
    assert Package.open(signed, key=THEIRS[1]).manifest == scale.manifest


def test_a_package_that_nobody_signed_is_refused(scale_file: Path):
    assert refusal(scale_file) == f"is not signed, must be signed by {MY_PRINT}"
    several = f"is not signed, must be signed by {MY_PRINT} or {THEIR_PRINT}"
    assert refusal(scale_file, [MINE[1], THEIRS[1]]) == several


def altered(path: Path, change: Callable[[Manifest, dict[str, Any]], Manifest]) -> None:
    """Change a package and make all checksums right again, which takes no key."""
    opened = Package.open(path, mmap=False)
    entries: dict[str, Any] = dict(opened.entries)
    manifest = change(opened.manifest, entries)
    made = Package.create(manifest, entries)
    replace(made, signature=opened.signature).save(path)


def change_code(manifest: Manifest, entries: dict[str, Any]) -> Manifest:
    data = bytearray(entries["cpu/scale.o"])
    data[-1] ^= 1
    entries["cpu/scale.o"] = data
    return manifest


def change_weights(manifest: Manifest, entries: dict[str, Any]) -> Manifest:
    entries["weights.bin"] = bytes(64)
    return manifest


def add_an_entry(manifest: Manifest, entries: dict[str, Any]) -> Manifest:
    entries["more.bin"] = b""
    return manifest


def change_the_manifest(manifest: Manifest, entries: dict[str, Any]) -> Manifest:
    return replace(manifest, source="other.onnx")


@pytest.mark.parametrize("change", [change_code, change_weights, add_an_entry, change_the_manifest])
def test_an_altered_package_is_refused(signed: Path, change: Any):
    altered(signed, change)
    Package.open(signed)
    assert refusal(signed) == f"was altered after {MY_PRINT} had signed it"


def test_a_forged_fold_is_no_way_around(scale: Package, tmp_path: Path):
    """The checksum of large entries keeps no forger out: the signature has a SHA-256 of its own."""
    large = np.zeros(1 << 20, "<u8")
    forged = large.copy()
    # Within a block, rows keep their sums and columns their exclusive or.
    forged[[0, 1, 256, 257]] = [1, 2**64 - 1, 1, 2**64 - 1]
    size = large.nbytes
    memory = replace(scale.manifest.memory, weight_bytes=size)
    manifest = replace(scale.manifest, memory=memory)
    entries = dict(scale.entries)
    honest = Package.create(manifest, {**entries, "weights.bin": large.tobytes()}).sign(MINE[0])
    false = Package.create(manifest, {**entries, "weights.bin": forged.tobytes()})
    assert false.manifest == honest.manifest
    path = tmp_path / "p.trv"
    replace(false, signature=honest.signature).save(path)
    Package.open(path)
    assert refusal(path) == f"was altered after {MY_PRINT} had signed it"


def test_another_key_put_in_place_of_the_signer_is_refused(signed: Path):
    opened = Package.open(signed, mmap=False)
    assert opened.signature is not None
    claimed = replace(opened.signature, key=ed25519.public_key(THEIRS[1]))
    replace(opened, signature=claimed).save(signed)
    assert refusal(signed, THEIRS[1]) == f"was altered after {THEIR_PRINT} had signed it"


def test_nothing_is_read_before_the_signature_is_verified(
    scale_file: Path, signed: Path, monkeypatch: pytest.MonkeyPatch
):
    altered(signed, change_code)

    def fail(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(package.Manifest, "from_json", fail)
    monkeypatch.setattr(checked_entries, "has_checksum", fail)
    refusal(scale_file)
    refusal(signed)


def test_a_verified_package_is_no_map_of_the_file(signed: Path):
    opened = Package.open(signed, key=MINE[1])
    size = signed.stat().st_size
    signed.write_bytes(bytes(size))
    assert opened.files == ()
    assert bytes(opened.weights) == np.arange(16, dtype=np.float32).tobytes()
    with pytest.raises(RunError, match="mmap is True, must be left out with key"):
        Package.open(signed, key=MINE[1], mmap=True)


def test_a_damaged_signature_is_refused_with_any_key(signed: Path):
    text = signed.read_bytes()
    for old, new in ((b"signature 1\n", b"signature 2\n"), (b"\nkey ", b"\nkay ")):
        signed.write_bytes(text.replace(old, new))
        with pytest.raises(PackageError, match="the checksum of 'signature' differs"):
            Package.open(signed)


@pytest.mark.parametrize("text", [b"", b"trivium signature 2\n", b"x" * 300])
def test_a_signature_of_another_form_is_refused(scale: Package, tmp_path: Path, text: bytes):
    path = tmp_path / "p.trv"
    manifest = memoryview(scale.manifest.to_json().encode())
    with open(path, "wb") as file:
        entries = {"manifest.json": manifest, **scale.entries, "signature": memoryview(text)}
        archive.write(file, entries)
    with pytest.raises(PackageError, match="entry 'signature' is not a signature as this version"):
        Package.open(path)


def test_the_signature_is_not_an_entry_to_give(manifest: Manifest):
    with pytest.raises(PackageError, match="'signature' is written by save, must not be given"):
        Package.create(manifest, {"signature": b""})


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_changed_byte_is_refused_or_means_nothing(signed: Path, tmp_path: Path, data: Any):
    original = signed.read_bytes()
    at, bit = data.draw(st.integers(0, len(original) - 1)), data.draw(st.integers(0, 7))
    changed = bytearray(original)
    changed[at] ^= 1 << bit
    path = tmp_path / "changed.trv"
    path.write_bytes(changed)
    first = Package.open(signed, key=MINE[1])
    try:
        second = Package.open(path, key=MINE[1])
    except PackageError:
        return
    assert second.manifest == first.manifest
    assert second.entries == first.entries


def private(form: str, encrypted: bool = False) -> bytes:
    key = forms.load_pem_private_key(MINE[0], None)
    way = forms.BestAvailableEncryption(b"secret") if encrypted else forms.NoEncryption()
    return key.private_bytes(forms.Encoding.PEM, getattr(forms.PrivateFormat, form), way)


def rsa_keys() -> tuple[bytes, bytes]:
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(65537, 2048)
    plain = (forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption())
    public = (forms.Encoding.PEM, forms.PublicFormat.SubjectPublicKeyInfo)
    return key.private_bytes(*plain), key.public_key().public_bytes(*public)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (MINE[0], "key: is a private key, must be a public key: openssl pkey -pubout prints it"),
        (rsa_keys()[1], "key: is a public key of another kind, must be of Ed25519"),
        (b"", "key: is not a public key in PEM form"),
        (b"\xff\0", "key: is not a public key in PEM form"),
        (MINE[1].replace(b"MC", b"XX"), "key: is not a public key in PEM form"),
        ("none.pub", "none.pub: cannot be read: No such file or directory"),
        (MINE[1].decode(), "key is a text of several lines, must be the path of a PEM file or its"),
        (5, "key is int, must be the path of a PEM file or its bytes"),
        ([None], "key is NoneType, must be the path of a PEM file or its bytes"),
        ([], "key is an empty sequence, must have at least one public key"),
    ],
)
def test_what_is_no_public_key_is_said(signed: Path, key: Any, message: str):
    with pytest.raises(RunError) as caught:
        Package.open(signed, key=key)
    assert str(caught.value).startswith(message)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (MINE[1], "key: is a public key, must be the private key that belongs to it"),
        (rsa_keys()[0], "key: is a private key of another kind, must be of Ed25519"),
        (private("PKCS8", encrypted=True), "key: is encrypted, must be a private key without a"),
        (private("OpenSSH"), "key: is not a private key in PEM form"),
        ("none.pem", "none.pem: cannot be read: No such file or directory"),
    ],
)
def test_what_cannot_sign_is_said(scale: Package, key: Any, message: str):
    with pytest.raises(RunError) as caught:
        scale.sign(key)
    assert str(caught.value).startswith(message)


def test_fingerprints_are_those_of_openssl(tmp_path: Path):
    """The form of RFC 8410, as cryptography writes it, hashed by hashlib's command line."""
    key = forms.load_pem_public_key(MINE[1])
    form = key.public_bytes(forms.Encoding.DER, forms.PublicFormat.SubjectPublicKeyInfo)
    (tmp_path / "key.der").write_bytes(form)
    done = subprocess.run(
        ["sha256sum", tmp_path / "key.der"], capture_output=True, text=True, check=True
    )
    assert f"sha256:{done.stdout.split()[0]}" == MY_PRINT


def test_a_new_key_is_for_its_owner_alone_and_overwrites_nothing(scale: Package, tmp_path: Path):
    path = tmp_path / "key"
    print_ = new_key(path)
    assert path.stat().st_mode & 0o777 == 0o600
    signature = scale.sign(path).signature
    assert signature is not None
    assert signature.fingerprint == print_
    before = path.read_bytes()
    with pytest.raises(RunError, match="key: cannot be written: File exists"):
        new_key(path)
    assert path.read_bytes() == before
    (tmp_path / "other.pub").touch()
    with pytest.raises(RunError, match=r"other\.pub: cannot be written: File exists"):
        new_key(tmp_path / "other")
    assert not (tmp_path / "other").exists()


WITHOUT = """
import sys
sys.modules["cryptography"] = None
from trivium.runtime import Package, RunError
package = Package.open(sys.argv[1])
print(package.signature.fingerprint)
for use in (lambda: Package.open(sys.argv[1], key=sys.argv[2]), lambda: package.sign(sys.argv[2])):
    try:
        use()
    except RunError as error:
        print(error)
"""


def test_without_cryptography_packages_open_and_keys_are_refused(signed: Path, tmp_path: Path):
    (tmp_path / "key.pub").write_bytes(MINE[1])
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, signed, tmp_path / "key.pub"],
        capture_output=True,
        text=True,
        check=True,
    )
    missing = "signatures need the package cryptography: pip install 'trivium[sign]'"
    assert done.stdout.splitlines() == [MY_PRINT, missing, missing]
