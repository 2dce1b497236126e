"""Run what follows a step that finds sizes: their values give the memory and the steps from there.

None of this is kept from run to run but the memory: the sizes are other ones each time.
"""

from collections.abc import Collection
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

from ..errors import RunError
from ..frozen import Frozen
from ..program import Program
from ..slots import Slot
from ..state import SessionState
from ..step import Find


class _Stage(Frozen):
    """Hold which steps are in a stage, and which outputs it makes."""

    start: int
    stop: int
    outputs: tuple[Slot, ...]


class StagedRun(Frozen):
    """Hold what a plan knows before the first step that finds sizes."""

    program: Program
    outputs: tuple[Slot, ...]
    state: SessionState

    @cached_property
    def _stages(self) -> list[_Stage]:
        manifest, stages = self.program.package.manifest, self.program.stages
        starts = [i for i, step in enumerate(manifest.steps) if step.finds]
        stops = [*starts[1:], len(manifest.steps)]
        return [
            _Stage(start, stop, self._outputs_in(stages.of(manifest.steps[start].finds[0].symbol)))
            for start, stop in zip(starts, stops, strict=True)
        ]

    def _outputs_in(self, stage: int) -> tuple[Slot, ...]:
        stages = self.program.stages
        return tuple(slot for slot in self.outputs if stages.of(*slot.shape) == stage)

    def __call__(self, results: dict[str, Any]) -> dict[str, Any]:
        """Run from the first step that finds sizes on; add the outputs whose sizes are found."""
        manifest, state = self.program.package.manifest, self.state
        for stage in self._stages:
            step = manifest.steps[stage.start]
            sizes, store = cast("Find", self.program.steps[stage.start](state))()
            state = state.enter(sizes, step.nodes)
            bases, values = state.bases, state.values
            for slot in stage.outputs:
                made = replace(slot, shape=tuple(map(values, slot.shape))).create()
                bases.bind(slot.base, made)
                results[slot.name] = made
            store(state)
            for step in self.program.bind_range(state, stage.start + 1, stage.stop):
                step()
        names = [slot.name for slot in self.outputs]
        return {name: results[name] for name in names if name in results}

    def check_given(self, names: Collection[str]) -> None:
        """Raise RunError for an output with memory of its own whose size nobody knows yet."""
        for slot in self.outputs:
            if slot.name in names and self.program.stages.of(*slot.shape):
                shape = "x".join(map(str, slot.shape))
                raise RunError(
                    f"output '{slot.name}' has shape {shape}, which is found when the package "
                    "runs: it can neither be given nor be state"
                )
