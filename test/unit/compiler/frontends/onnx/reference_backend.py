"""An ONNX backend for tests: import the model, run it by the reference of each op.

It has the methods of `onnx.backend.base`, so that ONNX's conformance suite can drive it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from trivium.compiler.frontends.onnx import import_onnx, model_inputs
from trivium.compiler.specialize import Specialized
from trivium.dialects.core import interpret
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module
from trivium.dialects.core.tensor import Array, Shape


class ReferenceBackend:
    """Prepare models that run by the meaning of their ops."""

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **_: Any) -> "ReferenceModel":
        return ReferenceModel(model)


class ReferenceModel:
    """Hold one model, imported at once or, when that takes the values of inputs, as it runs."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.model = model
        self.names = [value.name for value in model_inputs(model.graph)]
        self.context = new_context()
        self.specialized = Specialized(self._import)
        self.module: Module | None = None
        try:
            self.module = self._import({}, {})
        except CompileError as error:
            if not error.needs:
                raise

    def _import(self, shapes: Mapping[str, Shape], constants: Mapping[str, Array]) -> Module:
        with self.context:
            return import_onnx(self.model, shapes=shapes, constants=constants)

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        free = {n: np.asarray(v) for n, v in zip(self.names, inputs, strict=True)}
        module = self.module
        if module is None:
            module, free = self.specialized.get(free)
        with self.context:
            return list(interpret.run(module, list(free.values())))
