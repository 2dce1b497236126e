"""The summary in the tree, which the page of supported operators reads."""

import json
from collections import Counter

from trivium.compiler.frontends.onnx.backend_cases import backend_cases
from trivium.tools.conformance.expectations import Expectations
from trivium.tools.conformance.results import CaseResult, ConformanceReport, counts
from trivium.tools.conformance.suite import open_suite
from trivium.tools.conformance.summary import OWN, Summary
from trivium.tools.generate_docs import pages


def test_the_summary_has_the_cases_of_the_installed_suite() -> None:
    summary = Summary.of_suite("onnx")
    assert summary.suite_version == open_suite("onnx").version
    assert summary.cases == Counter(case.operator for case in backend_cases())
    assert list(summary.passed) == ["host", "cpu"]
    for passed in summary.passed.values():
        assert set(passed) == set(summary.cases)
        assert all(passed[name] <= cases for name, cases in summary.cases.items())


def test_as_many_cases_pass_as_are_expected_to() -> None:
    """A change of the expectations needs a run that writes the summary anew."""
    expected = Expectations.of_suite("onnx")
    for target, passed in Summary.of_suite("onnx").passed.items():
        wanted = Counter({name: 0 for name in passed})
        for case in backend_cases():
            wanted[case.operator] += expected.of(case.name, target).result == "passed"
        assert passed == wanted


def test_no_expectation_is_stale() -> None:
    names = [case.name for case in backend_cases()]
    assert Expectations.of_suite("onnx").stale(names) == ()


def test_a_summary_is_read_as_it_was_written() -> None:
    def case(name: str, target: str, status: str) -> CaseResult:
        return CaseResult(name, name[0].upper(), target, status, "", 0.0, "passed", "")

    cases = (
        case("a1", "host", "passed"),
        case("a1", "cpu", "wrong"),
        case("a2", "host", "passed"),
        case("a2", "cpu", "passed"),
        case("b", "host", "refused"),
        case("b", "cpu", "crashed"),
    )
    ran, totals = counts(cases, by_operator=True), counts(cases, by_operator=False)
    assert [(total.target, total.cases, total.passed) for total in totals] == [
        ("cpu", 3, 1),
        ("host", 3, 2),
    ]
    report = ConformanceReport("s", "1", "t", ("host", "cpu"), totals, ran, (), (), (), cases)
    summary = Summary.of(report)
    assert (summary.cases, summary.passed) == (
        {"A": 2, "B": 1},
        {"host": {"A": 2, "B": 0}, "cpu": {"A": 1, "B": 0}},
    )
    assert json.loads(summary.text())["operators"]["A"] == {"cases": 2, "passed": [2, 1]}
    kept = (OWN / "onnx.json").read_text()
    assert Summary.of_suite("onnx").text() == kept


def test_the_page_has_the_numbers() -> None:
    summary = Summary.of_suite("onnx")
    page = pages()["support.md"]
    for name, cases in summary.cases.items():
        numbers = " | ".join(str(passed[name]) for passed in summary.passed.values())
        assert f"| `{name}` | " in page
        assert f" | {cases} | {numbers} |" in page
