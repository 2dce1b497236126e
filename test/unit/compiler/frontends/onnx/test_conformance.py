"""ONNX's own node tests: an op means what ONNX means, by its reference and as native code."""

import re
import warnings
from collections.abc import Sequence
from typing import Any, cast

import pytest
from trivium.dialects.core.errors import CompileError

pytest.importorskip("onnx")

from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner, _normalize_tensor
from trivium.compiler.onnx_backend import TriviumBackend
from trivium.test.unit.compiler.frontends.onnx.reference_backend import ReferenceBackend

REFUSED = (
    r"version \d+ is not supported",
    r"no rule and no function body",
    r"uses element type",
    r"is not a tensor",
    r"only inference is supported",
)
"""What the frontend may say of a case that is out of its reach; saying anything else is a fault."""

ROUNDS_ELSEWHERE = {
    "test_attention_4d_causal_fp16_expanded": "expects f16 rounded at each step, is less exact",
}

DRAWN = re.compile(r"test_bernoulli|test_training_dropout_(default|mask)|test_training_dropout$")
"""Cases that expect what numpy's generator drew: types and shapes are compared alone."""

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    CASES = {case.name: case for case in load_model_tests(kind="node")}


def plain(value: Any) -> Any:
    return _normalize_tensor(value)


def flat(values: Sequence[Any]) -> list[Any]:
    """List the tensors of values that may be sequences, which the runner takes apart too far."""
    return [each for y in values for each in (cast("list[Any]", y) if isinstance(y, list) else [y])]


BACKENDS = [
    pytest.param(ReferenceBackend, id="reference"),
    pytest.param(TriviumBackend, id="cpu", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", sorted(CASES))
def test_node(name: str, backend: Any) -> None:
    case = CASES[name]
    if name in ROUNDS_ELSEWHERE:
        pytest.skip(ROUNDS_ELSEWHERE[name])
    try:
        model = backend.prepare(case.model)
        for inputs, expected in case.data_sets:
            results = model.run([plain(value) for value in inputs])
            wanted = [plain(value) for value in expected]
            assert [isinstance(y, list) for y in results] == [isinstance(y, list) for y in wanted]
            compared = flat(wanted), flat(results)
            if DRAWN.match(name):
                one, other = ([(y.dtype, y.shape) for y in each] for each in compared)
                assert one == other
                continue
            Runner.assert_similar_outputs(*compared, rtol=case.rtol, atol=case.atol)
    except CompileError as error:
        if not any(re.search(reason, str(error)) for reason in REFUSED):
            raise
        pytest.skip(str(error).splitlines()[0])
