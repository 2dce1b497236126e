"""Check what a user gives as tokens: whole numbers below the size of the vocabulary."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import RunError


def checked_tokens(tokens: "Iterable[int] | NDArray[Any]", vocabulary: int) -> NDArray[np.int64]:
    """Return tokens as an array; raise RunError for what are none, or not of the vocabulary."""
    if isinstance(tokens, str | bytes):
        raise RunError("tokens are text, must be whole numbers: encode it with a tokenizer")
    try:
        given = np.asarray(tokens if isinstance(tokens, np.ndarray) else list(tokens))
    except (TypeError, ValueError):
        given = np.array(["?"])
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise RunError("tokens must be whole numbers, one after the other")
    outside = (given < 0) | (given >= vocabulary) if given.size else np.zeros(0, bool)
    wrong = np.flatnonzero(outside)
    if len(wrong):
        place = int(wrong[0])
        raise RunError(
            f"token {place} is {given[place]}, must be from 0 to {vocabulary - 1}: the vocabulary "
            f"has {vocabulary} tokens"
        )
    return given.astype(np.int64)
