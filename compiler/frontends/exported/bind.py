"""Bind the arguments of a node, by the names of torch's schema, to the parameters of its rule."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from ....dialects.core.errors import Invalid, Unsupported
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


def call(
    node: ProgramNode, rule: Rule, values: Mapping[str, Any], convert: Converter
) -> Callable[[], Any]:
    """Return the call of a rule with the arguments of a node.

    Arguments are bound by name alone. Raises Invalid when one is missing or does not fit,
    Unsupported for one that the rule does not know.
    """
    named, rest = _given(node, rule, values)
    arguments: dict[str, Any] = {}
    for name, slot in rule.slots.items():
        if name in named:
            arguments[name] = convert(named[name], slot, f"{node.name}.{name}")
        elif slot.required:
            raise Invalid(f"has no {name}")
    positional: list[Any] = []
    if rule.rest is not None:
        # Python wants what goes before `*xs` by position.
        before = [slot.name for slot in rule.slots.values() if slot.positional]
        positional = [arguments.pop(name) for name in before]
        for index, each in enumerate(rest):
            positional.append(convert(each, rule.rest, f"{node.name}.{index}"))
    if rule.operator is not None:
        arguments[rule.operator] = node
    if rule.main is not None:
        arguments[rule.main] = convert.main
    return lambda: rule.function(*positional, **arguments)


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
