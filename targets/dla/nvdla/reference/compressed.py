"""Compressed weights: zeros are left out, and a mask has a bit for each weight."""

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]


def decompress(stored: Bytes, mask: Bytes, count: int, size: int) -> bytes:
    """Return `count` weights of `size` bytes; bits of the mask are from the lowest of each byte on.

    Raises ValueError for a mask with too few bits, and for fewer weights than the mask has ones.
    """
    if mask.size * 8 < count:
        raise ValueError(f"has a mask of {mask.size} bytes, {count} weights need a bit each")
    present = np.unpackbits(mask[: -(-count // 8)], bitorder="little")[:count].astype(bool)
    needed = int(present.sum()) * size
    if stored.size < needed:
        raise ValueError(f"has {stored.size} bytes of weights, its mask needs {needed}")
    found = np.zeros((count, size), np.uint8)
    found[present] = stored[:needed].reshape(-1, size)
    return found.tobytes()


def compress(weights: bytes, size: int) -> tuple[bytes, bytes]:
    """Return weights without zeros, and their mask; neither fills up units of 128 bytes."""
    values = np.frombuffer(weights, np.uint8).reshape(-1, size)
    present = values.any(axis=1)
    return values[present].tobytes(), np.packbits(present, bitorder="little").tobytes()
