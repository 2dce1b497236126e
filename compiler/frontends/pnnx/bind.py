"""Bind what the file has for an operator to the parameters of its rule."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from ....dialects.core.errors import Invalid, Unsupported
from ..torch.arguments import Arguments, converted
from ..torch.operands import Converter
from ..torch.registry import IGNORED, Rule
from .format.operator import ATTRIBUTE, Operand, Operator


@dataclass(frozen=True)
class Given:
    """Hold what the file has for each parameter by name, and the inputs and weights left over."""

    named: dict[str, Any]
    rest: list[Any]
    weights: dict[str, Any]


def bind(
    operator: Operator, rule: Rule, operands: Mapping[str, Any], convert: Converter
) -> Arguments:
    """Return the arguments for a rule: inputs, weights and parameters, as the rule takes them.

    Raises Invalid when something is missing or does not fit, Unsupported for a parameter that the
    rule does not know.
    """
    given = _given(operator, rule, operands)
    arguments = converted(operator, rule, given.named, given.rest, convert)
    for name, weight in given.weights.items():
        assert rule.weights is not None
        arguments.named[name] = convert(weight, rule.weights, f"{operator.name}.{name}")
    return arguments


def _given(operator: Operator, rule: Rule, operands: Mapping[str, Any]) -> Given:
    named = _parameters(operator, rule)
    weights = {name.replace(".", "_"): weight for name, weight in operator.attributes.items()}
    left: dict[str, Any] = {}
    for name, weight in weights.items():
        if name not in rule.slots and rule.weights is None:
            raise Unsupported(f"has a weight '{name}', which its rule does not take")
        (named if name in rule.slots else left)[name] = weight
    rest = _inputs(operator, rule, operands, named, set(weights))
    return Given(named, rest, left)


def _parameters(operator: Operator, rule: Rule) -> dict[str, Any]:
    """Return the parameters that the rule knows.

    `bias` of a module is only whether it has a weight of that name.
    """
    named: dict[str, Any] = {}
    for name, parameter in operator.parameters.items():
        if name == "bias" and operator.type.startswith("nn."):
            continue
        if name in rule.slots:
            named[name] = parameter.value
        elif name not in IGNORED:
            raise Unsupported(f"has parameter '{name}', which its rule does not know")
    return named


def _inputs(
    operator: Operator,
    rule: Rule,
    operands: Mapping[str, Any],
    named: dict[str, Any],
    weights: set[str],
) -> list[Any]:
    """Bind inputs, by the names of their slots or in order; return those left for `*xs`.

    The only input of an operator may have any slot: PNNX leaves names of its own templates there.
    """
    unnamed: list[Operand] = []
    for operand, slot in zip(operator.inputs, operator.slots, strict=True):
        if slot in rule.slots:
            named[slot] = operands[operand.name]
        elif slot and rule.rest is None and len(operator.inputs) > 1:
            raise Unsupported(f"has input '{slot}', which its rule does not know")
        else:
            unnamed.append(operand)
    taken = {*operator.slots, *weights, *named}
    free = [slot for slot in rule.slots.values() if slot.positional and slot.name not in taken]
    required = sum(slot.required for slot in free)
    unnamed = _without_tied(operator, unnamed, required)
    if rule.rest is None and len(unnamed) > len(free):
        raise Invalid(f"has {len(unnamed)} inputs, must have at most {len(free)}")
    for slot, operand in zip(free, unnamed, strict=False):
        named[slot.name] = operands[operand.name]
    return [each for operand in unnamed[len(free) :] for each in _elements(operands[operand.name])]


def _elements(operand: Any) -> list[Any]:
    return cast("list[Any]", operand) if isinstance(operand, list) else [operand]


def _without_tied(operator: Operator, inputs: list[Operand], required: int) -> list[Operand]:
    """Drop inputs in front that repeat a weight of a module: PNNX writes tied weights twice."""
    while (
        operator.type.startswith("nn.") and len(inputs) > required and _is_tied(operator, inputs[0])
    ):
        inputs = inputs[1:]
    return inputs


def _is_tied(operator: Operator, operand: Operand) -> bool:
    """Return whether an operand is a free weight with the bytes of one of the operator's own."""
    if operand.producer is None or operand.producer.type != ATTRIBUTE:
        return False
    (free,) = operand.producer.attributes.values()
    return any(
        (own.dtype, own.shape) == (free.dtype, free.shape) and own.raw() == free.raw()
        for own in operator.attributes.values()
    )
