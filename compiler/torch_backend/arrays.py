"""Arrays of numpy as tensors of torch, in place."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from ...dialects.core.tensor import Array

_untyped: Any = torch
_from_numpy: Callable[[Any], torch.Tensor] = _untyped.from_numpy


def tensor_of(array: Array) -> torch.Tensor:
    """Return an array that nobody else has as a tensor, in place where it may be written."""
    given: Any = array if array.flags.writeable else array.copy()
    if given.dtype.name != "bfloat16":
        return _from_numpy(given)
    return _from_numpy(given.view(np.int16)).view(torch.bfloat16)


def dtype_of(name: str) -> torch.dtype:
    """Return torch's element type for the type of a session's port: they have the same names."""
    return getattr(torch, name)
