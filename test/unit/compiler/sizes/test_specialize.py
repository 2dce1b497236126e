"""Things that are made again for other shapes and for other values that making them has to know."""

from collections.abc import Mapping

import numpy as np
import pytest
from trivium.compiler.specialize import Specialized
from trivium.dialects.core.errors import CompileError, Diagnostic
from trivium.dialects.core.tensor import Array, Shape

Made = tuple[dict[str, Shape], dict[str, list[float]]]


class Maker:
    """Ask for the values of some inputs, one after another, and count."""

    def __init__(self, *needed: str) -> None:
        self.needed = needed
        self.calls = 0

    def __call__(self, shapes: Mapping[str, Shape], constants: Mapping[str, Array]) -> Made:
        self.calls += 1
        for name in self.needed:
            if name not in constants:
                raise CompileError([Diagnostic("node", "needs it", needs=(name,))])
        return dict(shapes), {name: array.tolist() for name, array in constants.items()}


def test_makes_once_for_equal_shapes() -> None:
    maker = Maker()
    specialized = Specialized(maker)
    for size in (2, 2, 3, 2):
        made, free = specialized.get({"x": np.zeros(size)})
        assert made == ({"x": (size,)}, {})
        assert list(free) == ["x"]
    assert maker.calls == 2


def test_fixes_what_is_needed_and_makes_again_for_other_values() -> None:
    maker = Maker("a", "b")
    specialized = Specialized(maker)
    x = np.zeros(3)
    for a, b in ((1, 2), (1, 3), (1, 2)):
        made, free = specialized.get({"x": x, "a": np.array([a]), "b": np.array([b])})
        assert made[1] == {"a": [a], "b": [b]}
        assert list(free) == ["x"]
    assert maker.calls == 4  # asked twice before the first was made


def test_values_of_other_types_are_other_values() -> None:
    maker = Maker("a")
    specialized = Specialized(maker)
    specialized.get({"a": np.zeros(1, np.int32)})
    specialized.get({"a": np.zeros(1, np.float32)})
    assert maker.calls == 3


def test_a_need_that_no_input_meets_is_an_error() -> None:
    with pytest.raises(CompileError, match="needs it"):
        Specialized(Maker("elsewhere")).get({"x": np.zeros(2)})
