"""From a model, a package or IR to a file of another format: `trivium export`."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..dialects.core.arguments import name, path
from ..dialects.core.errors import CompileError
from ..dialects.core.mlir import new_context
from ..dialects.core.tensor import Bindings
from ..passes.default import default_pipeline
from ..passes.pipeline import Pipeline
from ..runtime.package import Package
from ..targets.choices import AS_GIVEN
from ..targets.options import CompileOptions
from .arguments import checked_arguments
from .format import Format
from .sizes.free import need_static
from .source import find_format, formats, read_model
from .stages import activation_passes


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
    inputs: str | Sequence[str] = (),
    outputs: str | Sequence[str] = (),
    activations: str = AS_GIVEN,
) -> None:
    """Write a model, a package (`.trv`, or open) or IR (`.mlir`) in another format.

    `format` is "onnx", "pnnx", "mlir" or that of a plugin, by default the format with the suffix of
    the output; weights of PNNX are written to a `.bin` beside it, those of IR to a `.weights.npz`.
    `shapes`, `opt_level`, `inputs`, `outputs` and `activations` are those of `compile`: a model is
    written after the passes of the level that are for any target, by default as it was imported;
    packages and IR are written as they are, but for `activations`. Raises CompileError with
    everything that has no equivalent in the format.
    """
    form = _format(format, output)
    options = CompileOptions(shapes=shapes, inputs=inputs, outputs=outputs, activations=activations)
    with new_context():
        module = read_model(source, options)
        Pipeline(activation_passes(options)).run(module)
        if not form.writes_symbols:
            need_static(module, f"files of {form.name} have exact sizes")
        if opt_level and find_format(source).has_levels:
            Pipeline(default_pipeline(opt_level)).run(module)
        form.write(module, os.fspath(output))


def written_formats() -> dict[str, Format]:
    """Return the formats that can be written, by name."""
    return {name: each for name, each in formats().items() if each.writes}


def _format(name: str, output: str | os.PathLike[str]) -> Format:
    """Return a format by its name or by the suffix of a file."""
    known = written_formats()
    if name:
        if name not in known:
            raise CompileError(f"no format is called '{name}', there are: {', '.join(known)}")
        return known[name]
    found = [each for each in known.values() if Path(output).suffix in each.suffixes]
    if not found:
        endings = " or ".join(end for each in known.values() for end in each.suffixes)
        raise CompileError(f"'{os.fspath(output)}' must end in {endings}, or give a format")
    return found[0]
