"""Files of packages in use: mapped or read, replaced by rename or changed in place."""

import mmap
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from trivium.runtime import Package, PackageError, Session, load

ONES = np.ones(16, np.float32)
RESULT = np.arange(1, 17, dtype=np.float32)


def refusal(work: Callable[[], object]) -> str:
    with pytest.raises(PackageError) as caught:
        work()
    assert str(caught.value).isprintable()
    return str(caught.value)


def change_weights(path: Path) -> None:
    """Write other weights to the file itself, as an editor or a download over it does."""
    data = path.read_bytes()
    start = data.index(np.arange(16, dtype=np.float32).tobytes())
    with open(path, "r+b") as file:
        file.seek(start)
        file.write(bytes(64))
    later(path)


def later(path: Path) -> None:
    """Set a later time of change: a file system may count in steps of milliseconds."""
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 10**9))


def test_a_file_that_is_replaced_by_rename_is_used_on(scale_file: Path, tmp_path: Path):
    session = load(scale_file)
    (tmp_path / "other").write_bytes(b"something else")
    (tmp_path / "other").rename(scale_file)
    np.testing.assert_array_equal(session(ONES), RESULT)
    np.testing.assert_array_equal(session.clone()(ONES), RESULT)
    session.save(scale_file)
    np.testing.assert_array_equal(load(scale_file)(ONES), RESULT)


def test_a_session_saves_its_package_over_the_file_that_it_maps(scale_file: Path):
    session = load(scale_file)
    session.save(scale_file)
    np.testing.assert_array_equal(session.clone()(ONES), RESULT)
    np.testing.assert_array_equal(load(scale_file)(ONES), RESULT)


def test_a_file_that_is_changed_in_place_is_noticed(scale_file: Path, tmp_path: Path):
    package = Package.open(scale_file)
    session = Session(package)
    change_weights(scale_file)
    message = (
        f"{scale_file}: was changed in place after it was opened: replace a package in use by "
        "renaming a new file to its name, or open it with mmap=False"
    )
    assert refusal(session.clone) == message
    assert refusal(lambda: Session(package)) == message
    assert refusal(lambda: session.save(tmp_path / "again.trv")) == message
    assert not (tmp_path / "again.trv").exists()


@pytest.mark.parametrize("size", [0, 1000])
def test_a_file_that_is_cut_is_noticed_without_reading_it(scale_file: Path, size: int):
    session = load(scale_file)
    os.truncate(scale_file, size)
    assert "was changed in place after it was opened" in refusal(session.clone)


def test_a_file_that_is_only_touched_is_used_on(scale_file: Path):
    session = load(scale_file)
    later(scale_file)
    np.testing.assert_array_equal(session.clone()(ONES), RESULT)
    np.testing.assert_array_equal(session.clone()(ONES), RESULT)


def test_a_file_that_is_written_again_with_the_same_bytes_is_used_on(scale_file: Path):
    session = load(scale_file)
    with open(scale_file, "r+b") as file:
        data = file.read()
        file.seek(0)
        file.write(data)
    later(scale_file)
    np.testing.assert_array_equal(session.clone()(ONES), RESULT)


def test_a_package_that_is_read_does_not_need_its_file(scale_file: Path, tmp_path: Path):
    session = load(scale_file, mmap=False)
    before = scale_file.read_bytes()
    change_weights(scale_file)
    np.testing.assert_array_equal(session(ONES), RESULT)
    os.truncate(scale_file, 0)
    np.testing.assert_array_equal(session.clone()(ONES), RESULT)
    session.save(tmp_path / "again.trv")
    assert (tmp_path / "again.trv").read_bytes() == before


def test_what_is_read_is_the_same_and_as_well_aligned(scale_file: Path):
    mapped, read = Package.open(scale_file, mmap=True), Package.open(scale_file, mmap=False)
    assert mapped == read
    for package, is_map in ((mapped, True), (read, False)):
        assert isinstance(package.weights.obj, mmap.mmap) == is_map
        assert package.weights.readonly
        assert np.frombuffer(package.weights, np.uint8).ctypes.data % 64 == 0


@pytest.mark.parametrize("how", [True, False, None])
def test_an_empty_file_is_said_so(tmp_path: Path, how: bool | None):
    (tmp_path / "p.trv").touch()
    with pytest.raises(PackageError, match=r"p\.trv: is not a package: it is empty"):
        Package.open(tmp_path / "p.trv", mmap=how)


def test_files_are_closed_with_the_last_session(scale_file: Path):
    code = (
        "import gc, os, sys; from trivium.runtime import load\n"
        "def count(): return len(os.listdir('/proc/self/fd'))\n"
        "load(sys.argv[1]); gc.collect(); before = count()\n"
        "for _ in range(5): load(sys.argv[1], mmap=None).clone()\n"
        "gc.collect(); print(count() - before)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, scale_file], capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("0\n", "")
