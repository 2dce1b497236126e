"""Compare what loadables compute with what the dialect's references do, byte by byte."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from trivium.compiler.driver import build
from trivium.compiler.frontends.onnx import import_onnx
from trivium.compiler.stages import pipeline_for
from trivium.dialects import tri
from trivium.dialects.core.interpret import Interpreter
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Array
from trivium.runtime.dla.step import Driver
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.targets.dla.nvdla.device import open_device
from trivium.targets.dla.nvdla.target import Nvdla
from trivium.targets.dla.phases import MEM_ALLOC, TENSOR_SCHED, Phase, PhaseInstrumentation
from trivium.targets.options import CompileOptions
from trivium.targets.registry import choose_target

PHASES = (TENSOR_SCHED, MEM_ALLOC)
Bytes = list[Array]


@dataclass
class Interpreted(PhaseInstrumentation):
    """Execute the module after each phase; keep the results of NVDLA's groups."""

    feeds: Sequence[Array]
    found: dict[str, Bytes] = field(default_factory=dict[str, Bytes])

    def leave(self, phase: Phase, attempt: int, module: Module) -> None:
        self.found[phase.name] = self.run(module)

    def run(self, module: Module) -> Bytes:
        """Return the results of groups, in order."""
        kept: Bytes = []

        def observe(op: Op, results: tuple[Array, ...]) -> None:
            if isinstance(op, tri.Group) and op.target == "nvdla":
                kept.extend(results)

        Interpreter(module.weights, observe).run_function(module.main, self.feeds)
        return kept


def interpreted(
    model: onnx.ModelProto,
    target: str,
    feeds: Sequence[Array],
    precision: str = "f32",
    winograd_error: float | None = None,
) -> dict[str, Bytes]:
    """Return what groups give after selection and after each later phase, by its name."""
    with new_context():
        module = import_onnx(model)
        options = CompileOptions(precision=precision, winograd_error=winograd_error)
        pipeline_for(target, 2, options).run(module)
        hook = Interpreted(feeds)
        hook.found["selection"] = hook.run(module)
        chosen = choose_target(target)
        assert isinstance(chosen, Nvdla)
        chosen.phases_for(options).run(module, lambda _: None, hook, only=PHASES)
    return hook.found


@dataclass
class Simulated:
    """What the loadables of a package give in a session: their bytes, and the outputs."""

    package: Package
    found: Bytes = field(default_factory=list[Array])
    outputs: Bytes = field(default_factory=list[Array])

    def run(self, feeds: Sequence[Array]) -> "Simulated":
        """Run a session once."""
        session = Session(self.package, threads=1, drivers={"nvdla": self._open})
        names = [port.name for port in self.package.manifest.inputs]
        self.outputs = list(session.run(dict(zip(names, feeds, strict=True))).values())
        return self

    def _open(self, description: bytes, data: bytes, _: Mapping[str, int]) -> Driver:
        device: Any = open_device(description, data)
        outer = self

        class Recording:
            def run(self, inputs: Sequence[Any], /) -> Sequence[Any]:
                results = device.run(inputs)
                outer.found += results
                return results

        return Recording()


def simulated(
    model: onnx.ModelProto,
    target: str,
    feeds: Sequence[Array],
    precision: str = "f32",
    winograd_error: float | None = None,
) -> Simulated:
    """Compile a model, and run its loadables."""
    made = build(model, target=target, precision=precision, winograd_error=winograd_error)
    return Simulated(made).run(feeds)


def unequal(references: Mapping[str, Bytes], found: Bytes) -> list[str]:
    """Return the phases after which references give other bytes than loadables."""
    return [
        phase
        for phase, expected in references.items()
        if len(expected) != len(found)
        or [each.tobytes() for each in expected] != [each.tobytes() for each in found]
    ]


def cosine(a: Array, b: Array) -> float:
    """Return the cosine of the angle between two arrays."""
    a, b = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))
