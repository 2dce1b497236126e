"""What a model may be, and which frontend reads it."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from ..dialects.core.errors import CompileError
from ..dialects.core.module import Module
from ..dialects.core.tensor import Bindings
from ..runtime import SUFFIX
from ..targets.options import DEFAULT, CompileOptions

if TYPE_CHECKING:
    from ..runtime.package import Package
    from .frontends.onnx import Source as OnnxSource
    from .frontends.pnnx import Graph
    from .frontends.pnnx.run_pnnx import TorchModule

    Source = OnnxSource | Graph | TorchModule
else:
    Source = Any  # the types of a source are those of libraries that may be missing

PNNX_SUFFIX = ".param"
IR_SUFFIXES = {"text": ".mlir", "bytecode": ".mlirbc"}
"""How the names of files end that are not ONNX, packages apart."""


def import_model(source: Source, options: CompileOptions = DEFAULT) -> Module:
    """Translate a model to a `tri` module in the current context.

    A path that ends in `.param`, and a PNNX graph, are PNNX; a torch module is converted to it, and
    takes `example_inputs`; a path that ends in `.mlir` or `.mlirbc` is IR, whose shapes are static;
    everything else is ONNX. `options` bind sizes and values; errors are those of `import_onnx` and
    `import_pnnx`.
    """
    shapes, constants = options.shapes, options.constants
    example_inputs = options.example_inputs
    if is_torch_module(source):
        source = _converted(source, example_inputs)
    elif example_inputs is not None:
        given = (
            f"; say target='{example_inputs}' by name" if isinstance(example_inputs, str) else ""
        )
        raise CompileError(
            f"example_inputs are for torch modules, the model is {_kind(source)}{given}"
        )
    if isinstance(source, (str, os.PathLike)) and Path(source).suffix == SUFFIX:
        raise CompileError(f"'{source}' is a package, must be a model: it is compiled already")
    if is_ir(source):
        from .ir_files import load_ir

        if shapes or constants:
            raise CompileError(f"'{source}' is IR: its shapes are static, it takes no bindings")
        return load_ir(source)
    if _is_pnnx(source):
        from .frontends.pnnx.importer import import_pnnx

        return import_pnnx(source, shapes=shapes, constants=constants)
    from .frontends.onnx import import_onnx

    return import_onnx(cast("OnnxSource", source), shapes=shapes, constants=constants)


def _converted(module: "TorchModule", example_inputs: Any) -> "Graph":
    """Convert a torch module; what a rule is registered for stays whole."""
    from .frontends.pnnx.importer import RULES
    from .frontends.pnnx.run_pnnx import convert_module

    if example_inputs is None:
        name = type(module).__name__
        raise CompileError(f"'{name}' is a torch module: give example_inputs, what it is called on")
    return convert_module(module, example_inputs, whole=RULES)


def _kind(source: Source) -> str:
    return f"'{source}'" if isinstance(source, (str, os.PathLike)) else type(source).__name__


def is_torch_module(source: "Source | Package") -> "TypeGuard[TorchModule]":
    """Report whether a model is a torch module; a file is none, and needs no import to tell."""
    if isinstance(source, (str, bytes, os.PathLike)):
        return False
    from .frontends.pnnx import run_pnnx

    return run_pnnx.is_torch_module(source)


def is_ir(source: Source) -> TypeGuard[str | os.PathLike[str]]:
    """Report whether a model is a file of IR, by its suffix."""
    is_path = isinstance(source, (str, os.PathLike))
    return is_path and Path(source).suffix in IR_SUFFIXES.values()


def read_model(
    source: "str | os.PathLike[str] | Package", shapes: Bindings | None = None
) -> Module:
    """Read a file of any kind in the current context: a model, IR, or the placed IR of a package.

    Raises CompileError and PackageError; sizes for a package are an error, too.
    """
    is_path = isinstance(source, (str, os.PathLike))
    if is_path and Path(source).suffix != SUFFIX:
        return import_model(source, CompileOptions(shapes=shapes))
    from ..runtime.package import Package
    from .packaged import packaged_module

    if shapes:
        raise CompileError("shapes are given for a package, must be left out: its own are static")
    return packaged_module(Package.open(source) if is_path else source)


def _is_pnnx(source: Source) -> "TypeGuard[str | os.PathLike[str] | Graph]":
    if isinstance(source, (str, os.PathLike)):
        return Path(source).suffix == PNNX_SUFFIX
    if isinstance(source, bytes):
        return False
    from .frontends.pnnx import Graph

    return isinstance(source, Graph)


def name_of(source: Source) -> str:
    """Return what a package says it was made from: the name of a file, or of a torch class."""
    if is_torch_module(source):
        return type(source).__name__
    return Path(source).name if isinstance(source, (str, os.PathLike)) else ""
