"""The state of a function: which of its outputs become which inputs of its next run.

func.func @main(…) attributes {trivium.state = {random.next = "random.run"}}
"""

import re
from collections.abc import Collection, Mapping, Sequence

from ..attributes import from_attribute, tensor_of, to_attribute
from ..errors import CompileError, Invalid
from ..mlir import ir
from ..port_names import port_names
from ..tensor import Array, Tensor

STATE, UPDATES = "trivium.state", "trivium.updates"
"""Attributes of a function that have the name of an input by that of an output.

A session binds those of `STATE` when it begins, and those of `UPDATES` where the user asks for it.
"""

NUMBER = "%d"
"""Stands for any number, in names of outputs and inputs."""

INITIAL = "trivium.initial"
"""The attribute of a function that has what inputs begin with, by name; others begin as zeros."""


def state_of(function: ir.Operation) -> dict[str, str]:
    """Return the inputs that outputs become, by name; raise Invalid for what are no names."""
    return _pairs(function, STATE)


def updates_of(function: ir.Operation) -> dict[str, str]:
    """Return the inputs of which outputs are the new values, by name."""
    return _pairs(function, UPDATES)


def initial_of(function: ir.Operation) -> dict[str, Array]:
    """Return what inputs begin with, by name, where that is not zeros."""
    if INITIAL not in function.attributes:
        return {}
    return {each.name: from_attribute(each.attr, Array) for each in function.attributes[INITIAL]}


def set_state(
    function: ir.Operation, pairs: Mapping[str, str], initial: Mapping[str, Array]
) -> None:
    """Write which outputs become which inputs, and what these begin with."""
    _set_pairs(function, STATE, pairs)
    if initial:
        arrays = {name: to_attribute(array, Array) for name, array in initial.items()}
        function.attributes[INITIAL] = ir.DictAttr.get(arrays)


def set_updates(function: ir.Operation, pairs: Mapping[str, str]) -> None:
    """Write which outputs are the new values of which inputs."""
    _set_pairs(function, UPDATES, pairs)


def named_states(states: Mapping[str, str], outputs: Sequence[str]) -> dict[str, str]:
    """Return the inputs that outputs become, by their names: `%d` is any number, the same in both.

    Raises CompileError for a name or a pattern that no output has.
    """
    found: dict[str, str] = {}
    for output, name in states.items():
        pattern = re.compile(r"(\d+)".join(map(re.escape, output.split(NUMBER))))
        matches = [match for each in outputs if (match := pattern.fullmatch(each))]
        if not matches:
            raise CompileError(
                f"states have '{output}', which is no output: the outputs are {', '.join(outputs)}"
            )
        for match in matches:
            number = iter(match.groups())
            found[match[0]] = re.sub(NUMBER, lambda _, n=number: next(n, NUMBER), name)
    return found


def keep_states(function: ir.Operation, outputs: Collection[str], inputs: Collection[str]) -> None:
    """Forget the state whose output or input a function does not have any more."""
    bound, free = (
        {output: name for output, name in each.items() if output in outputs and name in inputs}
        for each in (state_of(function), updates_of(function))
    )
    initial = {n: array for n, array in initial_of(function).items() if n in bound.values()}
    for key in (STATE, UPDATES, INITIAL):
        if key in function.attributes:
            del function.attributes[key]
    if bound:
        set_state(function, bound, initial)
    if free:
        set_updates(function, free)


def _pairs(function: ir.Operation, key: str) -> dict[str, str]:
    if key not in function.attributes:
        return {}
    attribute = function.attributes[key]
    pairs = {named.name: named.attr for named in attribute}
    if not all(isinstance(each, ir.StringAttr) for each in pairs.values()):
        raise Invalid(f"attribute '{key}' is {attribute}, must have an input by an output")
    return {output: each.value for output, each in pairs.items()}


def _set_pairs(function: ir.Operation, key: str, pairs: Mapping[str, str]) -> None:
    texts = {output: ir.StringAttr.get(name) for output, name in pairs.items()}
    function.attributes[key] = ir.DictAttr.get(texts)


def check_state(function: ir.Operation) -> None:
    """Raise Invalid unless each output that becomes an input is of its type.

    So must be what the input begins with.
    """
    pairs = {key: _pairs(function, key) for key in (STATE, UPDATES)}
    if not any(pairs.values()):
        return
    type_ = function.attributes["function_type"].value
    outputs = _by_name(function, "outputs", type_.results)
    inputs = _by_name(function, "inputs", type_.inputs)
    _check_initial(initial_of(function), inputs, pairs[STATE])
    for key, each in pairs.items():
        for output, name in each.items():
            if output not in outputs or outputs[output] != inputs.pop(name, None):
                raise Invalid(
                    f"makes '{output}' the input '{name}' in '{key}', must be an output and an "
                    "input of one type, and each input once"
                )


def _check_initial(
    initial: Mapping[str, Array], inputs: Mapping[str, ir.Type], pairs: Mapping[str, str]
) -> None:
    for name, array in initial.items():
        known = name in pairs.values() and name in inputs
        if not known or tensor_of(inputs[name]) != Tensor.of(array):
            raise Invalid(
                f"begins '{name}' with {Tensor.of(array)} in '{INITIAL}', must be an input of "
                f"'{STATE}' and of its type"
            )


def _by_name(function: ir.Operation, which: str, types: Sequence[ir.Type]) -> dict[str, ir.Type]:
    names = port_names(function, which) or ()
    return dict(zip(names, types, strict=bool(names)))
