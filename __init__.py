"""Trivium compiles a neural network once and runs it on CPUs, GPUs and accelerators.

`compile` a model to a session, or `build` a package of it, `load` a saved one, write a model as C
(`emit_c`), `check` where a model would run, ask of each node whether a target `can_run` it,
`quantize` a model by data, or its weights alone; everything is imported on first use. Start reading
at `compiler/driver.py`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .version import __version__ as __version__

if TYPE_CHECKING:
    from .compiler.c.emit import emit_c
    from .compiler.check import can_run, check
    from .compiler.driver import build, compile
    from .compiler.quantize import quantize, quantize_weights
    from .dialects.core.errors import CompileError
    from .dialects.core.sizes.symbols import Range
    from .runtime import (
        Generator,
        PackageError,
        RunError,
        Sampling,
        Scheduler,
        Session,
        SessionPool,
        load,
    )

_EXPORTS = {
    "CompileError": ".dialects.core.errors",
    "Generator": ".runtime",
    "PackageError": ".runtime",
    "Range": ".dialects.core.sizes.symbols",
    "RunError": ".runtime",
    "Sampling": ".runtime",
    "Scheduler": ".runtime",
    "Session": ".runtime",
    "SessionPool": ".runtime",
    "build": ".compiler.driver",
    "can_run": ".compiler.check",
    "check": ".compiler.check",
    "compile": ".compiler.driver",
    "emit_c": ".compiler.c.emit",
    "load": ".runtime",
    "quantize": ".compiler.quantize",
    "quantize_weights": ".compiler.quantize",
}

__all__ = [
    "CompileError",
    "Generator",
    "PackageError",
    "Range",
    "RunError",
    "Sampling",
    "Scheduler",
    "Session",
    "SessionPool",
    "build",
    "can_run",
    "check",
    "compile",
    "emit_c",
    "load",
    "quantize",
    "quantize_weights",
]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_EXPORTS[name], __name__), name)


def __dir__() -> list[str]:
    """Return the names above, too, before they are imported."""
    return sorted({*globals(), *__all__})
