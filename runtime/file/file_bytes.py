"""Map a file into memory, or read it; detect changes of a mapped file."""

import mmap
import os
import weakref
from typing import Any, cast

import numpy as np

from ..errors import PackageError, RunError
from ..memory import allocate

_Stamp = tuple[int, int]  # size in bytes, time of the last change in nanoseconds

Identity = tuple[int, int, int, int]
"""The device and the number of a file, its size in bytes, its last change in nanoseconds."""


def path_of(path: object, what: str = "a package") -> str:
    """Return the path of a file as a string; raise RunError for other types."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise RunError(f"path is of type {type(path).__name__}, must be the path of {what}")
    if found := os.fsdecode(cast("Any", path)):
        return found
    raise RunError(f"path is empty, must be the path of {what}")


class MappedFile:
    """Map a file, and detect that it was changed in place afterwards.

    Nothing can freeze a mapping: bytes that another process writes to the file appear in it, and
    reading beyond the end of a truncated file ends the process with SIGBUS. After a rename over the
    path, the mapping still shows the old file. Raises OSError, and PackageError for an empty file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        file = open(path, "rb", buffering=0)  # noqa: SIM115 - open as long as it is mapped
        weakref.finalize(self, file.close)
        self.path = os.fspath(path)
        self._handle = file.fileno()
        status = os.fstat(self._handle)
        self._stamp = status.st_size, status.st_mtime_ns
        self.identity = identity_of(status)
        if not self._stamp[0]:
            raise _empty()
        self.data = memoryview(mmap.mmap(self._handle, 0, access=mmap.ACCESS_READ))

    @property
    def truncated(self) -> bool:
        """Return whether the file is shorter than its mapping, which must not be read then."""
        return self._read_stamp()[0] < len(self.data)

    @property
    def touched(self) -> bool:
        """Return whether size or time of the file differ from those at open, or at `accept`."""
        return self._read_stamp() != self._stamp

    def accept(self) -> None:
        """Record the current size and time of the file as those of an unchanged file."""
        self._stamp = self._read_stamp()

    def _read_stamp(self) -> _Stamp:
        status = os.fstat(self._handle)
        return status.st_size, status.st_mtime_ns


def identity_of(status: os.stat_result) -> Identity:
    """Return what identifies a file that nobody has changed."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def share_mapping(file: MappedFile) -> MappedFile:
    """Return the mapping of the same file that this process has, if nobody has changed the file."""
    found = _MAPPED.get(file.identity)
    if found is not None and not found.touched:
        return found
    _MAPPED[file.identity] = file
    return file


_MAPPED: "weakref.WeakValueDictionary[Identity, MappedFile]" = weakref.WeakValueDictionary()


def release_pages(data: memoryview) -> None:
    """Give what is in memory of a mapped file for some bytes back to the system.

    The bytes are read from the file again where somebody uses them. Nothing is done for bytes in
    other memory, nor by systems that have no such call.
    """
    advice: int | None = getattr(mmap, "MADV_DONTNEED", None)
    mapping = data.obj
    if advice is None or not isinstance(mapping, mmap.mmap) or len(data) < mmap.PAGESIZE:
        return
    first, begin = (np.frombuffer(each, np.uint8).ctypes.data for each in (mapping, data))
    start = -(-(begin - first) // mmap.PAGESIZE) * mmap.PAGESIZE
    mapping.madvise(advice, start, begin - first + len(data) - start)


def read_file(path: str | os.PathLike[str]) -> memoryview:
    """Return a copy of the bytes of a file, aligned to a page as a mapping is.

    Raises OSError, and PackageError for a file that is empty or changes meanwhile.
    """
    with open(path, "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        if not size:
            raise _empty()
        copy = allocate(size, "a copy of its file")
        start = 0
        while start < size:
            count = file.readinto(copy.data[start:])
            if not count:
                raise PackageError("became shorter while it was read")
            start += count
    copy.flags.writeable = False
    return copy.data


def _empty() -> PackageError:
    return PackageError("is not a package: it is empty")
