"""MLIR's own errors, as the errors of Trivium."""

from ..errors import CompileError, Diagnostic
from ..location import describe
from ..mlir import ir


def severity(each: ir.DiagnosticInfo) -> str:
    """Return `error`, `warning`, `remark` or `note`."""
    return each.severity.name.lower()


def compile_error(error: ir.MLIRError) -> CompileError:
    """Convert an error of the bindings to a CompileError with the same locations and messages.

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
