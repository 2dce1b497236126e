"""Replace files atomically: a reader finds the old file or the new one, never a part of it."""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

TEMPORARY = ".trivium-tmp"
"""The suffix of temporary files, which stand beside the file that they will replace."""


@contextmanager
def atomic_file(
    path: str | os.PathLike[str], *, sync: bool = False
) -> Generator[BinaryIO, None, None]:
    """Yield a temporary file that replaces `path` when the block ends without an error.

    With `sync`, the new file outlasts a power cut. Temporary files that killed processes left in
    the folder are removed: each is locked as long as somebody writes it. Several processes may
    replace one path at a time. Raises OSError.
    """
    target = Path(path)
    _remove_stale(target.parent)
    temporary, file = _create(target.parent)
    try:
        with file:
            yield file
            file.flush()
            if sync:
                os.fsync(file.fileno())
            temporary.replace(target)
    finally:
        with suppress(OSError):
            temporary.unlink()
    if sync:
        _sync_folder(target.parent)


def _create(folder: Path) -> tuple[Path, BinaryIO]:
    """Create a temporary file and lock it."""
    while True:
        path = folder / f".{os.urandom(8).hex()}{TEMPORARY}"
        file = open(path, "xb")  # noqa: SIM115 - the caller closes it
        # Not every file system has locks; nobody removes anything there.
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        if path.exists():
            return path, file
        file.close()  # removed as stale before it was locked


def _remove_stale(folder: Path) -> None:
    """Remove temporary files that no process has locked."""
    for path in folder.glob(f".*{TEMPORARY}"):
        # What is locked, or belongs to another user, stays.
        with suppress(OSError), open(os.open(path, os.O_RDWR | os.O_NOFOLLOW), "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()


def _sync_folder(folder: Path) -> None:
    # A rename outlasts a power cut once its folder is on disk; not every file system can do that.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
