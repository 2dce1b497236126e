"""Torch's own samples of its functions: one of each, in f32, means what torch computes.

`trivium conformance --suite torch` runs more of them, of all element types, on a target.
"""

import pytest
from trivium.test.unit.compiler.frontends.exported.reference_session import compile
from trivium.tools.conformance.expectations import Expectations
from trivium.tools.conformance.results import PASSED
from trivium.tools.conformance.suites.torch import TorchCase

pytest.importorskip("torch")
pytest.importorskip("expecttest")

from trivium.tools.conformance.op_samples import element_types, operators

EXPECTED = Expectations.of_suite("torch")
"""What is expected of more samples: where all are to pass, one does."""

CASES = [TorchCase(name, "f32", 1) for name in operators() if "f32" in element_types(name)]
PASSING = [case for case in CASES if EXPECTED.of(case.name, "reference").result == PASSED]


@pytest.mark.parametrize("case", PASSING, ids=lambda case: case.name)
def test_a_sample_is_what_torch_computes(case: TorchCase) -> None:
    case.run(compile)
