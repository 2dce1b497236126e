"""An ONNX backend for tests: import the model, run it by the reference of each op.

It has the methods of `onnx.backend.base`, so that ONNX's conformance suite can drive it.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import onnx
from trivium.compiler.frontends.onnx import (
    Spread,
    gathered_outputs,
    has_sequences,
    import_onnx,
    model_inputs,
    spread_inputs,
)
from trivium.compiler.specialize import Specialized
from trivium.dialects.core import interpret
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module, declared
from trivium.dialects.core.states.carried import state_of
from trivium.dialects.core.tensor import Array, Shape

NO_FEEDS = Spread({}, {}, {})


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
        self.module: Module | None = None
        try:
            self.module = self._import({}, {})
        except CompileError as error:
            if not error.needs and not has_sequences(model.graph):
                raise

    def _import(
        self,
        shapes: Mapping[str, Shape],
        constants: Mapping[str, Array],
        spread: Spread = NO_FEEDS,
    ) -> Module:
        with self.context:
            bound, fixed = {**shapes, **spread.lengths}, {**constants, **spread.nothing}
            return import_onnx(self.model, shapes=bound, constants=fixed)

    def run(self, inputs: Sequence[Any]) -> list[Any]:
        module = self.module
        ports = declared(module.main, "inputs", 0) if module else ()
        spread = spread_inputs(self.model.graph, inputs, ports)
        free = spread.arrays
        if module is None or spread.nothing or spread.lengths:
            made = Specialized(partial(self._import, spread=spread))
            module, free = made.get(free)
        with self.context:
            state = [np.zeros((), np.int64) for _ in state_of(module.main)]
            results = interpret.run(module, [*free.values(), *state])
            names = declared(module.main, "outputs", len(results))
        return gathered_outputs(self.model.graph, dict(zip(names, results, strict=True)))
