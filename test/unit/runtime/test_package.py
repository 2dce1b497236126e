import errno
import mmap
import os
import resource
import struct
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trivium.runtime.errors import PackageError
from trivium.runtime.file import archive
from trivium.runtime.file.checksum import checksum
from trivium.runtime.manifest import Manifest
from trivium.runtime.package import Package


def refusal(path: Path) -> str:
    with pytest.raises(PackageError) as caught:
        Package.open(path, check=True)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message


def test_a_package_survives_the_disk(scale: Package, scale_file: Path):
    again = Package.open(scale_file)
    assert again.manifest == scale.manifest
    assert {name: bytes(data) for name, data in again.entries.items()} == {
        name: bytes(data) for name, data in scale.entries.items()
    }


def test_saving_twice_gives_the_same_bytes(scale: Package, scale_file: Path, tmp_path: Path):
    Package.open(scale_file).save(tmp_path / "again.trv")
    assert (tmp_path / "again.trv").read_bytes() == scale_file.read_bytes()


def test_a_package_may_be_saved_over_itself(scale_file: Path):
    before = scale_file.read_bytes()
    package = Package.open(scale_file)
    package.save(scale_file)
    assert scale_file.read_bytes() == before
    assert bytes(package.weights)


def test_any_unzip_reads_it(scale: Package, scale_file: Path):
    with zipfile.ZipFile(scale_file) as file:
        assert file.testzip() is None
        assert file.namelist() == [
            "manifest.json",
            "cpu/scale.o",
            "cpu/threads.o",
            "weights.bin",
        ]
        assert file.read("weights.bin") == bytes(scale.weights)
        assert {info.date_time for info in file.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_entries_lie_in_the_map_on_pages_or_cache_lines(manifest: Manifest, tmp_path: Path):
    manifest = replace(manifest, parts=(), memory=replace(manifest.memory, weight_bytes=8192))
    entries = {"weights.bin": bytes(8192), "cpu/a.o": b"abc", "module.mlirbc": b"x" * 5000}
    Package.create(manifest, entries).save(tmp_path / "p.trv")
    package = Package.open(tmp_path / "p.trv")
    for name, alignment in (("weights.bin", 4096), ("cpu/a.o", 64), ("module.mlirbc", 4096)):
        view = package.entries[name]
        assert isinstance(view.obj, mmap.mmap)
        assert view.readonly
        assert np.frombuffer(view, np.uint8).ctypes.data % alignment == 0


def test_a_package_is_saved_with_the_usual_permissions(scale: Package, tmp_path: Path):
    old = os.umask(0o027)
    try:
        scale.save(tmp_path / "p.trv")
    finally:
        os.umask(old)
    assert (tmp_path / "p.trv").stat().st_mode & 0o777 == 0o640


def test_a_full_disk_leaves_nothing_behind(
    scale: Package, scale_file: Path, monkeypatch: pytest.MonkeyPatch
):
    before = scale_file.read_bytes()

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(PackageError, match=r"scale.trv: cannot be written: No space left"):
        scale.save(scale_file)
    assert [path.name for path in scale_file.parent.iterdir()] == ["scale.trv"]
    assert scale_file.read_bytes() == before


def test_a_write_that_breaks_off_leaves_nothing_behind(scale: Package, tmp_path: Path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1500, limits[1]))
    try:
        with pytest.raises(PackageError, match=r"cannot be written: File too large"):
            scale.save(tmp_path / "p.trv")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not list(tmp_path.iterdir())


def test_an_interrupted_save_leaves_nothing_behind(
    scale: Package, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(archive, "write", interrupt)
    with pytest.raises(KeyboardInterrupt):
        scale.save(tmp_path / "p.trv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("nowhere/p.trv", "No such file"),
        ("file/p.trv", "Not a directory"),
        ("folder", "Is a directory"),
        ("x" * 300, "File name too long"),
        ("/", "(Is a directory|Device or resource busy)"),
    ],
)
def test_a_place_that_takes_no_file_is_one_line(
    scale: Package, tmp_path: Path, place: str, reason: str
):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(PackageError, match=rf": cannot be written: {reason}"):
        scale.save(tmp_path / place)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


@pytest.mark.parametrize("name", ["../x", "/x", "a//b", "", "a b", "a/", ".x", "\ud800"])
def test_names_that_could_leave_the_folder_are_refused(
    manifest: Manifest, name: str, tmp_path: Path
):
    entries = {"weights.bin": bytes(64), "cpu/scale.o": b"", name: b""}
    with pytest.raises(PackageError, match="must be a path of letters"):
        Package.create(manifest, entries).save(tmp_path / "p.trv")


def test_the_manifest_is_not_an_entry_to_give(manifest: Manifest):
    with pytest.raises(PackageError, match=r"'manifest.json' is written by save"):
        Package.create(manifest, {"manifest.json": b""})


