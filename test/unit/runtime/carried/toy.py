"""A session whose only step is a function, and what its runs give by hand."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from trivium.runtime import RunError, Session
from trivium.runtime.contents import Port

Toy = Callable[..., Session]

X, H = Port("x", (3,), "float32", 0), Port("h", (3,), "float32", 1)
Y, H1 = Port("y", (3,), "float32", 2), Port("h1", (3,), "float32", 3)
ONES = np.ones(3, np.float32)
INPUTS = [np.full(3, k, np.float32) for k in range(1, 7)]


def cell(x: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return x - h, 2 * h + x


def by_hand(xs: Sequence[np.ndarray], h: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    ys: list[np.ndarray] = []
    for x in xs:
        y, h = cell(x, h)
        ys.append(y)
    return ys, h


def refusal(use: Callable[..., Any], *arguments: Any, **named: Any) -> str:
    with pytest.raises(RunError) as caught:
        use(*arguments, **named)
    assert "\n" not in str(caught.value)
    return str(caught.value)
