"""Zstandard frames: the one door to the package zstandard, which is optional.

Importing this raises RunError where the package is not installed.
"""

from typing import Any

from ..errors import PackageError, RunError
from ..memory import allocate

try:
    import zstandard
except ImportError:
    raise RunError(
        "compressed packages need the package zstandard: pip install 'trivium[compress]'"
    ) from None

_LARGEST_WINDOW = 128 << 20


def compress(data: memoryview, level: int) -> bytes:
    """Return one frame that records its size."""
    return zstandard.ZstdCompressor(level=level).compress(data)


def decompress(data: memoryview, size: int) -> memoryview:
    """Return the bytes of one frame, on a page boundary, read-only.

    Raises PackageError unless these are `size` bytes: no more are ever decompressed.
    """
    target = allocate(size, "the constants in it")
    try:
        recorded = zstandard.frame_content_size(data)
        if recorded != size:
            raise PackageError(f"records {recorded} bytes, must have {size}")
        # The stubs of the package leave the type of a buffer open.
        reader: Any = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW).stream_reader(
            data
        )
        filled = 0
        while filled < size and (count := reader.readinto(target.data[filled:])):
            filled += count
        if filled != size or reader.read(1):
            raise PackageError(f"has {filled} bytes or more, must have {size}")
    except zstandard.ZstdError as error:
        raise PackageError(f"is no frame of zstandard: {error}") from None
    target.flags.writeable = False
    return target.data
