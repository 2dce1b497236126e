"""The buffers of a package with the numbers of a plan."""

from collections.abc import Sequence

from ..contents import Buffer
from ..sizes.values import Values


class BuffersAt:
    """Give the buffers of a package the numbers of a plan, each when it is first asked for."""

    def __init__(self, buffers: Sequence[Buffer], values: Values) -> None:
        self._buffers = buffers
        self._values = values
        self._known: dict[int, Buffer] = {}

    def __getitem__(self, index: int) -> Buffer:
        found = self._known.get(index)
        if found is None:
            found = self._known[index] = self._made(self._buffers[index])
        return found

    def _made(self, buffer: Buffer) -> Buffer:
        if buffer.is_static:
            return buffer
        values = self._values
        shape = tuple([size if type(size) is int else values(size) for size in buffer.shape])
        return buffer.changed(shape=shape, offset=values(buffer.offset))
