"""From a model, a package or IR to a file of another format: `trivium export`."""

import os
from pathlib import Path

from ..dialects.core.arguments import name, path
from ..dialects.core.errors import CompileError
from ..dialects.core.mlir import new_context
from ..dialects.core.module import Module
from ..passes.decompose import Decompose
from ..passes.default import ARITHMETIC, WHOLE, default_pipeline
from ..passes.pipeline import Pipeline
from ..runtime import SUFFIX
from .arguments import checked_arguments
from .frontends.core.bindings import Bindings
from .ir_files import save_ir
from .source import IR_SUFFIXES, PNNX_SUFFIX, is_ir, read_model

SUFFIXES = {
    "onnx": (".onnx",),
    "pnnx": (PNNX_SUFFIX,),
    "mlir": tuple(IR_SUFFIXES.values()),
}
"""The formats that there are, and how the names of their files end."""


@checked_arguments(source=path, output=path, format=name)
def export(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    format: str = "",
    shapes: Bindings | None = None,
    opt_level: int = 0,
) -> None:
    """Write a model, a package (`.trv`) or IR (`.mlir`) as an ONNX or a PNNX file, or as IR.

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
        module = _read(Path(source), shapes, opt_level)
        if form == "mlir":
            save_ir(module, output)
            return
        if form == "pnnx":
            from .exporters.pnnx import save_pnnx

            Pipeline(ARITHMETIC).run(module)  # it has no quantised numbers
            save_pnnx(module, output)
            return
        from .exporters.onnx import save_onnx

        Decompose(ops=WHOLE).run(module)  # what ONNX has in parts
        save_onnx(module, output)


def _read(source: Path, shapes: Bindings | None, opt_level: int) -> Module:
    """Read what is to be written; packages and IR are written as they are."""
    module = read_model(source, shapes)
    if opt_level and source.suffix != SUFFIX and not is_ir(source):
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
