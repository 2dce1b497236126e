"""Files that are written as a whole or not at all."""

import os
from pathlib import Path

import pytest
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.files import replaced_file, write_file


def test_the_file_is_replaced_when_the_block_ends(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("old")
    with replaced_file(file) as new:
        new.write(b"new")
        assert file.read_text() == "old"
    assert file.read_text() == "new"
    assert os.listdir(tmp_path) == ["f"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_the_file_stays_when_the_block_does_not_end(
    error: type[BaseException], tmp_path: Path
) -> None:
    file = tmp_path / "f"
    file.write_text("old")

    def write_half() -> None:
        with replaced_file(file) as half:
            half.write(b"half")
            raise error

    with pytest.raises(error):
        write_half()
    assert file.read_text() == "old"
    assert os.listdir(tmp_path) == ["f"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_file(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "text"


def test_a_pipe_is_written_in_place(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_file(pipe, b"bytes")
    assert os.read(reader, 5) == b"bytes"
    assert pipe.is_fifo()
    os.close(reader)


def test_a_folder_that_is_missing_is_reported(tmp_path: Path) -> None:
    path = f"{tmp_path}/nowhere/f"
    with pytest.raises(CompileError, match=f"cannot write '{path}': No such file or directory"):
        write_file(path, "text")
