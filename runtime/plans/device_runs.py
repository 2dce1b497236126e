"""Let a session run on arrays of a GPU: outputs that stay there, and runs that are replayed."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import RunError
from ..program import Program
from ..slots import by_name, check_known
from ..step import do
from .exact import ExactRuns
from .plan import Plan
from .ports import BoundRun

if TYPE_CHECKING:
    from ..gpu.array import DeviceArray
    from ..gpu.exchange import DeviceArrayLike
    from ..gpu.replay import Replay
    from ..gpu.workspace import Workspace

_NONE: Mapping[str, Any] = MappingProxyType({})


class DeviceRuns(ExactRuns):
    """Run on arrays of a GPU, where the package runs on one."""

    _program: Program
    _workspace: "Workspace | None"

    def run_on_device(
        self, feeds: "Mapping[str, ArrayLike | DeviceArrayLike]"
    ) -> "dict[str, DeviceArray]":
        """Compute all outputs from all inputs; the outputs are new arrays on the GPU."""
        return self._alone(self._run_on_device, feeds)

    def replay(
        self,
        inputs: "Mapping[str, DeviceArrayLike]" = _NONE,
        outputs: "Mapping[str, DeviceArrayLike]" = _NONE,
    ) -> "Replay":
        """Return the whole run as one graph, bound to arrays on the GPU; those not given are made.

        Raise RunError where a part of the package does not run there, or a scheduler does it.
        """
        return self._alone(self._replay, inputs, outputs)

    def _run_on_device(self, feeds: Mapping[str, object]) -> "dict[str, DeviceArray]":
        if self._is_unchecked:
            self._check_weights()
        if self._exact:
            feeds, exact = self._choose(feeds)
            if exact is not None:
                return exact._release_after(exact._run_on_device, feeds)
        ports, kept = self._on_device().ports, self._ports.unreturned
        outputs = self._ports.outputs
        if self._plans is not None:
            feeds, shapes = self._ports.shaped(feeds)
            outputs = self._plans.at(shapes).outputs
        results = {s.name: ports.create(s) for s in outputs if s.name not in kept}
        made = self._run(feeds, results)
        for name in made.keys() - results.keys():  # their sizes are found in the run
            results[name] = ports.upload(name, made[name])
        return {name: results[name] for name in made}

    def _replay(self, inputs: Mapping[str, object], outputs: Mapping[str, object]) -> "Replay":
        from ..gpu.replay import Replay

        if self._is_unchecked:
            self._check_weights()
        if self._exact:
            inputs, exact = self._choose(inputs)
            if exact is not None:
                return exact._release_after(exact._replay, inputs, outputs)
        workspace = self._on_device()
        if self._plans is not None:
            raise RunError("a replay has one set of sizes, those of the package vary: use run")
        if self._program.scheduler is not None:
            raise RunError("a replay has an order of its own: make the session without a scheduler")
        self._check_stateless()
        ports = workspace.ports
        ports.check_alone(self.manifest, self.manifest.steps)
        slots = self._ports
        check_known("input", by_name("inputs", inputs, slots.inputs), slots.inputs)
        outputs = by_name("outputs", outputs, slots.outputs)
        feeds = {
            s.name: inputs[s.name] if s.name in inputs else ports.create(s) for s in slots.inputs
        }
        given = {s.name: ports.create(s) for s in slots.outputs} | dict(outputs)
        with workspace:
            plan, bound = self._bind(feeds, given)
            if any(isinstance(array, np.ndarray) for array in bound.arrays):
                raise RunError("a replay is bound to arrays on the GPU, got one that is not there")
            graph = workspace.record(lambda: do(plan.steps))
        return Replay(workspace, graph, feeds, given, self._busy, bound.arrays)

    def _on_device(self) -> "Workspace":
        if self._workspace is None:
            raise RunError(
                "the package has nothing for a GPU: compile the model again with --target gpu"
            )
        return self._workspace

    def _run(self, feeds: Mapping[str, object], given: Mapping[str, object]) -> dict[str, Any]:
        raise NotImplementedError

    def _bind(
        self, feeds: Mapping[str, object], given: Mapping[str, object]
    ) -> tuple[Plan, BoundRun]:
        raise NotImplementedError
