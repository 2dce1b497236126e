"""Reading images between their elements."""

from collections.abc import Sequence
from itertools import product

import numpy as np

from ...core.tensor import Array

Tap = tuple[Array, Array]
"""An element of one axis that each point sees, and its weight: two arrays over all points."""


def linear_taps(at: Array, size: int) -> list[Tap]:
    """Return the two elements of an axis around each point; nothing counts beyond the ends."""
    below = np.floor(at)
    return [_inside(below, 1 - (at - below), size), _inside(below + 1, at - below, size)]


def _inside(index: Array, weight: Array, size: int) -> Tap:
    counts = (index >= 0) & (index < size)
    return index.clip(0, size - 1).astype(np.int64), np.where(counts, weight, 0)


def sample(image: Array, taps: Sequence[Sequence[Tap]]) -> Array:
    """Interpolate an image [C, spatial…] at points: sum the products of the taps of each axis."""
    y = np.zeros((image.shape[0], *taps[0][0][0].shape), image.dtype)
    for corner in product(*taps):
        places = tuple(index for index, _ in corner)
        weight = np.prod([w for _, w in corner], axis=0).astype(image.dtype)
        y += image[(slice(None), *places)] * weight
    return y
