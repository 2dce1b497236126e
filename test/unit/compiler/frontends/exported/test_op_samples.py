"""Torch's own samples of its functions: one of each, in f32, means what torch computes.

`trivium conformance --suite torch` runs more of them, of all element types, on a target.
"""

from fnmatch import fnmatchcase

import pytest

pytest.importorskip("torch")
pytest.importorskip("expecttest")

from trivium.test.unit.compiler.frontends.exported.reference_session import compile
from trivium.test.unit.compiler.frontends.exported.torch_versions import needs_torch
from trivium.tools.conformance.expectations import Expectations
from trivium.tools.conformance.op_samples import element_types, operators
from trivium.tools.conformance.results import PASSED
from trivium.tools.conformance.suites.torch import TorchCase

EXPECTED = Expectations.of_suite("torch")
"""What is expected of three samples: where these pass, the one in the middle does."""

FAMILIES = ("masked.*", "signal.windows.*", "special.*_polynomial_*")
"""Functions that are made of others, or like others: they take as long, and find less."""

CASES = [TorchCase(name, "f32", 1) for name in operators() if "f32" in element_types(name)]
PASSING = [case for case in CASES if EXPECTED.of(case.name, "reference").result == PASSED]


NEWER = frozenset(("max_pool2d_with_indices_backward", "nanquantile", "quantile", "unique"))
"""Functions that torch before 2.12 does not export, or for which it declares wrong types."""


def _parameter(case: TorchCase) -> object:
    slow = any(fnmatchcase(case.operator, family) for family in FAMILIES)
    marks = [pytest.mark.slow] * slow
    if case.operator in NEWER:
        marks.append(needs_torch("2.12", "does not export it, or declares wrong types"))
    return pytest.param(case, id=case.name, marks=marks)


@pytest.mark.parametrize("case", [_parameter(case) for case in PASSING])
def test_a_sample_is_what_torch_computes(case: TorchCase) -> None:
    case.run(compile)
