"""The format PNNX."""

import os
from typing import Any

from ...dialects.core.module import Module
from ...targets.options import CompileOptions
from ..format import Format


class Pnnx(Format):
    """PNNX models: a .param file with its .bin, or a pnnx.Graph."""

    name = "pnnx"
    suffixes = (".param",)

    def accepts(self, source: Any) -> bool:
        if isinstance(source, (str, bytes, os.PathLike)):
            return super().accepts(source)
        from ..frontends.pnnx import Graph

        return isinstance(source, Graph)

    def read(self, source: Any, options: CompileOptions) -> Module:
        from ..frontends.pnnx.importer import import_pnnx

        return import_pnnx(source, shapes=options.shapes, constants=options.constants)

    def write(self, module: Module, path: str) -> None:
        from ...passes.decompose import Decompose
        from ...passes.default import ARITHMETIC
        from ...passes.pipeline import Pipeline
        from ..exporters.pnnx import save_pnnx
        from ..format_limits import decompose_mask_chains

        decompose_mask_chains(module)
        Decompose(ops=("tensor_scatter",)).run(module)
        Pipeline(ARITHMETIC).run(module)  # PNNX has no quantised numbers
        save_pnnx(module, path)
