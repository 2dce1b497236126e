"""The numbers that the sizes of a package stand for in a plan."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .size_expressions import Size

_NOTHING: Mapping[Any, Any] = MappingProxyType({})


class SizeFault(ValueError):
    """Report why a package cannot run at some sizes."""


class Values:
    """Hold the numbers that the sizes of a package stand for at values of its symbols.

    `arenas` has the bytes of the arenas with regions, by their bases. `places` are those of texts
    in the `table` of numbers.
    """

    def __init__(
        self,
        symbols: Mapping[str, int] = _NOTHING,
        numbers: Sequence[int] = (),
        places: Mapping[str, int] = _NOTHING,
        arenas: Mapping[int, int] = _NOTHING,
    ) -> None:
        self.symbols = symbols
        self.arenas = arenas
        self._numbers = numbers
        self.places = places

    def __call__(self, size: Size | str) -> int:
        """Return the number that a size stands for."""
        return self._numbers[self.places[size]] if isinstance(size, str) else size

    @cached_property
    def table(self) -> NDArray[np.int64]:
        """Return the numbers of all texts."""
        return np.array(self._numbers, np.int64)

    def __str__(self) -> str:
        return ", ".join(f"{name} is {value}" for name, value in self.symbols.items())


STATIC = Values()
"""The values of a package without symbols."""


class SizeArray:
    """Make arrays of the numbers that some sizes stand for; fast enough for thousands.

    All values that it meets have the same places, or else it looks its texts up again.
    """

    def __init__(self, sizes: Sequence[Size]) -> None:
        texts = {i: str(size) for i, size in enumerate(sizes) if type(size) is not int}
        self._numbers = np.array([0 if i in texts else n for i, n in enumerate(sizes)], np.int64)
        self._to = np.array(list(texts), np.intp)
        self._texts = list(texts.values())
        self._found: tuple[Mapping[str, int], NDArray[np.intp]] = _NOTHING, self._to

    def at(self, values: Values) -> NDArray[np.int64]:
        """Return a new array of 64-bit numbers."""
        array = self._numbers.copy()
        if self._texts:
            places, found = self._found
            if places is not values.places:
                found = np.array([values.places[text] for text in self._texts], np.intp)
                self._found = values.places, found
            array[self._to] = values.table[found]
        return array
