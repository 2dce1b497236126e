"""The connection of this process to a cluster of Ray."""

from importlib import import_module
from typing import Any


def connected(purpose: str, address: str | None = None) -> Any:
    """Return Ray's module when it runs: by now, or by `ray.init` at an address.

    Raises as `require` where Ray is not installed.
    """
    from ...dialects.core.extras import require

    require("ray", purpose)
    ray: Any = import_module("ray")
    if not ray.is_initialized():
        ray.init(address=address)
    return ray
