"""The format ONNX."""

from typing import Any

from ...dialects.core.module import Module
from ...targets.options import CompileOptions
from ..format import Format


class Onnx(Format):
    """ONNX models: files, bytes or an onnx.ModelProto."""

    name = "onnx"
    suffixes = (".onnx",)
    writes_symbols = True

    def read(self, source: Any, options: CompileOptions) -> Module:
        from ..frontends.onnx import import_onnx

        return import_onnx(
            source, shapes=options.shapes, constants=options.constants, states=options.states
        )

    def write(self, module: Module, path: str) -> None:
        from ...passes.decompose import Decompose
        from ...passes.default import WHOLE
        from ..exporters.onnx import save_onnx
        from ..format_limits import decompose_counted_scatters, decompose_mask_chains

        decompose_mask_chains(module)
        decompose_counted_scatters(module)
        Decompose(ops=WHOLE).run(module)  # ops that ONNX has in parts
        save_onnx(module, path)
