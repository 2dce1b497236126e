"""What a model may be, and which frontend reads it."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from ..dialects.core.module import Module
from ..dialects.core.tensor import Array
from .frontends.core.inputs import Bindings

if TYPE_CHECKING:
    from .frontends.onnx import Source as OnnxSource
    from .frontends.pnnx import Graph

    Source = OnnxSource | Graph
else:
    Source = Any  # the types of a source are those of libraries that may be missing

PNNX_SUFFIX = ".param"


def import_model(
    source: Source,
    *,
    shapes: Bindings | None = None,
    constants: Mapping[str, Array] | None = None,
) -> Module:
    """Translate a model to a `tri` module in the current context.

    A path that ends in `.param`, and a PNNX graph, are PNNX; everything else is ONNX. The
    arguments are those of `import_onnx` and `import_pnnx`, and so are the errors.
    """
    from .frontends.pnnx import Graph

    if isinstance(source, Graph) or _is_pnnx(source):
        from .frontends.pnnx.importer import import_pnnx

        return import_pnnx(source, shapes=shapes, constants=constants)
    from .frontends.onnx import import_onnx

    return import_onnx(source, shapes=shapes, constants=constants)


def _is_pnnx(source: Source) -> TypeGuard[str | os.PathLike[str]]:
    return isinstance(source, (str, os.PathLike)) and Path(source).suffix == PNNX_SUFFIX


def name_of(source: Source) -> str:
    """Return what a package says it was made from."""
    return Path(source).name if isinstance(source, (str, os.PathLike)) else ""
