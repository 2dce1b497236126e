"""Declare which outputs of a model become which inputs of its next run, as the user names them."""

from collections.abc import Mapping

from ..dialects.core.attributes import tensor_of
from ..dialects.core.errors import CompileError
from ..dialects.core.module import Module, declared
from ..dialects.core.states.carried import (
    initial_of,
    named_states,
    set_state,
    set_updates,
    state_of,
    updates_of,
)
from ..dialects.core.tensor import Tensor


def declare_states(module: Module, states: Mapping[str, str]) -> None:
    """Note in a module which outputs become which inputs, beside what its source says.

    A session binds those whose sizes are numbers when it begins, others where the user asks for
    it. Raises CompileError for names that the module does not have, and for types that differ.
    """
    if not states:
        return
    function = module.main
    type_ = function.attributes["function_type"].value
    inputs, outputs = (
        dict(zip(declared(function, which, len(types)), map(tensor_of, types), strict=True))
        for which, types in (("inputs", type_.inputs), ("outputs", type_.results))
    )
    bound, free = state_of(function), updates_of(function)
    for output, name in named_states(states, list(outputs)).items():
        _check(output, outputs[output], name, inputs)
        taken = {**bound, **free}
        if name in taken.values() or output in taken:
            raise CompileError(f"states make '{output}' the input '{name}', must name each once")
        (bound if outputs[output].is_static else free)[output] = name
    if bound:
        set_state(function, bound, initial_of(function))
    if free:
        set_updates(function, free)


def _check(output: str, made: Tensor, name: str, inputs: Mapping[str, Tensor]) -> None:
    why = f"states make '{output}' the input '{name}'"
    if name not in inputs:
        raise CompileError(f"{why}, which is no input: the inputs are {', '.join(inputs)}")
    if made != inputs[name]:
        raise CompileError(
            f"{why}, but it is {made}, must be {inputs[name]}: bind the sizes that differ by "
            "shapes; of a state that grows, leave out the pair, and name it to bind_state"
        )
