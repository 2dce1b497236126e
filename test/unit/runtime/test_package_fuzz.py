"""Whatever happens to a file, opening it gives the same package or one clear error."""

import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trivium.runtime.checks import check
from trivium.runtime.errors import PackageError
from trivium.runtime.file import archive
from trivium.runtime.manifest import Manifest
from trivium.runtime.package import Package

Edit = tuple[str, int, int, int]
EDITS = st.lists(
    st.tuples(
        st.sampled_from(["flip", "set", "cut", "drop", "double", "move"]),
        st.integers(0, 1 << 16),
        st.integers(0, 1 << 16),
        st.integers(0, 255),
    ),
    min_size=1,
    max_size=4,
)
SHARED = settings(
    deadline=None, max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def damage(data: bytearray, edit: Edit) -> None:
    kind, one, two, value = edit
    start, end = sorted((one % (len(data) + 1), two % (len(data) + 1)))
    piece = data[start:end]
    if kind == "flip" and data:
        data[one % len(data)] ^= 1 << value % 8
    elif kind == "set":
        data[start : start + 4] = bytes([value]) * len(data[start : start + 4])
    elif kind == "cut":
        del data[start:]
    elif kind == "drop":
        del data[start:end]
    elif kind == "double":
        data[start:start] = piece
    elif kind == "move":
        del data[start:end]
        data[value:value] = piece


def assert_one_line(error: PackageError) -> None:
    assert "\n" not in str(error)


def assert_same_or_refused(path: Path, original: Package) -> None:
    try:
        package = Package.open(path, check=True)
    except PackageError as error:
        assert_one_line(error)
        return
    assert package.manifest == original.manifest
    for name, data in original.entries.items():
        assert package.entries[name] == data


@SHARED
@given(EDITS)
def test_a_damaged_file_is_refused_or_the_same(
    scale: Package, scale_file: Path, tmp_path: Path, edits: list[Edit]
):
    data = bytearray(scale_file.read_bytes())
    for edit in edits:
        damage(data, edit)
    path = tmp_path / "damaged.trv"
    path.write_bytes(data)
    assert_same_or_refused(path, scale)


def test_every_flipped_bit_of_the_structure_is_harmless(
    scale: Package, scale_file: Path, tmp_path: Path
):
    data = bytearray(scale_file.read_bytes())
    path = tmp_path / "damaged.trv"
    structure = [*range(64), *range(data.index(b"PK\1\2"), len(data))]
    for place in structure:
        for bit in range(8):
            data[place] ^= 1 << bit
            path.write_bytes(data)
            assert_same_or_refused(path, scale)
            data[place] ^= 1 << bit


@SHARED
@given(st.integers(0, 1 << 30))
def test_a_forged_manifest_is_refused_or_sound(
    scale: Package, forge: Callable[[Any, int], Any], tmp_path: Path, seed: int
):
    """The checksums are right here, so all depends on the checks."""
    document = forge(json.loads(scale.manifest.to_json()), seed)
    path = tmp_path / "forged.trv"
    text = json.dumps(document).encode()
    with open(path, "wb") as file:
        archive.write(file, {"manifest.json": memoryview(text), **scale.entries})
    try:
        package = Package.open(path)
    except PackageError as error:
        assert_one_line(error)
        return
    check(package.manifest)
    assert Manifest.from_json(package.manifest.to_json()) == package.manifest


@pytest.mark.parametrize("size", range(0, 23))
def test_tiny_files_are_refused(size: int, tmp_path: Path):
    path = tmp_path / "tiny.trv"
    path.write_bytes(b"PK\3\4"[:size] + bytes(max(0, size - 4)))
    with pytest.raises(PackageError):
        Package.open(path)


def test_the_crc_of_the_manifest_is_the_one_of_zip(scale: Package, scale_file: Path):
    members = archive.read(memoryview(scale_file.read_bytes()))
    assert members["manifest.json"].crc == zlib.crc32(scale.manifest.to_json().encode())
