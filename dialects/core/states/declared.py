"""The states of a module: values of outputs, and of the inputs that they become in the next run."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..mlir import ir
from ..module import Module, declared
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
    function, inputs, outputs = module.main, list(module.main_block.arguments), returned(module)
    named_inputs = dict(zip(declared(function, "inputs", len(inputs)), inputs, strict=True))
    named_outputs = dict(zip(declared(function, "outputs", len(outputs)), outputs, strict=True))
    pairs = {**state_of(function), **updates_of(function)}
    return [State(o, i, named_outputs[o], named_inputs[i]) for o, i in pairs.items()]


def returned(module: Module) -> Sequence[ir.Value]:
    """Return the values that a model puts out."""
    operations = module.main_block.operations
    return list(operations[len(operations) - 1].operation.operands)