def test_large_files_use_the_wide_form(
    scale: Package, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "p.trv"
    for size, count in ((0, 0), (200, 0xFFFF), (1 << 31, 1)):
        monkeypatch.setattr(archive, "wide_size", size)
        monkeypatch.setattr(archive, "wide_count", count)
        scale.save(path)
        again = Package.open(path)
        assert again.manifest == scale.manifest
        assert bytes(again.weights) == bytes(scale.weights)
        with zipfile.ZipFile(path) as file:
            assert file.testzip() is None


def test_what_cannot_be_read_is_said(tmp_path: Path):
    assert "cannot be read: No such file or directory" in refusal(tmp_path / "p.trv")
    assert "cannot be read: Is a directory" in refusal(tmp_path)


def test_foreign_files_are_refused(tmp_path: Path):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"")
    assert "is not a package: it is empty" in refusal(path)
    path.write_bytes(b"\x08\x0a\x12\x07pytorch")
    assert "is not a package: it starts with b'\\x08\\n\\x12\\x07pyto'" in refusal(path)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("word.xml", "x")
    assert "is not a package: it has no 'manifest.json'" in refusal(path)


def test_a_package_packed_again_is_refused(scale_file: Path, tmp_path: Path):
    path = tmp_path / "again.trv"
    with zipfile.ZipFile(scale_file) as old, zipfile.ZipFile(path, "w", 8) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    message = "'manifest.json' has compression method 8 and flags 0x0, must be stored as it is"
    assert message in refusal(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("extra.bin", "has an entry 'extra.bin', which its manifest does not list"),
        ("weights.bin", "entry 'weights.bin' occurs twice"),
    ],
)
def test_an_entry_nobody_vouches_for_is_refused(scale_file: Path, name: str, message: str):
    with zipfile.ZipFile(scale_file, "a") as file:
        file.writestr(name, bytes(64))
    assert message in refusal(scale_file)


def test_a_changed_weight_is_noticed(scale: Package, scale_file: Path):
    data = bytearray(scale_file.read_bytes())
    start = data.index(bytes(scale.weights))
    data[start + 9] ^= 4
    scale_file.write_bytes(data)
    assert "is corrupt: the checksum of 'weights.bin' differs" in refusal(scale_file)


def test_a_changed_manifest_is_noticed(scale_file: Path):
    scale_file.write_bytes(scale_file.read_bytes().replace(b"scale.onnx", b"scald.onnx"))
    assert "is corrupt: the checksum of 'manifest.json' differs" in refusal(scale_file)


def test_every_way_to_cut_the_end_is_noticed(scale_file: Path, tmp_path: Path):
    whole = scale_file.read_bytes()
    path = tmp_path / "cut.trv"
    for size in [*range(0, len(whole), 97), *range(len(whole) - 60, len(whole))]:
        path.write_bytes(whole[:size])
        message = refusal(path)
        assert "is truncated" in message or "is not a package" in message


def central_headers(data: bytes) -> list[int]:
    return [i for i in range(len(data)) if data[i : i + 4] == b"PK\1\2"]


def test_overlapping_entries_are_refused(scale_file: Path):
    data = bytearray(scale_file.read_bytes())
    # The manifest grows over the object that follows it.
    first = central_headers(data)[0]
    sizes = struct.unpack_from("<2L", data, first + 20)
    struct.pack_into("<2L", data, first + 20, sizes[0] + 100, sizes[1] + 100)
    scale_file.write_bytes(data)
    assert "entry 'cpu/scale.o' overlaps the one before it" in refusal(scale_file)


@pytest.mark.parametrize("size", [1 << 20, (1 << 32) - 2])
def test_an_entry_past_the_end_is_refused(scale_file: Path, size: int):
    data = bytearray(scale_file.read_bytes())
    struct.pack_into("<2L", data, central_headers(data)[-1] + 20, size, size)
    scale_file.write_bytes(data)
    assert "is corrupt: entry 'weights.bin' reaches to byte" in refusal(scale_file)


def test_a_later_version_is_refused(scale: Package, tmp_path: Path):
    path = tmp_path / "p.trv"
    replace(scale, manifest=replace(scale.manifest, version=14)).save(path)
    assert "manifest: 'version' is 14, this runtime reads up to 13" in refusal(path)


def test_opening_needs_neither_compiler_nor_zipfile(scale_file: Path):
    code = (
        "import sys; from trivium.runtime import load; load(sys.argv[1]);"
        "print(sorted({'torch_mlir', 'onnx', 'torch', 'ml_dtypes', 'zipfile'} & set(sys.modules)))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code, str(scale_file)],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert answer.stdout.strip() == "[]"


LARGE = np.random.default_rng(0).integers(0, 256, (1 << 20) + 300_000, np.uint8)


@given(st.integers(0, LARGE.size - 1), st.integers(0, 7))
def test_the_fold_notices_any_flipped_bit(at: int, bit: int):
    changed = LARGE.copy()
    changed[at] ^= 1 << bit
    assert checksum(memoryview(changed)) != checksum(memoryview(LARGE))


@given(st.integers(0, LARGE.size // 8 - 1), st.integers(0, LARGE.size // 8 - 1))
def test_the_fold_notices_words_that_trade_places(one: int, two: int):
    changed = LARGE.copy()
    words = changed[: LARGE.size // 8 * 8].view("<u8")
    words[[one, two]] = words[[two, one]]
    same = np.array_equal(changed, LARGE)
    assert (checksum(memoryview(changed)) == checksum(memoryview(LARGE))) == same


def test_the_fold_notices_zeros_at_the_end():
    zeros = memoryview(bytes((4 << 20) + 1))
    sums = {checksum(zeros[:size]) for size in range(3 << 20, (4 << 20) + 1, 1 << 17)}
    assert len(sums) == 9
