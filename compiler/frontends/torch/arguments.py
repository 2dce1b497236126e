"""The arguments that the function of a rule is called with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ....dialects.core.errors import Invalid
from .node import Node
from .operands import Converter
from .registry import Rule


@dataclass
class Arguments:
    """Hold what a rule's function is called with."""

    positional: list[Any] = field(default_factory=list[Any])
    named: dict[str, Any] = field(default_factory=dict[str, Any])


def converted(
    node: Node, rule: Rule, named: Mapping[str, Any], rest: Sequence[Any], convert: Converter
) -> Arguments:
    """Return the arguments of a rule: what a graph has by parameter, and those of `*xs`.

    Raises Invalid when one is missing, and as the converter does when one does not fit.
    """
    arguments = Arguments()
    for name, slot in rule.slots.items():
        if name in named:
            arguments.named[name] = convert(named[name], slot, f"{node.name}.{name}")
        elif slot.required:
            raise Invalid(f"has no {name}")
    if (slot := rule.rest) is not None:
        # Python wants what goes before `*xs` by position.
        before = [each.name for each in rule.slots.values() if each.positional]
        arguments.positional += [arguments.named.pop(name) for name in before]
        for index, each in enumerate(rest):
            hint = f"{node.name}.{slot.name}{index}"
            arguments.positional.append(convert(each, slot, hint))
    if rule.operator is not None:
        arguments.named[rule.operator] = node
    if rule.main is not None:
        arguments.named[rule.main] = convert.main
    if rule.random is not None:
        arguments.named[rule.random] = convert.random
    return arguments
