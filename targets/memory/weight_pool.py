"""Give the constants of a memory space their places in the file of its weights."""

import zlib

import numpy as np

from ...dialects.core.tensor import Array, bytes_of, same_bits
from ...runtime.memory import allocate
from .arena import ALIGNMENT


class WeightPool:
    """Place constants one behind the other; those of equal bytes are stored once.

    Several programs of one package may place theirs here. `size_bytes` is what all of them take.
    """

    def __init__(self) -> None:
        self.size_bytes = 0
        self._stored: list[tuple[int, Array]] = []
        self._alike: dict[tuple[int, int], list[tuple[int, Array]]] = {}

    def place(self, array: Array) -> int:
        """Return the offset of a constant."""
        array = np.ascontiguousarray(array)
        data = bytes_of(array)
        alike = self._alike.setdefault((data.size, zlib.crc32(data.data)), [])
        for offset, other in alike:
            if same_bits(other, array):
                return offset
        offset = self.place_alone(array)
        alike.append((offset, array))
        return offset

    def place_alone(self, array: Array) -> int:
        """Return the offset of a constant whose place no other one shares."""
        offset = self.size_bytes
        array = np.ascontiguousarray(array)
        self._stored.append((offset, array))
        self.size_bytes += -(-array.nbytes // ALIGNMENT) * ALIGNMENT
        return offset

    def take(self) -> memoryview:
        """Copy all constants to where a session reads them; each is freed as soon as it is copied.

        There is no room for two copies of large ones: the pool is used up.
        """
        self._alike.clear()
        blob = allocate(self.size_bytes)
        while self._stored:
            offset, array = self._stored.pop()
            flat = bytes_of(array)
            blob[offset : offset + flat.size] = flat
        return blob.data


WeightPools = dict[str, WeightPool]
"""The pool of each memory space, by its name."""
