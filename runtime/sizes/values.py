"""The numbers that the sizes of a package stand for in a plan."""

from array import array
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .size_expressions import Size

Shapes: TypeAlias = tuple[tuple[int, ...], ...]
"""The shapes of all inputs, or of all outputs, in order."""

_NOTHING: Mapping[Any, Any] = MappingProxyType({})


class SizeFault(ValueError):
    """Report why a package cannot run at some sizes."""


def spelled_sizes(sizes: Mapping[str, int]) -> str:
    """Spell the values of symbols: `N=2, T=128`."""
    return ", ".join(f"{name}={size}" for name, size in sizes.items())


class PortSizes(NamedTuple):
    """Hold the shapes of inputs and outputs, and the bytes of each output."""

    inputs: Shapes = ()
    outputs: Shapes = ()
    output_bytes: tuple[int, ...] = ()

    def at(self, places: Sequence[int], inputs: int) -> "PortSizes":
        """Return the sizes of some ports, of which so many are inputs of a part of a run.

        A place is the number of an input, or that of an output behind all inputs.
        """
        shapes, first = (*self.inputs, *self.outputs), len(self.inputs)
        return PortSizes(
            tuple(shapes[at] for at in places[:inputs]),
            tuple(shapes[at] for at in places[inputs:]),
            tuple(self.output_bytes[at - first] for at in places[inputs:]),
        )


_NO_NUMBERS = array("q")


class Values:
    """Hold the numbers that the sizes of a package stand for at values of its symbols.

    `arenas` has the bytes of the arenas with regions, by their bases. `places` are those of texts
    among the `numbers`. `shapes` are those of all inputs and then of all outputs, which take
    `output_bytes`.
    """

    def __init__(
        self,
        symbols: Mapping[str, int] = _NOTHING,
        numbers: "array[int]" = _NO_NUMBERS,
        places: Mapping[str, int] = _NOTHING,
        arenas: Mapping[int, int] = _NOTHING,
        shapes: Shapes = (),
        output_bytes: tuple[int, ...] = (),
    ) -> None:
        self.symbols = symbols
        self.arenas = arenas
        self._shapes = shapes
        self._output_bytes = output_bytes
        self.numbers = numbers
        self.places = places

    @property
    def ports(self) -> PortSizes:
        """Return the shapes of inputs and outputs."""
        count = len(self._shapes) - len(self._output_bytes)
        return PortSizes(self._shapes[:count], self._shapes[count:], self._output_bytes)

    def __call__(self, size: Size | str) -> int:
        """Return the number that a size stands for."""
        return self.numbers[self.places[size]] if isinstance(size, str) else size

    def knows(self, *sizes: Size | str) -> bool:
        """Return whether all of some sizes are numbers here."""
        return all(type(size) is int or size in self.places for size in sizes)

    def __str__(self) -> str:
        return ", ".join(f"{name} is {value}" for name, value in self.symbols.items())


STATIC = Values()
"""The values of a package without symbols."""


class SizeArray:
    """Make arrays of the numbers that some sizes stand for; fast enough for thousands.

    All values that it meets have the same places, or else it looks its texts up again.
    """

    def __init__(self, sizes: Sequence[Size]) -> None:
        known = dict.fromkeys(size for size in sizes if type(size) is int)
        self._sizes = sizes
        self._known = {size: i for i, size in enumerate(known)}
        self._constants = array("q", known)
        self._found: tuple[Mapping[str, int] | None, NDArray[np.intp]] = None, np.empty(0, np.intp)

    def at(self, values: Values) -> NDArray[np.int64]:
        """Return a new array of 64-bit numbers."""
        return self._numbers(values).take(self._places(values))

    def fill(self, target: NDArray[np.int64], values: Values) -> None:
        """Replace the numbers in an array that `at` has made."""
        # All places are valid; with mode "raise" numpy would write to an array of its own first.
        self._numbers(values).take(self._places(values), out=target, mode="clip")

    def _numbers(self, values: Values) -> NDArray[np.int64]:
        """Return all numbers side by side: one look at memory finds both kinds."""
        return np.frombuffer(self._constants + values.numbers, np.int64)

    def _places(self, values: Values) -> NDArray[np.intp]:
        """Return where each size is among the numbers."""
        places, found = self._found
        if places is not values.places:
            found = self._find(values.places)
            self._found = values.places, found
        return found

    def _find(self, places: Mapping[str, int]) -> NDArray[np.intp]:
        """Return where each size is, among its own numbers and, behind these, those of values."""
        known, count = self._known, len(self._known)
        found = [known[n] if type(n) is int else count + places[str(n)] for n in self._sizes]
        return np.array(found, np.intp)
