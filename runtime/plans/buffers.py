"""The buffers of a package with the numbers of a plan."""

from collections.abc import Sequence

from ..contents import Buffer
from ..sizes.fields import with_sizes
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
            found = self._known[index] = with_sizes(self._buffers[index], self._values)
        return found
