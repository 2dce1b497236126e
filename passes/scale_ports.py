"""Add the scales of states of bytes to the inputs and outputs of a module, as states."""

from dataclasses import replace

from ..dialects.core.attributes import type_of
from ..dialects.core.errors import CompileError
from ..dialects.core.interface import add_inputs, input_names, named_outputs, set_results
from ..dialects.core.location import node_location
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module
from ..dialects.core.states.carried import (
    initial_of,
    set_state,
    set_updates,
    state_of,
    updates_of,
)
from ..dialects.core.states.declared import State
from ..dialects.core.states.generation import NO_ROWS, generation_of, set_generation
from ..dialects.core.tensor import Tensor

SUFFIX = ".scales"


class ScalePorts:
    """Gather inputs and outputs for scales of states; `finish` declares them.

    They have no last axis, which is that of the rows.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self._outputs: dict[str, ir.Value] = {}
        self._states: dict[str, str] = {}

    def add_input(self, state: State, type_: Tensor) -> ir.Value:
        """Add the input for the scales of a state."""
        name = state.input + SUFFIX
        if name in input_names(self.module):
            raise CompileError(f"'{name}' is an input, which is the name of scales of a state")
        location = node_location(name, [name])
        return add_inputs(self.module, {name: type_of(type_)}, {name: location})[name]

    def add_output(self, state: State, value: ir.Value) -> None:
        """Add the output for the scales of a state."""
        name = state.output + SUFFIX
        if name in named_outputs(self.module):
            raise CompileError(f"'{name}' is an output, which is the name of scales of a state")
        self._outputs[name] = value
        self._states[state.output] = state.input

    def finish(self) -> None:
        """Return all values, and declare what is new; types of others may have changed, too."""
        with self.module.operation.context:
            set_results(self.module, {**named_outputs(self.module), **self._outputs})
            if self._states:
                self._declare_states()

    def _declare_states(self) -> None:
        function = self.module.main
        bound, free = (_with_scales(of(function), self._states) for of in (state_of, updates_of))
        if bound:
            set_state(function, bound, initial_of(function))
        if free:
            set_updates(function, free)
        generation = generation_of(function)
        if generation is not None:
            scales = [
                replace(each, output=each.output + SUFFIX, input=each.input + SUFFIX)
                for each in generation.caches
                if each.output in self._states and each.rows_axis != NO_ROWS
            ]
            set_generation(function, replace(generation, caches=(*generation.caches, *scales)))


def _with_scales(pairs: dict[str, str], scaled: dict[str, str]) -> dict[str, str]:
    """Return pairs of states with those of their scales."""
    return pairs | {o + SUFFIX: i + SUFFIX for o, i in pairs.items() if o in scaled}
