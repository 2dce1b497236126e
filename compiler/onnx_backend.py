"""Trivium as an ONNX backend: what ONNX's own conformance suite asks of an implementation.

    import onnx.backend.test
    from trivium.compiler.onnx_backend import TriviumBackend
    suite = onnx.backend.test.BackendTest(TriviumBackend, __name__)

It has the methods of `onnx.backend.base.Backend` and `BackendRep`, and needs neither.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ..dialects.core.errors import CompileError
from ..dialects.core.tensor import Array, Shape
from ..runtime.errors import RunError
from ..runtime.session import Session
from .check import check
from .driver import compile
from .frontends.onnx import (
    Source,
    Spread,
    gathered_outputs,
    has_sequences,
    model_inputs,
    read_model,
    spread_inputs,
)
from .specialize import Specialized

DEVICE = "CPU"

Compile = Callable[..., Session]
"""Compiles a model for a target: `compile`, or a function with some of its keywords."""

NO_FEEDS = Spread({}, {}, {})


class TriviumBackend:
    """Prepare and run ONNX models on the CPU target."""

    @classmethod
    def prepare(cls, model: Source, device: str = DEVICE, **options: Any) -> "TriviumModel":
        """Compile a model, or see that it compiles once its inputs are known.

        `options` are those of `compile`. Raises CompileError.
        """
        if not cls.supports_device(device):
            raise CompileError(f"device is '{device}', must be {DEVICE}")
        return TriviumModel(model, options)

    @classmethod
    def run_model(
        cls, model: Source, inputs: Sequence[Any], device: str = DEVICE, **options: Any
    ) -> tuple[Array, ...]:
        """Compile a model and run it once."""
        return cls.prepare(model, device, **options).run(inputs)

    @classmethod
    def is_compatible(cls, model: Source, device: str = DEVICE, **options: Any) -> bool:
        """Return whether a model can be prepared, without generating code."""
        try:
            check(model, **options)
        except CompileError as error:
            return cls.supports_device(device) and bool(error.needs)
        return cls.supports_device(device)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Return whether models run on a device, such as `CPU` or `CUDA:0`."""
        return device.partition(":")[0] == DEVICE


class TriviumModel:
    """Run one model, compiled at once or, where that takes values of inputs, at the first run."""

    def __init__(
        self, model: Source, options: Mapping[str, Any], compile: Compile = compile
    ) -> None:
        """Compile by `compile`, which takes what the function of that name does."""
        self._make_session = compile
        self._model = read_model(model)
        self._options = options
        self._names = [value.name for value in model_inputs(self._model.graph)]
        self._session: Session | None = None
        self._specialized: dict[object, Specialized[Session]] = {}
        try:
            self._session = self._compile({}, {})
        except CompileError as error:
            if not error.needs and not has_sequences(self._model.graph):
                raise

    def run(self, inputs: Sequence[Any], **options: Any) -> tuple[Any, ...]:
        """Compute all outputs, in order, from all inputs, in order; sequences are lists."""
        if len(inputs) != len(self._names):
            names = ", ".join(self._names)
            raise RunError(f"got {len(inputs)} inputs, must get {len(self._names)}: {names}")
        session = self._session
        ports = [port.name for port in session.inputs] if session else []
        spread = spread_inputs(self._model.graph, inputs, ports)
        free = spread.arrays
        is_fixed = spread.nothing or spread.lengths
        if session is None or is_fixed or not _takes_sizes(session, free):
            key = *spread.lengths.items(), *spread.nothing
            make = partial(self._compile, spread=spread)
            known = self._specialized.setdefault(key, Specialized(make))
            session, free = known.get(spread.arrays)
        return tuple(gathered_outputs(self._model.graph, session.run(free)))

    def _compile(
        self,
        shapes: Mapping[str, Shape],
        constants: Mapping[str, Array],
        spread: Spread = NO_FEEDS,
    ) -> Session:
        fixed = {**constants, **spread.nothing}
        bound = {**shapes, **spread.lengths}
        return self._make_session(self._model, shapes=bound, constants=fixed, **self._options)


def _takes_sizes(session: Session, arrays: Mapping[str, Array]) -> bool:
    """Return whether sizes may be 0 where they are: most symbols stand for 1 and more."""
    ports = {port.name: port.shape for port in session.inputs}
    empty = [
        str(size)
        for name, array in arrays.items()
        for size, count in zip(ports.get(name, ()), array.shape, strict=False)
        if count == 0 and size != 0
    ]
    return all(name in session.symbols and not session.symbols[name].low for name in empty)
