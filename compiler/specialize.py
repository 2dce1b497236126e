"""Make something of a model when its inputs are at hand: their shapes, and values it must know."""

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from ..dialects.core.errors import CompileError
from ..dialects.core.tensor import Array, Shape

Made = TypeVar("Made")
Make = Callable[[Mapping[str, Shape], Mapping[str, Array]], Made]
"""Makes the thing for shapes of inputs and for inputs fixed to values; raises CompileError."""


class Specialized(Generic[Made]):
    """Make a thing once for each shape of the inputs and each value that compiling has to know.

    A model may compute a shape from an input: the target of a reshape, the axes of a reduction.
    What is compiled is then right for one value of that input, and for other values it is
    compiled anew. Which inputs these are comes out of compiling: its errors say what they need.
    """

    def __init__(self, make: Make[Made]) -> None:
        self._make = make
        self._fixed: list[str] = []
        self._made: dict[object, Made] = {}

    def get(self, inputs: Mapping[str, Array]) -> tuple[Made, dict[str, Array]]:
        """Return the thing for these inputs, with the inputs that it still takes."""
        shapes = {name: array.shape for name, array in inputs.items()}
        while True:
            fixed = {name: inputs[name] for name in self._fixed}
            key = (tuple(shapes.items()), *((n, a.dtype, a.tobytes()) for n, a in fixed.items()))
            try:
                if key not in self._made:
                    self._made[key] = self._make(shapes, fixed)
            except CompileError as error:
                more = [n for n in error.needs if n in inputs and n not in fixed]
                if not more:
                    raise
                self._fixed += more
                continue
            free = {name: array for name, array in inputs.items() if name not in fixed}
            return self._made[key], free
