"""ONNX's own node tests: an op means what ONNX means, by its reference and as native code."""

from typing import Any

import pytest
from trivium.dialects.core.errors import CompileError

pytest.importorskip("onnx")

from trivium.compiler.frontends.onnx.backend_cases import backend_cases
from trivium.compiler.onnx_backend import TriviumBackend
from trivium.test.unit.compiler.frontends.onnx.reference_backend import ReferenceBackend
from trivium.tools.conformance.expectations import Expectations
from trivium.tools.conformance.results import PASSED, REFUSED, WRONG

CASES = {case.name: case for case in backend_cases(("node",))}
EXPECTED = Expectations.of_suite("onnx")

BACKENDS = [
    pytest.param(ReferenceBackend, "reference", id="reference"),
    pytest.param(TriviumBackend, "cpu", id="cpu", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("backend", "target"), BACKENDS)
@pytest.mark.parametrize("name", sorted(CASES))
def test_node(name: str, backend: Any, target: str) -> None:
    case, expected = CASES[name], EXPECTED.of(name, target)
    if expected.result == REFUSED:
        with pytest.raises(CompileError):
            check(case, backend)
    elif expected.result == WRONG:
        with pytest.raises(AssertionError):
            check(case, backend)
    else:
        assert expected.result == PASSED
        check(case, backend)


def check(case: Any, backend: Any) -> None:
    model = backend.prepare(case.model)
    for inputs, outputs in case.data_sets():
        case.compare(model.run(inputs), outputs)
