"""Save programs of `torch.export` in memory. No MLIR.

Only this file knows torch, and imports it no sooner than there is a program or a module.
"""

import sys
import warnings
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any, TypeGuard

from ....dialects.core.errors import CompileError, Diagnostic
from ..torch.aten import aten_rule
from .archive import read_archive
from .graph import Program

if TYPE_CHECKING:
    from torch.export import ExportedProgram


def is_exported_program(model: object) -> "TypeGuard[ExportedProgram]":
    """Return whether a model is an exported program, without importing torch."""
    module = sys.modules.get("torch.export")
    return module is not None and isinstance(model, module.ExportedProgram)


def read_exported(program: "ExportedProgram") -> Program:
    """Return what a program is, with its operators taken apart that have no rule.

    Raises CompileError when torch cannot decompose or save the program.
    """
    archive = BytesIO()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns of what it does itself
            untyped: Any = program
            _save(untyped.run_decompositions(_decompositions()), archive)
    except Exception as error:  # decompositions and custom operators may raise anything
        first, *rest = str(error).strip().splitlines() or [""]
        message = f"torch cannot decompose the program: {type(error).__name__}: {first}"
        raise CompileError([Diagnostic("", message, tuple(rest[:8]))]) from error
    return read_archive(archive)


def _save(program: "ExportedProgram", archive: BytesIO) -> None:
    import torch

    # Example inputs are saved by pickle, and are not read.
    program.example_inputs = None  # pyright: ignore[reportAttributeAccessIssue]
    torch.export.save(program, archive)


@cache
def _decompositions() -> dict[Any, Any]:
    """Return torch's decompositions of the operators that have no rule."""
    import torch
    from torch import _decomp

    everything: Any = _decomp
    table: dict[Any, Any] = {
        **everything.decomposition_table,
        **torch.export.default_decompositions(),
    }
    return {
        overload: function
        for overload, function in table.items()
        if getattr(overload, "namespace", "") == "aten" and aten_rule(_spell(overload)) is None
    }


def _spell(overload: Any) -> str:
    """Return `aten::add.Tensor` for an overload."""
    return str(overload.name()).removesuffix(".default")
