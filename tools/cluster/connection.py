"""The connection of this process to a cluster of Ray."""

from importlib import import_module
from typing import Any

LOCAL = "local"
"""The address that starts a cluster of this machine, as `ray.init` has it."""


def connected(purpose: str, address: str | None = None) -> Any:
    """Return Ray's module when it runs: by now, or by `ray.init` at an address.

    Raises as `require` where Ray is not installed.
    """
    from ...dialects.core.extras import require

    require("ray", purpose)
    ray: Any = import_module("ray")
    if not ray.is_initialized():
        # A cluster of this process alone ends with it: nobody looks at its dashboard.
        ray.init(address=address, **({"include_dashboard": False} if address == LOCAL else {}))
    return ray
