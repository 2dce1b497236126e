"""Variants of a module: with other inputs and results, compiled for the CPU to look at numbers."""

from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...runtime.session import Session
from ...targets.core import Progress
from ...targets.options import CompileOptions
from ..build import build_module
from ..stages import pipeline_for


def copied(module: Module) -> Module:
    """Return a module with IR of its own, and the same weights."""
    text = module.operation.get_asm(enable_debug_info=True)
    return Module(ir.Module.parse(text), dict(module.weights))


def compiled(module: Module, progress: Progress) -> Session:
    """Compile a module, which becomes what the CPU runs."""
    options = CompileOptions(progress=progress)
    return Session(build_module(module, pipeline_for("cpu", 2, options), options))
