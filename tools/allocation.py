"""How the C library of a command allocates memory."""

import ctypes
import sys

M_MMAP_THRESHOLD = -3
"""The parameter of mallopt(3) for the size from which a block is a mapping of its own."""

LARGE_BLOCK = 1 << 20


def return_large_blocks() -> None:
    """Let glibc return large blocks, such as weights, to the system as soon as they are freed.

    By default, the threshold grows to the largest block that was freed, and smaller blocks stay
    with the process. Other C libraries are left alone.
    """
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK)
