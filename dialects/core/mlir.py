"""The one door to the MLIR bindings: nothing else imports `torch_mlir`.

The types of what passes through here are in `mlir.pyi`. Rules that keep the bindings from
hanging or crashing (context threading off, no handle kept over a C++ pass) are kept here and in
`rewriting`; the rest of the code never sees them.
"""

import ctypes
import importlib
import importlib.util
import sys
import types
from typing import Any

from .extras import missing, require

BINDINGS = "torch_mlir"
PURPOSE = "compiling"


class _Unusable(type):
    """Let a class be named, in an annotation or an `except`; any use of it is a CompileError."""

    def __call__(cls, *_: Any, **__: Any) -> Any:
        raise missing(BINDINGS, PURPOSE)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise missing(BINDINGS, PURPOSE)


class _Missing(Exception, metaclass=_Unusable):
    """Stand in for each class of the bindings."""


class _MissingModule:
    """Stand in for a module of the bindings."""

    def __getattr__(self, name: str) -> type:
        return _Missing


try:
    from torch_mlir import ir
    from torch_mlir.passmanager import PassManager
except ModuleNotFoundError:
    # Packages run without the bindings: ops must still infer and compute, and all modules import.
    ir, PassManager = _MissingModule(), _Missing

__all__ = [
    "PassManager",
    "address",
    "announce_dialect",
    "code_context",
    "execution_engine",
    "has_dialect",
    "ir",
    "new_context",
    "upstream",
    "version",
]


def upstream(name: str):
    """Return an upstream dialect's builders, such as `arith` or `vector`, imported when used."""
    require(BINDINGS, PURPOSE)
    return _Builders(name)


def has_dialect(name: str) -> bool:
    """Report whether the bindings have builders for a dialect."""
    require(BINDINGS, PURPOSE)
    return importlib.util.find_spec(f"torch_mlir.dialects.{name}") is not None


class _Builders:
    """Import a module of builders on first use: only generating code needs them."""

    def __init__(self, name: str) -> None:
        self._module = f"torch_mlir.dialects.{name}"

    def __getattr__(self, name: str) -> Any:
        found = getattr(importlib.import_module(self._module), name)
        setattr(self, name, found)
        return found


def announce_dialect(name: str) -> None:
    """Tell the bindings that they have no Python module for a dialect of ours.

    Otherwise they search the import path for one whenever they hand out an op: 17 us each time.
    """
    module = f"torch_mlir.dialects.{name}"
    sys.modules.setdefault(module, types.ModuleType(module))


_CAPSULE = f"{BINDINGS}.ir.Operation._CAPIPtr".encode()
_CAPSULE_POINTER = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def address(operation: ir.Operation) -> int:
    """Return where an operation is in memory: its identity for as long as it exists.

    The bindings only hash an operation by its content, which changes.
    """
    return _CAPSULE_POINTER(operation._CAPIPtr, _CAPSULE)


def execution_engine():
    """Return MLIR's `ExecutionEngine` class; imported late: only code generation needs it."""
    require(BINDINGS, PURPOSE)
    from torch_mlir.execution_engine import ExecutionEngine

    return ExecutionEngine


def new_context() -> ir.Context:
    """Make a context for Trivium's IR: dialects of MLIR load when met, threading off.

    Our ops are not registered with MLIR: IRDL, the only way to do so from Python, makes all
    operands of a variadic field share one type, which `concat` and kernels cannot live with.
    `verification` checks them instead. Reaching an op takes 0.6 us there and 2 us from C++; with
    `Op.verify` that is 8 and 9 us, so what counts is that ops that did not change are not verified.
    """
    context = ir.Context(load_on_create_dialects=["func"])
    context.enable_multithreading(False)
    context.allow_unregistered_dialects = True
    return context


def code_context() -> ir.Context:
    """Make a context with all of MLIR's dialects loaded, for generating code; threading off."""
    context = ir.Context()
    context.enable_multithreading(False)
    return context


def version() -> str:
    """Return the version of the bindings: compiled code depends on it."""
    from importlib.metadata import version as version_of

    require(BINDINGS, PURPOSE)
    return version_of("torch-mlir")
