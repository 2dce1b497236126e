"""What is said of a file that is no package as `save` writes it: the true cause, and its place."""

import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from trivium.runtime.contents import Entry
from trivium.runtime.errors import PackageError
from trivium.runtime.file import archive
from trivium.runtime.host.step import HostStep
from trivium.runtime.manifest import Manifest
from trivium.runtime.package import Package

Damage = Callable[[bytearray], object]


def refusal(path: Path) -> str:
    with pytest.raises(PackageError) as caught:
        Package.open(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert message.isprintable()
    return message.removeprefix(f"{path}: ")


def listed(data: bytes, name: bytes) -> int:
    """Return where an entry is listed."""
    return data.index(b"PK\1\2", data.rindex(name) - 46)


NAMES = "a path of letters, digits and _ . + -, each part of which starts with a letter, digit or _"


@pytest.mark.parametrize(
    "name", [b"cpu/sca e.o", b"cpu/.cale.o", b"../scale.oo", b"cpu/\xffcale.o"]
)
def test_a_name_that_is_not_allowed_is_said_with_its_place(scale_file: Path, name: bytes):
    data = scale_file.read_bytes().replace(b"cpu/scale.o", name)
    scale_file.write_bytes(data)
    place = listed(data, name)
    message = f"the entry listed at byte {place} is named {name!r}, a name must be {NAMES}"
    assert refusal(scale_file) == message


def test_a_long_name_is_cut_in_the_message(scale: Package, tmp_path: Path):
    path = tmp_path / "p.trv"
    with open(path, "wb") as file:
        archive.write(file, {"x" * 5000: memoryview(b"")})
    path.write_bytes(path.read_bytes().replace(b"x" * 5000, b" " * 5000))
    assert len(refusal(path)) < 300


@pytest.mark.parametrize("name", [".x", "a b"])
def test_a_name_that_cannot_be_written_is_said(manifest: Manifest, name: str, tmp_path: Path):
    entries = {"weights.bin": bytes(64), "cpu/scale.o": b"", name: b""}
    with pytest.raises(PackageError) as caught:
        Package.create(manifest, entries).save(tmp_path / "p.trv")
    assert str(caught.value) == f"entry '{name}' has a name that must be {NAMES}"


def put(layout: str, place: Callable[[bytes], int], *values: int) -> Damage:
    """Return what writes numbers at a place of a file."""
    return lambda data: struct.pack_into(layout, data, place(data), *values)


def weights(data: bytes) -> int:
    return listed(data, b"weights.bin")


def end(data: bytes) -> int:
    return len(data) - 22


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: data.extend(b"more"), "is truncated, or has bytes behind its end: the last"),
        (lambda data: data.__delitem__(slice(-9, None)), "is truncated, or has bytes behind its"),
        (put("<H", lambda d: end(d) + 4, 1), "its end mark counts disks 1 and 0 and 0 bytes of"),
        (put("<H", lambda d: end(d) + 20, 5), "disks 0 and 0 and 5 bytes of comment, all must"),
        (
            put("<L", lambda d: end(d) + 16, 7),
            "is corrupt or truncated: its list of entries should",
        ),
        (put("<H", lambda d: end(d) + 10, 3), "bytes follow its list of entries"),
        (put("<H", lambda d: end(d) + 10, 9), "it should have b'PK\\x01\\x02' at byte"),
        (put("<H", lambda d: weights(d) + 28, 999), "reaches to byte"),
        (put("<H", lambda d: weights(d) + 8, 1), "has compression method 0 and flags 0x1, must be"),
        (put("<L", lambda d: weights(d) + 20, 65), "entry 'weights.bin' is of 65 bytes and of 64"),
        (
            put("<L", lambda d: weights(d) + 42, 0),
            "'weights.bin' is listed for byte 0, where b'man",
        ),
        (put("<L", lambda d: weights(d) + 42, 1), "is corrupt: it has b'K\\x03\\x04"),
        (put("<L", lambda d: weights(d) + 42, 0xFFFFFFFF), "'weights.bin' has wide sizes, but not"),
        (put("<L", lambda d: weights(d) + 42, 0xFFFFFFF0), "at byte 4294967280 and the rest of 30"),
    ],
)
def test_damage_is_said_as_it_is(scale_file: Path, damage: Damage, message: str):
    data = bytearray(scale_file.read_bytes())
    damage(data)
    scale_file.write_bytes(data)
    assert message in refusal(scale_file)


def written(path: Path, manifest: Manifest, package: Package) -> Path:
    with open(path, "wb") as file:
        text = memoryview(manifest.to_json().encode())
        archive.write(file, {"manifest.json": text, **package.entries})
    return path


def test_a_manifest_that_lists_other_entries_is_said(scale: Package, tmp_path: Path):
    manifest, entries = scale.manifest, scale.manifest.entries
    path = tmp_path / "p.trv"
    more = replace(manifest, entries=(*entries, Entry("more.bin", 0, "")))
    message = "is corrupt: it lacks entry 'more.bin', which its manifest lists"
    assert refusal(written(path, more, scale)) == message
    twice = replace(manifest, entries=(*entries, entries[0]))
    message = "is corrupt: its manifest lists entry 'cpu/scale.o' 2 times"
    assert refusal(written(path, twice, scale)) == message


def test_control_characters_in_a_file_do_not_reach_the_terminal(scale: Package, tmp_path: Path):
    step = HostStep(op="\x1b[31mred\n\x7f", operands=(0,), results=(1,))
    hostile = replace(scale.manifest, steps=(step,))
    message = refusal(written(tmp_path / "p.trv", hostile, scale))
    assert "'steps[0].op' is '\\x1b[31mred\\n\\x7f', must look like" in message
