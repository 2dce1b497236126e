"""Files that are replaced as a whole, by processes that may be killed or write at the same time."""

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from trivium.runtime.file import atomic_file as module
from trivium.runtime.file.atomic_file import TEMPORARY, atomic_file
from trivium.runtime.package import Package


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_old_file_is_there_until_the_new_one_is_whole(tmp_path: Path):
    path = tmp_path / "f"
    path.write_bytes(b"old")
    with atomic_file(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["f"]


def test_an_error_leaves_the_old_file(tmp_path: Path):
    path = tmp_path / "f"
    path.write_bytes(b"old")

    def fail() -> None:
        with atomic_file(path) as file:
            file.write(b"new")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["f"]


def test_a_name_may_be_as_long_as_the_system_allows(tmp_path: Path):
    with atomic_file(tmp_path / ("x" * 255)) as file:
        file.write(b"new")
    assert names(tmp_path) == ["x" * 255]


def killed(path: Path, code: str) -> None:
    """Run code that is killed while it writes to `path`."""
    done = subprocess.run([sys.executable, "-c", code, path], timeout=60)
    assert done.returncode == -signal.SIGKILL


def test_what_a_killed_process_left_is_removed_by_the_next_save(scale: Package, tmp_path: Path):
    path = tmp_path / "scale.trv"
    scale.save(path)
    kill = (
        "import os, signal, sys; from trivium.runtime import package;"
        "from trivium.runtime.file import archive;"
        "package = package.Package.open(sys.argv[1]); write = archive.write;"
        "archive.write = lambda *given: (write(*given), os.kill(os.getpid(), signal.SIGKILL));"
        "package.save(sys.argv[1])"
    )
    killed(path, kill)
    killed(path, kill)
    left = names(tmp_path)
    assert left[1:] == ["scale.trv"]
    assert left[0].endswith(TEMPORARY)
    scale.save(path)
    assert names(tmp_path) == ["scale.trv"]


def test_what_another_writer_still_has_open_is_left_alone(tmp_path: Path):
    path = tmp_path / "f"
    with atomic_file(path) as first:
        first.write(b"first")
        with atomic_file(path) as second:
            second.write(b"second")
        assert path.read_bytes() == b"second"
    assert path.read_bytes() == b"first"
    assert names(tmp_path) == ["f"]


def test_a_file_that_is_removed_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A writer may be stopped between making a file and locking it, another removes it then."""
    lock, calls = fcntl.flock, 0

    def late(*given: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            for path in tmp_path.iterdir():
                path.unlink()
        lock(*given)

    monkeypatch.setattr(fcntl, "flock", late)
    with atomic_file(tmp_path / "f") as file:
        file.write(b"new")
    assert names(tmp_path) == ["f"]
    assert calls > 1


def test_files_are_replaced_where_there_are_no_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def refuse(*given: int) -> None:
        raise OSError

    monkeypatch.setattr(module.fcntl, "flock", refuse)
    (tmp_path / f".0{TEMPORARY}").touch()
    with atomic_file(tmp_path / "f") as file:
        file.write(b"new")
    assert names(tmp_path) == [f".0{TEMPORARY}", "f"]


WINDOWS = """
import os, sys
del os.O_NOFOLLOW, os.register_at_fork
sys.platform, sys.modules["fcntl"] = "win32", None
from trivium.runtime.file.atomic_file import atomic_file
import trivium.runtime.session
with atomic_file(sys.argv[1], sync=True) as file:
    file.write(b"new")
"""


def test_files_are_replaced_on_windows(tmp_path: Path):
    (tmp_path / f".0{TEMPORARY}").touch()
    subprocess.run([sys.executable, "-c", WINDOWS, tmp_path / "f"], check=True)
    assert names(tmp_path) == [f".0{TEMPORARY}", "f"]
    assert (tmp_path / "f").read_bytes() == b"new"


def test_links_and_files_of_others_are_not_removed(tmp_path: Path):
    (tmp_path / "mine").write_bytes(b"mine")
    (tmp_path / f".0{TEMPORARY}").symlink_to(tmp_path / "mine")
    (tmp_path / ".f.deadbeef").touch()
    with atomic_file(tmp_path / "f") as file:
        file.write(b"new")
    assert names(tmp_path) == [f".0{TEMPORARY}", ".f.deadbeef", "f", "mine"]


def test_processes_may_save_to_one_path_at_a_time(scale: Package, tmp_path: Path):
    path = tmp_path / "scale.trv"
    scale.save(path)
    before = path.read_bytes()
    code = (
        "import sys; from trivium.runtime import Package\n"
        "for _ in range(20): Package.open(sys.argv[1]).save(sys.argv[1])"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, path]) for _ in range(3)]
    while any(writer.poll() is None for writer in writers):
        assert path.read_bytes() == before
    assert [writer.returncode for writer in writers] == [0] * 3
    assert names(tmp_path) == ["scale.trv"]
    assert os.stat(path).st_nlink == 1
