"""What a walk down trees gives, and what it refuses."""

from typing import Any

import numpy as np
import pytest
from trivium.dialects import tri
from trivium.dialects.core.errors import Invalid

Array = np.ndarray[Any, Any]

STUMP: dict[str, Any] = {
    "features": [1, 0, 0],
    "thresholds": [0.5, 0, 0],
    "children": [[1, 2], [1, 1], [2, 2]],
    "weights": [[0], [10], [20]],
    "roots": [0],
    "depths": [1],
}


def walk(x: list[list[float]], count: int = 1, aggregate: str = "sum", **changed: Any) -> Array:
    operands = [np.float32(x)]
    for name, numbers in (STUMP | changed).items():
        is_float = name in ("thresholds", "weights")
        operands.append(np.array(numbers, np.float32 if is_float else np.int32))
    return tri.TreeEnsemble(count=count, aggregate=aggregate).reference(*operands)


def test_the_threshold_and_less_lead_to_the_second_child() -> None:
    assert walk([[9, 0.4], [9, 0.5], [9, 0.6]]).tolist() == [[20], [20], [10]]


def test_nan_leads_to_the_first_child() -> None:
    assert walk([[9, np.nan]]).tolist() == [[10]]


def test_a_target_without_weights_has_no_extreme() -> None:
    y = walk([[9, 0]], count=2, aggregate="min", targets=[0, 1, 1])
    assert y.tolist() == [[0, 20]]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"features": [2, 0, 0]}, r"feature 2 is outside \[0, 2\)"),
        ({"children": [[1, 3], [1, 1], [2, 2]]}, r"child 3 is outside \[0, 3\)"),
        ({"roots": [-1]}, r"root -1 is outside \[0, 3\)"),
        ({"targets": [0, 0, 1]}, r"target 1 is outside \[0, 1\)"),
        ({"depths": [0]}, r"tree 0 is deeper than 0"),
    ],
)
def test_trees_with_faults(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(Invalid, match=message):
        walk([[0, 0]], **changed)
