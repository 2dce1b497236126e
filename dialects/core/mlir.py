"""The one door to the MLIR bindings: nothing else imports `torch_mlir`.

The types of what passes through here are in `mlir.pyi`. Rules that keep the bindings from
hanging or crashing (context threading off, no handle kept over a C++ pass) are kept here and in
`rewriting`; the rest of the code never sees them.
"""

from torch_mlir import ir
from torch_mlir.passmanager import PassManager

__all__ = ["PassManager", "execution_engine", "ir", "new_context", "upstream"]


def upstream(name: str):
    """Import an upstream dialect's builders, such as `arith` or `vector`."""
    import importlib

    return importlib.import_module(f"torch_mlir.dialects.{name}")


def execution_engine():
    """Return MLIR's `ExecutionEngine` class; imported late because only code generation needs it."""
    from torch_mlir.execution_engine import ExecutionEngine

    return ExecutionEngine


def new_context() -> ir.Context:
    """Make a context for Trivium's IR: dialects of MLIR load when met, threading off.

    Our ops are not registered with MLIR: IRDL, the only way to do so from Python, makes all
    operands of a variadic field share one type, which `concat` and kernels cannot live with.
    `verification` checks them instead, which is also many times faster than callbacks from C++.
    """
    context = ir.Context(load_on_create_dialects=["func"])
    context.enable_multithreading(False)
    context.allow_unregistered_dialects = True
    return context
