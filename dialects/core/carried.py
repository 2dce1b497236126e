"""The state of a function: which of its outputs become which inputs of its next run.

func.func @main(…) attributes {trivium.state = {random.next = "random.run"}}
"""

from collections.abc import Mapping, Sequence

from .attributes import from_attribute
from .errors import Invalid
from .mlir import ir

STATE = "trivium.state"
"""The attribute of a function that has the name of an input by that of an output."""


def state_of(function: ir.Operation) -> dict[str, str]:
    """Return the inputs that outputs become, by name; raise Invalid for what are no names."""
    if STATE not in function.attributes:
        return {}
    attribute = function.attributes[STATE]
    pairs = {named.name: named.attr for named in attribute}
    if not all(isinstance(each, ir.StringAttr) for each in pairs.values()):
        raise Invalid(f"attribute '{STATE}' is {attribute}, must have an input by an output")
    return {output: each.value for output, each in pairs.items()}


def set_state(function: ir.Operation, pairs: Mapping[str, str]) -> None:
    """Write which outputs become which inputs."""
    texts = {output: ir.StringAttr.get(name) for output, name in pairs.items()}
    function.attributes[STATE] = ir.DictAttr.get(texts)


def check_state(function: ir.Operation) -> None:
    """Raise Invalid unless each output that becomes an input is of its type."""
    pairs = state_of(function)
    if not pairs:
        return
    type_ = function.attributes["function_type"].value
    outputs = _by_name(function, "outputs", type_.results)
    inputs = _by_name(function, "inputs", type_.inputs)
    for output, name in pairs.items():
        if output not in outputs or outputs[output] != inputs.pop(name, None):
            raise Invalid(
                f"makes '{output}' the input '{name}' in '{STATE}', must be an output and an input "
                "of one type, and each input once"
            )


def _by_name(function: ir.Operation, which: str, types: Sequence[ir.Type]) -> dict[str, ir.Type]:
    key = f"trivium.{which}"
    named = key in function.attributes
    names = from_attribute(function.attributes[key], tuple[str, ...]) if named else ()
    return dict(zip(names, types, strict=bool(names)))
