"""The table of PNNX rules covers what `pnnx` leaves in files."""

from pathlib import Path

import pytest
from pnnx_suite import CASES, needs_suite
from trivium.compiler.frontends.pnnx import read_pnnx
from trivium.compiler.frontends.pnnx import rules as rules
from trivium.compiler.frontends.pnnx.format.operator import ATTRIBUTE, INPUT, OUTPUT
from trivium.compiler.frontends.torch.registry import REFUSED, RULES, torch_op

TYPES = Path(__file__).with_name("pnnx_types.txt").read_text().split()
"""The types of operators that `pnnx` leaves in its files, by a scan of its sources."""

REASONS = ("quantised tensors", "torchaudio")


def test_every_type_has_a_rule_or_a_reason() -> None:
    assert len(TYPES) == len(set(TYPES)) == 309
    known = {*RULES, *REFUSED, INPUT, OUTPUT, ATTRIBUTE}
    assert sorted(set(TYPES) - known) == []


def test_few_types_are_refused_and_each_says_why() -> None:
    refused = sorted(set(TYPES) & set(REFUSED))
    assert len(refused) == 11
    assert all(any(reason in REFUSED[type_] for reason in REASONS) for type_ in refused)


@needs_suite
def test_every_type_of_the_suite_has_a_rule() -> None:
    graphs = [read_pnnx(case / "model.pnnx.param") for case in CASES]
    used = {operator.type for graph in graphs for operator in graph.operators}
    assert used - {INPUT, OUTPUT, ATTRIBUTE} <= set(RULES)


def test_a_type_has_one_rule() -> None:
    with pytest.raises(TypeError, match=r"torch rule nn\.Linear is defined twice"):
        torch_op("nn.Linear")(lambda input: input)
