"""From a model, a package or IR to a file of another format: `trivium export`."""

import os
from pathlib import Path

from ..dialects.core.arguments import name, path
from ..dialects.core.errors import CompileError
from ..dialects.core.ir_file import parse_ir
from ..dialects.core.mlir import new_context
from ..dialects.core.module import Module
from ..passes.decompose import Decompose
from ..passes.default import ARITHMETIC, WHOLE, default_pipeline
from ..passes.pipeline import Pipeline
from ..runtime.package import SUFFIX, Package
from .arguments import checked_arguments
from .frontends.core.bindings import Bindings
from .packaged import packaged_module
from .source import PNNX_SUFFIX, import_model

IR_SUFFIXES = (".mlir", ".mlirbc")
SUFFIXES = {"onnx": ".onnx", "pnnx": PNNX_SUFFIX}
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
    """Write a model, a package (`.trv`) or IR (`.mlir`) as an ONNX or a PNNX file.

    `format` is "onnx" or "pnnx", by default what the name of the output says; PNNX weights go to a
    `.bin` beside it. `shapes` and `opt_level` are those of `compile`: a model is written as it is
    after the passes of the level that are for any target, by default as it was imported. Raises
    CompileError with everything that has no equivalent in the format.
    """
    form = format or _format_of(output)
    if form not in SUFFIXES:
        raise CompileError(f"no format is called '{form}', there are: {', '.join(SUFFIXES)}")
    with new_context():
        module = _read(Path(source), shapes, opt_level)
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
    if source.suffix == SUFFIX:
        return packaged_module(Package.open(source))
    if source.suffix in IR_SUFFIXES:
        return _parse(source)
    module = import_model(source, shapes=shapes)
    if opt_level:
        Pipeline(default_pipeline(opt_level)).run(module)
    return module


def _parse(source: Path) -> Module:
    module = Module(parse_ir(str(source)))
    module.verify()
    return module


def _format_of(output: str | os.PathLike[str]) -> str:
    suffix = Path(output).suffix
    found = [form for form, end in SUFFIXES.items() if end == suffix]
    if not found:
        endings = " or ".join(SUFFIXES.values())
        where = os.fspath(output)
        raise CompileError(f"'{where}' must end in {endings}, or give a format")
    return found[0]
