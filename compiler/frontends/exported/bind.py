"""Bind the arguments of a node, by the names of torch's schema, to the parameters of its rule."""

from collections.abc import Mapping
from typing import Any, cast

from ....dialects.core.errors import Invalid, Unsupported
from ..torch.arguments import Arguments, converted
from ..torch.operands import Converter
from ..torch.registry import IGNORED, Rule
from .graph import ProgramNode, Reference, Unread


def resolved(given: Any, values: Mapping[str, Any]) -> Any:
    """Return an argument with values in the place of their names."""
    if isinstance(given, Reference):
        if given.name not in values:
            raise Invalid(f"takes '{given.name}', which nothing before it makes")
        return values[given.name]
    if isinstance(given, Unread):
        raise Unsupported(f"has an argument '{given.kind}', which is not supported")
    if isinstance(given, list):
        return [resolved(each, values) for each in cast("list[Any]", given)]
    return given


def bind(node: ProgramNode, rule: Rule, values: Mapping[str, Any], convert: Converter) -> Arguments:
    """Return the arguments of a node for its rule, bound by name alone.

    Raises Invalid when one is missing or does not fit, Unsupported for one that the rule does not
    know.
    """
    return converted(node, rule, *_given(node, rule, values), convert)


def _given(
    node: ProgramNode, rule: Rule, values: Mapping[str, Any]
) -> tuple[dict[str, Any], list[Any]]:
    """Return the arguments by the names of parameters, and those of `*xs`."""
    named: dict[str, Any] = {}
    rest: list[Any] = []
    for name, argument in node.arguments.items():
        given = resolved(argument, values)
        parameter = rule.parameter(name)
        if parameter in rule.slots:
            slot = rule.slots[parameter]
            # Torch's default for a list of numbers is often an empty one.
            named[parameter] = None if given == [] and not slot.required else given
        elif rule.rest is not None and name not in IGNORED:
            rest += cast("list[Any]", given) if isinstance(given, list) else [given]
        elif given is not None and name not in IGNORED:
            raise Unsupported(f"has argument '{name}', which its rule does not know")
    return named, rest
