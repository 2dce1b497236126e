"""The object cache: hits, damage, and a folder that cannot be written."""

from pathlib import Path

import pytest
from trivium.targets.cache import VARIABLE, cache_folder, cached


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return tmp_path


def never() -> bytes:
    raise AssertionError("was compiled again")


def test_the_same_source_is_compiled_once() -> None:
    assert cached("a", lambda: b"code") == b"code"
    assert cached("a", never) == b"code"
    assert cached("b", lambda: b"other") == b"other"


def test_a_damaged_entry_is_compiled_again(folder: Path) -> None:
    cached("a", lambda: b"code")
    (entry,) = folder.rglob("*.o")
    entry.write_bytes(entry.read_bytes()[:-1] + b"X")
    assert cached("a", lambda: b"code") == b"code"
    assert cached("a", never) == b"code"


def test_an_empty_entry_is_compiled_again(folder: Path) -> None:
    cached("a", lambda: b"code")
    (entry,) = folder.rglob("*.o")
    entry.write_bytes(b"")
    assert cached("a", lambda: b"code") == b"code"


def test_a_folder_that_cannot_be_made_is_as_good_as_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "file").write_text("in the way")
    monkeypatch.setenv(VARIABLE, str(folder / "file"))
    assert cached("a", lambda: b"code") == b"code"


def test_off_switches_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "off")
    assert cache_folder() is None
    assert cached("a", lambda: b"1") == b"1"
    assert cached("a", lambda: b"2") == b"2"


def test_nothing_but_whole_entries_is_left(folder: Path) -> None:
    cached("a", lambda: b"code")
    assert [p.suffix for p in folder.rglob("*") if p.is_file()] == [".o"]
