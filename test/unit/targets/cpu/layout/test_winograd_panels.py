"""Panels of Winograd's method are as wide as two threads can share them."""

import pytest
from trivium.targets.cpu.layout.winograd_layout import panel_vectors


@pytest.mark.parametrize(
    ("blocks", "batches", "vectors"),
    [
        (16, 1, 4),  # 4 panels
        (12, 1, 3),  # 3 panels of 4 vectors would leave a thread idle for a quarter of the time
        (20, 1, 2),  # 5, for a sixth
        (28, 1, 4),  # 7, for an eighth
        (4, 1, 2),  # 1, for half
        (4, 2, 4),  # 2, those of two batches
        (12, 3, 4),  # 9, for a tenth
        (3, 1, 3),  # 3 of 1 vector are no better than 1 of 3
        (13, 1, 1),
        (1, 1, 1),
    ],
)
def test_panels_are_shared_evenly(blocks: int, batches: int, vectors: int) -> None:
    assert panel_vectors(blocks, batches) == vectors
