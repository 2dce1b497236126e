"""From a model, a package or IR to a file of another format: `trivium export`."""

import os
from pathlib import Path
from typing import Any

from ..dialects import tri
from ..dialects.core.arguments import name, path
from ..dialects.core.errors import CompileError
from ..dialects.core.mlir import new_context
from ..dialects.core.module import Module
from ..dialects.core.op import Op
from ..dialects.core.tensor import Bindings
from ..passes.decompose import Decompose, Decomposition, decomposition_rules
from ..passes.default import ARITHMETIC, WHOLE, default_pipeline
from ..passes.pipeline import Pipeline
from ..passes.rewriting import NoMatch, Rewriter, rewrite
from ..runtime import SUFFIX
from ..runtime.package import Package
from .arguments import checked_arguments
from .ir_files import save_ir
from .source import IR_SUFFIXES, PNNX_SUFFIX, is_ir, read_model

SUFFIXES = {
    "onnx": (".onnx",),
    "pnnx": (PNNX_SUFFIX,),
    "mlir": tuple(IR_SUFFIXES.values()),
}
"""The formats that there are, and how the names of their files end."""


def _source(value: Any) -> str | Package:
    """Check the path of a file, or an open package."""
    return value if isinstance(value, Package) else path(value)


@checked_arguments(source=_source, output=path, format=name)
def export(
    source: str | os.PathLike[str] | Package,
    output: str | os.PathLike[str],
    *,
    format: str = "",
    shapes: Bindings | None = None,
    opt_level: int = 0,
) -> None:
    """Write a model, a package (`.trv`, or open) or IR (`.mlir`) as ONNX, as PNNX or as IR.

    `format` is "onnx", "pnnx" or "mlir", by default what the name of the output says; weights of
    PNNX go to a `.bin` beside it, those of IR to a `.weights.npz`. `shapes` and `opt_level` are
    those of `compile`: a model is written as it is after the passes of the level that are for any
    target, by default as it was imported. Raises CompileError with everything that has no
    equivalent in the format.
    """
    form = format or _format_of(output)
    if form not in SUFFIXES:
        raise CompileError(f"no format is called '{form}', there are: {', '.join(SUFFIXES)}")
    with new_context():
        module = _read(source, shapes, opt_level)
        if form == "mlir":
            save_ir(module, output)
            return
        rewrite(module, _ChainOfMasks(tri.Attention, decomposition_rules()[tri.Attention]))
        if form == "pnnx":
            from .exporters.pnnx import save_pnnx

            Pipeline(ARITHMETIC).run(module)  # it has no quantised numbers
            save_pnnx(module, output)
            return
        from .exporters.onnx import save_onnx

        Decompose(ops=WHOLE).run(module)  # what ONNX has in parts
        save_onnx(module, output)


class _ChainOfMasks(Decomposition):
    """Take apart attention that has more masks than the one that formats know."""

    def rewrite(self, op: Op, rewriter: Rewriter) -> None:
        if not (isinstance(op, tri.Attention) and op.is_chain):
            raise NoMatch("formats have such a mask")
        super().rewrite(op, rewriter)


def _read(
    source: str | os.PathLike[str] | Package, shapes: Bindings | None, opt_level: int
) -> Module:
    """Read what is to be written; packages and IR are written as they are."""
    module = read_model(source, shapes)
    if isinstance(source, Package):
        return module
    if opt_level and Path(source).suffix != SUFFIX and not is_ir(source):
        Pipeline(default_pipeline(opt_level)).run(module)
    return module


def _format_of(output: str | os.PathLike[str]) -> str:
    suffix = Path(output).suffix
    found = [form for form, ends in SUFFIXES.items() if suffix in ends]
    if not found:
        endings = " or ".join(end for ends in SUFFIXES.values() for end in ends)
        where = os.fspath(output)
        raise CompileError(f"'{where}' must end in {endings}, or give a format")
    return found[0]
