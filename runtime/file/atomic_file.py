"""Replace files atomically: a reader finds the old file or the new one, never a part of it."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

if sys.platform != "win32":
    import fcntl

TEMPORARY = ".trivium-tmp"
"""The suffix of temporary files, which are in the folder of the file that they will replace."""


@contextmanager
def atomic_file(
    path: str | os.PathLike[str], *, sync: bool = False
) -> Generator[BinaryIO, None, None]:
    """Yield a temporary file that replaces `path` when the block ends without an error.

    With `sync`, the new file outlasts a power cut. Temporary files that killed processes left in
    the folder are removed: each is locked as long as its process writes it. Several processes may
    replace one path at a time. Windows has no such locks, so nothing is removed there. The file
    that a link names is replaced, the link stays; a device or a pipe is written in place. Raises
    OSError.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with open(target, "wb") as file:
            yield file
        return
    _remove_stale(target.parent)
    temporary, lock = _create(target.parent)
    try:
        with open(temporary, "wb") as file:
            yield file
            if sync:
                file.flush()
                os.fsync(file.fileno())
        temporary.replace(target)
    finally:
        with suppress(OSError):
            temporary.unlink()
        if lock is not None:
            os.close(lock)
    if sync:
        _sync_folder(target.parent)


def _create(folder: Path) -> tuple[Path, int | None]:
    """Create a temporary file; return its path, and the handle that locks it until it is closed."""
    while True:
        path = folder / f".{os.urandom(8).hex()}{TEMPORARY}"
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        if sys.platform == "win32":
            os.close(handle)
            return path, None
        # Not every file system has locks; nothing is removed there.
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        if path.exists():
            return path, handle
        os.close(handle)  # removed as stale before it was locked


def _remove_stale(folder: Path) -> None:
    """Remove temporary files that no process has locked."""
    if sys.platform == "win32":
        return
    for path in folder.glob(f".*{TEMPORARY}"):
        # Files that are locked, and those of other users, are kept.
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
