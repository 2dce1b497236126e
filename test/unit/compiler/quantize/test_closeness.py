"""Closeness of tensors against numpy."""

import math

import numpy as np
import pytest
from trivium.compiler.quantize.closeness import closeness


def test_closeness_is_that_of_all_pairs_as_one() -> None:
    random = np.random.default_rng(1)
    x = random.normal(size=(3, 50)).astype(np.float32)
    q = (x + random.normal(0, 0.1, x.shape)).astype(np.float32)
    found = closeness(zip(x, q, strict=True))
    a, b = x.astype(np.float64).ravel(), q.astype(np.float64).ravel()
    assert found.cosine == pytest.approx(a @ b / np.linalg.norm(a) / np.linalg.norm(b), rel=1e-12)
    assert found.sqnr == pytest.approx(10 * np.log10((a @ a) / ((a - b) @ (a - b))), rel=1e-12)


@pytest.mark.parametrize(
    ("x", "q", "cosine", "sqnr"),
    [
        ([1, 2], [1, 2], 1.0, math.inf),
        ([0, 0], [0, 0], 1.0, math.inf),
        ([], [], 1.0, math.inf),
        ([3, 4], [0, 0], 0.0, 0.0),
        ([0, 0], [1, 0], 0.0, -math.inf),
        ([1, 2], [1, math.nan], 0.0, -math.inf),
        ([1, 2], [1, math.inf], 0.0, -math.inf),
        ([1, math.inf], [1, math.inf], 1.0, math.inf),
        ([1, 1], [-1, -1], -1.0, 10 * math.log10(1 / 4)),
    ],
)
def test_closeness_at_its_limits(
    x: list[float], q: list[float], cosine: float, sqnr: float
) -> None:
    found = closeness([(np.array(x, np.float32), np.array(q, np.float32))])
    assert (found.cosine, found.sqnr) == (pytest.approx(cosine), pytest.approx(sqnr))
