"""The signature of each rule against ONNX's schema of the operator, in every opset from 7 on."""

from collections.abc import Iterator

import pytest
from onnx import defs
from trivium.compiler.frontends.onnx.functions import has_function
from trivium.compiler.frontends.onnx.registry import RULES, Rule, find_rule

OPSETS = range(7, defs.onnx_opset_version() + 1)

MISSING = {
    *("StringConcat", "StringNormalizer", "StringSplit", "RegexFullMatch"),
    "ImageDecoder",
}
"""Operators of ONNX that nothing supports."""

FOREIGN = {"SimplifiedLayerNormalization"}
"""Operators that ONNX Runtime puts into ONNX's own domain."""

OTHER_DEFAULTS = {
    ("GridSample", "mode"): "'bilinear' became 'linear' in version 20, the rule takes both",
    ("RNN", "activations"): "one Tanh for each direction is what the op does without any",
}


def schemas() -> Iterator[tuple[Rule, defs.OpSchema, str]]:
    """Yield each rule with each version of the schema that models can mean by it."""
    seen: set[tuple[str, int, int]] = set()
    for _, op_type in (key for key in RULES if key[0] == ""):
        for opset in OPSETS:
            if not defs.has(op_type, opset):
                continue
            schema, rule = defs.get_schema(op_type, opset), find_rule("", op_type, opset)
            key = (op_type, schema.since_version, rule.since if rule else 0)
            if rule is not None and not schema.deprecated and key not in seen:
                seen.add(key)
                yield rule, schema, f"{op_type}-{schema.since_version}"


PAIRS = [pytest.param(rule, schema, id=name) for rule, schema, name in schemas()]


def test_every_operator_is_supported_but_a_few() -> None:
    newest = OPSETS[-1]
    unsupported = {
        schema.name
        for schema in defs.get_all_schemas()
        if schema.domain == ""
        and not schema.deprecated
        and not find_rule("", schema.name, newest)
        and not has_function("", schema.name, newest)
    }
    assert unsupported <= MISSING


def test_no_rule_is_older_than_its_operator() -> None:
    first: dict[str, int] = {}
    for schema in defs.get_all_schemas_with_history():
        if schema.domain == "":
            first[schema.name] = min(schema.since_version, first.get(schema.name, 999))
    for (domain, op_type), rules in RULES.items():
        assert domain or op_type in FOREIGN or rules[0].since >= first[op_type]


@pytest.mark.parametrize(("rule", "schema"), PAIRS)
def test_the_rule_takes_every_attribute(rule: Rule, schema: defs.OpSchema) -> None:
    assert set(schema.attributes) <= set(rule.attributes)


@pytest.mark.parametrize(("rule", "schema"), PAIRS)
def test_the_rule_demands_no_more_attributes(rule: Rule, schema: defs.OpSchema) -> None:
    demanded = {name for name, p in rule.attributes.items() if p.default is p.empty}
    assert demanded <= {name for name, a in schema.attributes.items() if a.required}


@pytest.mark.parametrize(("rule", "schema"), PAIRS)
def test_the_rule_takes_every_input(rule: Rule, schema: defs.OpSchema) -> None:
    kinds = [formal.option for formal in schema.inputs]
    if kinds and kinds[-1] == defs.OpSchema.FormalParameterOption.Variadic:
        assert rule.variadic
        return
    assert rule.variadic or len(rule.inputs) >= len(schema.inputs)
    for formal, parameter in zip(schema.inputs, rule.inputs, strict=False):
        if formal.option == defs.OpSchema.FormalParameterOption.Optional and not rule.variadic:
            assert parameter.default is None, formal.name


@pytest.mark.parametrize(("rule", "schema"), PAIRS)
def test_the_defaults_are_the_schemas(rule: Rule, schema: defs.OpSchema) -> None:
    """An attribute that a model leaves out means the same to the rule as to ONNX."""
    for name, attribute in schema.attributes.items():
        default = rule.attributes[name].default
        if attribute.default_value.name and (rule.op_type, name) not in OTHER_DEFAULTS:
            given = defs.onnx.helper.get_attribute_value(attribute.default_value)
            given = given.decode() if isinstance(given, bytes) else given
            assert default == pytest.approx(given) if isinstance(given, float) else default == given
