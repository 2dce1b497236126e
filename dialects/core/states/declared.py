"""The states of a module: values of outputs, and of the inputs that they become in the next run."""

from dataclasses import dataclass

from ..interface import named_inputs, named_outputs
from ..mlir import ir
from ..module import Module
from .carried import state_of, updates_of


@dataclass(frozen=True)
class State:
    """Name an output that is the new value of an input; `value` and `argument` are their values."""

    output: str
    input: str
    value: ir.Value
    argument: ir.Value


def states_of(module: Module) -> list[State]:
    """Return the states of a model, bound at the begin of a session or not."""
    inputs, outputs = named_inputs(module), named_outputs(module)
    pairs = {**state_of(module.main), **updates_of(module.main)}
    return [State(o, i, outputs[o], inputs[i]) for o, i in pairs.items()]
