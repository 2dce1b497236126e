"""Gather what a loop puts out as often as its body runs, which nobody knows before."""

import ctypes
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..errors import RunError
from ..memory import Bases
from ..nested import Move
from ..sizes.size_expressions import Size


class Gathered:
    """Gather what each iteration puts out, of which nobody knows how many there are.

    It is stacked, or joined along its first axis, of which each may have another size. Where it is
    `fixed`, its place is the same each time, and so is its shape.
    """

    def __init__(
        self,
        move: Move,
        written: Sequence[Size],
        nodes: tuple[str, ...],
        *,
        joined: bool,
        fixed: bool,
    ) -> None:
        self.target = move.target
        self._nodes = nodes
        self._source = move.source
        self._joined = joined
        self._fixed = fixed
        self._read: tuple[tuple[int, ...], int, Callable[[], int]] | None = None
        self._element: tuple[int, ...] | None = None
        self._written = written
        self._count = 0
        self._used = 0
        self._bytes: NDArray[np.uint8] = np.empty(0, np.uint8)

    def add(self, bases: Bases) -> None:
        """Add what an iteration has put out; raise RunError for one of another shape."""
        shape, size, place = self._read if self._read and self._fixed else self._find(bases)
        element = shape[1:] if self._joined else shape
        if self._element not in (None, element):
            raise RunError(
                f"{', '.join(self._nodes)}: error: puts out shape {element} after {self._element}, "
                "must be of one shape"
            )
        self._element = element
        self._count += shape[0] if self._joined else 1
        end = self._used + size
        if end > self._bytes.size:
            grown = np.empty(1 << (end - 1).bit_length(), np.uint8)
            grown[: self._used] = self._bytes[: self._used]
            self._bytes = grown
        if size:
            to = self._bytes.ctypes.data + self._used
            ctypes.memmove(to, place(), size)
        self._used = end

    def _find(self, bases: Bases) -> tuple[tuple[int, ...], int, Callable[[], int]]:
        """Return the shape, the bytes and the place of what is gathered."""
        source = self._source
        self._read = bases.shape(source), bases.size_bytes(source), bases.locator(source)
        return self._read

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of all; where nothing was put out, sizes that are found are 0."""
        if self._element is not None:
            return (self._count, *self._element)
        return tuple(size if type(size) is int else 0 for size in self._written)

    @property
    def part(self) -> tuple[int, int]:
        """Return where all is, and how many bytes."""
        return self._bytes.ctypes.data, self._used


def store_parts(parts: Mapping[int, tuple[int, int]], bases: Bases) -> None:
    """Copy bytes to buffers; raise RunError for a buffer that is larger or smaller."""
    for target, (source, size) in parts.items():
        if (room := bases.size_bytes(target)) != size:
            raise RunError(f"a loop puts out {size} bytes for a buffer of {room}")
        if size:
            ctypes.memmove(bases.locator(target)(), source, size)
