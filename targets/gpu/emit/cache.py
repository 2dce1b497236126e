"""Compiled kernels on disk."""

from ...cache import recall, remember
from .compiled import Compiled

SUFFIX = ".gpu"


def recall_compiled(identity: str) -> Compiled | None:
    """Return what was compiled from the same things before, or None."""
    found = recall(identity, SUFFIX)
    return None if found is None else Compiled.from_bytes(found)


def remember_compiled(identity: str, compiled: Compiled) -> None:
    """Keep a kernel for later runs."""
    remember(identity, compiled.to_bytes(), SUFFIX)
