"""The buffers of a package with the numbers of a plan."""

from ..contents import Buffer, Contents
from ..sizes.values import Values


class BuffersAt:
    """Give the buffers of a package the numbers of a plan, each when it is first asked for."""

    def __init__(self, contents: Contents, values: Values) -> None:
        self._buffers = contents.buffers
        self._symbolic = contents.symbolic_buffers
        self._values = values
        self._known: dict[int, Buffer] = {}

    def __getitem__(self, index: int) -> Buffer:
        found = self._known.get(index)
        if found is None:
            buffer = self._buffers[index]
            found = self._made(buffer) if index in self._symbolic else buffer
            self._known[index] = found
        return found

    def _made(self, buffer: Buffer) -> Buffer:
        values = self._values
        shape = tuple([size if type(size) is int else values(size) for size in buffer.shape])
        return buffer.changed(shape=shape, offset=values(buffer.offset))
