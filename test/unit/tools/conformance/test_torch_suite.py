"""Suite `torch`: torch's own samples of its functions, as cases of a conformance run."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trivium.dialects.core.errors import CompileError
from trivium.tools.conformance.expectations import Expectations
from trivium.tools.conformance.suite import Difference, open_suite
from trivium.tools.main import main

pytest.importorskip("torch")
pytest.importorskip("expecttest")

from trivium.tools.conformance.op_samples import operators, samples
from trivium.tools.conformance.suites.torch import TorchCase, compare


def test_cases_run_on_a_target(tmp_path: Path) -> None:
    filters = [
        "--filter=nn.functional.relu-*",
        "--filter=fft.fft-f32",
        "--filter=special.airy_ai-f32",
    ]
    files = ["--samples=1", "--targets=host", f"-o={tmp_path}/report.json"]
    assert main(["conformance", "--suite=torch", *filters, *files]) == 0
    report: dict[str, Any] = json.loads((tmp_path / "report.json").read_text())
    assert report["suite_version"].endswith(", 1 samples")
    assert {case["name"]: case["status"] for case in report["cases"]} == {
        "nn.functional.relu-f32": "passed",
        "nn.functional.relu-f16": "passed",
        "nn.functional.relu-bf16": "passed",
        "nn.functional.relu-i64": "passed",
        "fft.fft-f32": "passed",
        "special.airy_ai-f32": "refused",
    }


def test_a_folder_and_samples_of_other_suites_are_refused() -> None:
    with pytest.raises(CompileError, match="suite 'torch' is in the package torch"):
        open_suite("torch", Path("cases"))
    with pytest.raises(CompileError, match="suite 'onnx' has no samples"):
        open_suite("onnx", samples=3)


def test_no_expectation_is_stale() -> None:
    names = [case.name for case in open_suite("torch").cases()]
    assert Expectations.of_suite("torch").stale(names) == ()
    assert len(set(names)) == len(names)


def test_one_sample_is_among_three() -> None:
    (only,) = (each() for each in samples("nn.functional.softplus", "f32", 1))
    middle = [*samples("nn.functional.softplus", "f32", 3)][1]()
    assert only.inputs.keys() == middle.inputs.keys()
    assert all(np.array_equal(only.inputs[name], middle.inputs[name]) for name in only.inputs)


def test_all_samples_run_though_there_are_fewer_than_asked_for() -> None:
    entry = operators()["erfinv"]
    count = len([*entry.sample_inputs("cpu", next(iter(entry.dtypes)))])
    assert len([*samples("erfinv", "f32", count + 5)]) == count


def test_a_wrong_result_outweighs_a_refusal() -> None:
    class Session:
        def run(self, feeds: dict[str, Any]) -> dict[str, Any]:
            return {"out0": np.zeros(1, np.float32)}

    answers: list[Any] = [CompileError("no"), Session()]

    def compile(program: Any, **options: Any) -> Any:
        answer = answers.pop(0)
        if isinstance(answer, CompileError):
            raise answer
        return answer

    with pytest.raises(Difference, match="must be"):
        TorchCase("nn.functional.softplus", "f32", 2).run(compile)


def test_floats_are_compared_relative_to_the_greatest_and_others_exactly() -> None:
    want = np.float32([0, 1000, np.inf, np.nan])
    compare(want + np.float32([0.05, 0, 0, 0]), want)
    with pytest.raises(AssertionError):
        compare(want + np.float32([0.2, 0, 0, 0]), want)
    with pytest.raises(AssertionError):
        compare(np.int64([1, 2]), np.int64([1, 3]))
    with pytest.raises(AssertionError):
        compare(np.complex64([1 + 1j]), np.complex64([1 - 1j]))
