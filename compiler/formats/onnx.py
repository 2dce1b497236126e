"""The format ONNX."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from ...dialects.core.module import Module
from ...targets.options import CompileOptions
from ..format import OpenedFormat


class Onnx(OpenedFormat):
    """ONNX models: files, bytes or an onnx.ModelProto."""

    name = "onnx"
    suffixes = (".onnx",)
    writes_symbols = True

    @contextmanager
    def open(
        self, source: Any, options: CompileOptions
    ) -> Generator[Callable[[CompileOptions], Module]]:
        from ..frontends.onnx.importer import import_opened
        from ..frontends.onnx.model import open_model, read_once

        with open_model(source) as (model, values):
            held = read_once(model, values)
            yield lambda given: import_opened(
                model, held, shapes=given.shapes, constants=given.constants, states=given.states
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
