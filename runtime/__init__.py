"""Open a package and run it; needs nothing but numpy.

Everything may import it; it imports nothing else of Trivium. Start reading at `session.py`, then
`step.py` (what a step is) and `manifest.py` (what a package contains).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from .allocation.strategy import Allocators
    from .dla.step import Drivers
    from .errors import PackageError, RunError
    from .file.signature import Keys
    from .generation.generator import Generator
    from .generation.sampling import Sampling
    from .gpu.device import Device
    from .package import Package
    from .scheduling.scheduler import Scheduler
    from .serving.session_pool import SessionPool
    from .session import Session

__all__ = [
    "Generator",
    "Package",
    "PackageError",
    "RunError",
    "Sampling",
    "Scheduler",
    "Session",
    "SessionPool",
    "load",
]

SUFFIX = ".trv"
"""The suffix of the file of a package, by which tools tell it from a model."""

_HOMES = {
    "Generator": ".generation.generator",
    "Package": ".package",
    "PackageError": ".errors",
    "RunError": ".errors",
    "Sampling": ".generation.sampling",
    "Scheduler": ".scheduling.scheduler",
    "Session": ".session",
    "SessionPool": ".serving.session_pool",
}


def load(
    path: str | os.PathLike[str] | bytes | bytearray | memoryview,
    *,
    threads: int | None = None,
    cores: str | Sequence[int] | None = None,
    numa: int | None = None,
    device: int | Device = 0,
    drivers: Drivers | None = None,
    scheduler: str | Scheduler | None = None,
    mmap: bool | None = None,
    key: Keys | None = None,
    check: bool = False,
    memory: str = "static",
    allocator: Allocators | None = None,
) -> Session:
    """Open the package at `path`, or that of the bytes of such a file, and make it ready to run.

    `threads`, `cores`, `numa`, `device`, `drivers`, `scheduler`, `memory` and `allocator` are those
    of `Session`. The file is mapped, unless `mmap` is False; it must not be changed in place then,
    and its weights are compared with their checksum before the first run, or here with `check`.
    `key` is an Ed25519 public key, or several, each the path of a PEM file or its bytes: a package
    that none of them has signed is refused before anything in it is used. See docs/security.md.
    Raises PackageError and RunError.
    """
    from .package import Package
    from .session import Session

    package = Package.open(path, mmap=mmap, key=key, check=check)
    return Session(
        package,
        threads=threads,
        cores=cores,
        numa=numa,
        device=device,
        drivers=drivers or {},
        scheduler=scheduler,
        memory=memory,
        allocator=allocator,
    )


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name], __name__), name)
