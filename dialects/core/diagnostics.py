"""MLIR's own errors, as the errors of Trivium."""

from importlib.util import find_spec

from .errors import CompileError, Diagnostic
from .location import describe
from .mlir import ir

# All that compiles comes by here; reading PNNX files and running packages do without bindings.
if find_spec("torch_mlir") is None:
    raise CompileError("compiling needs the package torch-mlir: install trivium with what it needs")

SEVERITIES = {
    ir.DiagnosticSeverity.ERROR: "error",
    ir.DiagnosticSeverity.WARNING: "warning",
    ir.DiagnosticSeverity.REMARK: "remark",
    ir.DiagnosticSeverity.NOTE: "note",
}


def compile_error(error: ir.MLIRError) -> CompileError:
    """Turn what the bindings raise into a CompileError with the same places and words.

    A note keeps its own place at its beginning: `model.mlir:3:8: prior use here`.
    """
    found = [_diagnostic(each) for each in error.error_diagnostics]
    return CompileError(found or str(error))


def _diagnostic(each: ir.DiagnosticInfo) -> Diagnostic:
    notes = [f"{_place(n)}: {n.message}".removeprefix(": ") for n in each.notes]
    return Diagnostic(_place(each), each.message, tuple(notes))


def _place(each: ir.DiagnosticInfo) -> str:
    """Describe where; locations in errors have forgotten their class, their attributes have not."""
    location = each.location
    return describe(ir.Location.from_attr(location.attr, location.context))
