"""Trivium compiles a neural network once and runs it on CPUs, GPUs and accelerators.

`compile` a model to a session, or `load` a saved one; everything is imported on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .compiler import CompileError, compile  # noqa: A004
    from .runtime import PackageError, RunError, Session, load

__version__ = "0.1.0"

_EXPORTS = {
    "CompileError": ".dialects.core.errors",
    "PackageError": ".runtime",
    "RunError": ".runtime",
    "Session": ".runtime",
    "compile": ".compiler",
    "load": ".runtime",
}

__all__ = ["CompileError", "PackageError", "RunError", "Session", "compile", "load"]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_EXPORTS[name], __name__), name)
