"""Read what the state of a session begins with from the entry of a package."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contents import STATE_ENTRY
from ..dtypes import resolve
from ..manifest import Manifest


def initial_state(manifest: Manifest, entries: Mapping[str, memoryview]) -> dict[str, NDArray[Any]]:
    """Return the initial value of each carried input that has one, by name; nothing is copied."""
    inputs = {port.name: port for port in manifest.inputs}
    found: dict[str, NDArray[Any]] = {}
    for pair in manifest.carried:
        if pair.initial is None:
            continue
        port = inputs[pair.input]
        dtype, count = resolve(port.dtype), np.prod(port.shape, dtype=np.int64)
        data = entries[STATE_ENTRY][pair.initial :][: int(count) * dtype.itemsize]
        found[port.name] = np.frombuffer(data, np.uint8).view(dtype).reshape(port.shape)
    return found
