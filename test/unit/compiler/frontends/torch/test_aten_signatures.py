"""Rules that overloads of ATen find have the parameters of torch's schema, by its names."""

from typing import Any

import pytest
from trivium.compiler.frontends.torch import rules as rules
from trivium.compiler.frontends.torch.aten import aten_rule
from trivium.compiler.frontends.torch.registry import RULES

torch = pytest.importorskip("torch")

POSITIONAL = {"aten::sort", "aten::argsort", "aten::var", "aten::scatter", "aten::where"}
"""Forms that PNNX leaves without names of arguments; overloads have rules of their own."""


def _overloads(name: str) -> list[Any]:
    """Return the overloads of ATen that a name of a rule stands for."""
    packet, _, form = name.partition(".")
    operator = getattr(torch.ops.aten, packet.removeprefix("aten::"), None)
    if operator is None:
        return []
    forms = [form] if form else operator.overloads()
    return [getattr(operator, each) for each in forms if hasattr(operator, each)]


def _writes(overload: Any) -> bool:
    aliases = [argument.alias_info for argument in overload._schema.arguments]
    return any(alias is not None and alias.is_write for alias in aliases)


NAMES = sorted({key for key in RULES if key.startswith("aten::")} - POSITIONAL)


def test_the_names_are_those_of_operators() -> None:
    assert [name for name in NAMES if not _overloads(name)] == []


@pytest.mark.parametrize("name", NAMES)
def test_required_parameters_are_in_the_schema(name: str) -> None:
    fitting = 0
    for overload in _overloads(name):
        rule = aten_rule(str(overload.name()).removesuffix(".default"))
        assert rule is not None
        given = {rule.parameter(argument.name) for argument in overload._schema.arguments}
        required = {slot.name for slot in rule.slots.values() if slot.required}
        fitting += required <= given
    assert fitting, f"no overload of {name} has what its rule needs"


def test_functions_of_the_same_name_have_the_parameters_of_overloads() -> None:
    """Rules of functions serve ATen by name: each finds an overload that has what it needs."""
    faults: list[str] = []
    for key in RULES:
        place, _, name = key.rpartition(".")
        if place not in ("torch", "Tensor", "F") or not hasattr(torch.ops.aten, name):
            continue
        overloads = [o for o in _overloads(f"aten::{name}") if not _writes(o)]
        rules_of = [(o, aten_rule(str(o.name()).removesuffix(".default"))) for o in overloads]
        fits = [
            {slot.name for slot in rule.slots.values() if slot.required}
            <= {rule.parameter(argument.name) for argument in overload._schema.arguments}
            for overload, rule in rules_of
            if rule is not None
        ]
        if fits and not any(fits):
            faults.append(key)
    assert faults == []
