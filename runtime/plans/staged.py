"""Run what follows a step that finds sizes: their values give the memory and the steps from there.

None of this is kept from run to run but the memory: the sizes are other ones each time.
"""

from collections.abc import Collection
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

from ..contents import Symbol
from ..errors import RunError
from ..frozen import Frozen
from ..program import Program
from ..sizes.symbols import evaluate
from ..slots import Slot
from ..state import SessionState
from ..step import Find
from .buffers import BuffersAt


class _Stage(Frozen):
    """Hold which steps are in a stage, which symbols it finds, and which outputs it then makes."""

    start: int
    stop: int
    symbols: tuple[Symbol, ...]
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
            _Stage(
                start,
                stop,
                tuple(each for each in manifest.symbols if each.stage == stage),
                tuple(slot for slot in self.outputs if stages.of(*slot.shape) == stage),
            )
            for stage, (start, stop) in enumerate(zip(starts, stops, strict=True), 1)
        ]

    def __call__(self, results: dict[str, Any]) -> dict[str, Any]:
        """Run from the first step that finds sizes on; add the outputs whose sizes are found."""
        manifest, state = self.program.package.manifest, self.state
        for number, stage in enumerate(self._stages, 1):
            find = cast("Find", self.program.steps[stage.start](state))
            sizes, store = find()
            for symbol in stage.symbols:
                _check_found(symbol, sizes[symbol.name], manifest.steps[stage.start].nodes)
            evaluation = self.program.stages.at(number).evaluation
            values = evaluate(evaluation, {**state.values.symbols, **sizes})
            state = self.state.at(BuffersAt(manifest.buffers, values), values)
            bases = state.bases
            for base in manifest.arenas_in(number):
                state.grow_stage(base, manifest.space_of(base), values.arenas.get(base, 0))
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


def _check_found(symbol: Symbol, value: int, nodes: tuple[str, ...]) -> None:
    high = "" if symbol.high is None else f" to {symbol.high}"
    if value < symbol.low or (symbol.high is not None and value > symbol.high):
        raise RunError(
            f"{', '.join(nodes)}: error: finds {value} for size {symbol.name}, must be from "
            f"{symbol.low}{high}"
        )
