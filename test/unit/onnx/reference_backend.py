"""An ONNX backend for tests: import the model, run it by the reference of each op.

An input that the importer needs to know at compile time is bound to its value at the first run.
"""

import re
from collections.abc import Sequence

import numpy as np
import onnx

from trivium.compiler.frontends.onnx import import_onnx
from trivium.dialects.core import interpret
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module
from trivium.dialects.core.tensor import Array

NEEDS_VALUE = re.compile(r"needs the value of input '\w+' \('([^']*)'\)")
NEEDS_SHAPE = "must be static"


class ReferenceBackend:
    """Prepare models in the way of `onnx.backend.base`."""

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU") -> "ReferenceModel":
        return ReferenceModel(model)


class ReferenceModel:
    """Hold one model, imported at once or, when it depends on inputs' values, at the first run."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.model = model
        initializers = {tensor.name for tensor in model.graph.initializer}
        self.names = [i.name for i in model.graph.input if i.name not in initializers]
        self.context = new_context()
        self.module: Module | None = None
        self.bound: dict[str, Array] = {}
        self.key: object = None
        try:
            self._import({}, {})
        except CompileError as error:
            if not (NEEDS_VALUE.search(str(error)) or NEEDS_SHAPE in str(error)):
                raise

    def _import(self, shapes: dict[str, tuple[int, ...]], constants: dict[str, Array]) -> None:
        with self.context:
            self.module = import_onnx(self.model, shapes=shapes, constants=constants)
        self.bound = constants

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        named = {n: np.asarray(v) for n, v in zip(self.names, inputs, strict=False)}
        if self.module is None or self._differ(named):
            self._specialize(named)
        assert self.module is not None
        with self.context:
            free = [named[name] for name in self.names if name not in self.bound]
            return list(interpret.run(self.module, free))

    def _differ(self, named: dict[str, Array]) -> bool:
        return any(not np.array_equal(named[name], value) for name, value in self.bound.items())

    def _specialize(self, named: dict[str, Array]) -> None:
        """Import for these inputs, binding one more input each time that the importer asks."""
        shapes = {name: value.shape for name, value in named.items()}
        constants: dict[str, Array] = {}
        while True:
            try:
                return self._import(shapes, dict(constants))
            except CompileError as error:
                wanted = NEEDS_VALUE.search(str(error))
                if wanted is None or len(constants) == len(named):
                    raise
                more = [wanted[1]] if wanted[1] in named else list(named)
                constants |= {name: named[name] for name in more}
