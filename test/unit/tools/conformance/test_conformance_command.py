"""`trivium conformance`: how cases end, what is expected of them, and the trend."""

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trivium.test.unit.compiler.frontends.pnnx.pnnx_suite import CASES, needs_suite
from trivium.tools.main import main

HERE = "trivium.test.unit.tools.conformance.strange_targets"
MIXED, FIXED = f"{HERE}:mixed", f"{HERE}:fixed"
ENDS = {
    "test_abs": "passed",
    "test_sign": "refused",
    "test_exp": "wrong",
    "test_neg": "crashed",
    "test_floor": "crashed",
    "test_ceil": "timed out",
}
FILTERS = [f"--filter={name}" for name in ENDS]


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, dict[str, Any], str]:
    """Run cases that end in all ways; return the exit code and both reports."""
    folder = tmp_path_factory.mktemp("report")
    files = [f"-o={folder}/r.json", f"-o={folder}/r.html"]
    code = main(["conformance", f"--targets={MIXED}", *FILTERS, "--timeout=5", "--jobs=2", *files])
    return code, json.loads((folder / "r.json").read_text()), (folder / "r.html").read_text()


def ends(report: dict[str, Any]) -> dict[str, str]:
    return {case["name"]: case["status"] for case in report["cases"]}


def test_each_case_ends_in_its_own_way(reported: tuple[int, dict[str, Any], str]) -> None:
    code, report, _ = reported
    assert code == 1
    assert ends(report) == ENDS
    said = {case["name"]: case["message"] for case in report["cases"]}
    assert said["test_abs"] == ""
    assert said["test_sign"] == "error: has no sign"
    assert "Not equal to tolerance rtol=0.001" in said["test_exp"]
    assert said["test_neg"] == "the process crashed with signal SIGSEGV"
    assert re.fullmatch(r"ValueError at strange_targets.py:\d+: a bug", said["test_floor"])
    assert said["test_ceil"] == "the process took over 5 seconds"


def test_cases_are_counted_by_operator_and_target(
    reported: tuple[int, dict[str, Any], str],
) -> None:
    _, report, _ = reported
    (total,) = report["totals"]
    numbers = {"passed": 1, "refused": 1, "wrong": 1, "crashed": 2, "timed_out": 1}
    assert total == {"operator": "", "target": MIXED, **numbers}
    assert [count["operator"] for count in report["operators"]] == [
        "Abs",
        "Ceil",
        "Exp",
        "Floor",
        "Neg",
        "Sign",
    ]
    unexpected = {case["name"] for case in report["unexpected"]}
    assert unexpected == set(ENDS) - {"test_abs"}


class Links(HTMLParser):
    """Gather the text of a page, and what it would load."""

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self.loaded: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loaded += [f"{tag} {name}" for name, _ in attrs if name in ("src", "href")]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_the_page_stands_alone(reported: tuple[int, dict[str, Any], str]) -> None:
    _, report, page = reported
    links = Links()
    links.feed(page)
    assert links.loaded == links.open == []
    assert "<script" not in page
    assert "url(" not in page
    text = " ".join(links.text)
    assert "5 cases end otherwise than expected" in text
    for case in report["cases"]:
        assert case["name"] in text
        assert case["message"] in text


def expected(folder: Path, **results: str) -> str:
    """Write expectations, and return the argument that names their file."""
    path = folder / "expected.toml"
    entries = [
        f'[[expected]]\ncases = ["{name}"]\nresult = "{result}"\nreason = "said so"\n'
        for name, result in results.items()
    ]
    path.write_text("\n".join(entries))
    return f"--expectations={path}"


CALL = ["conformance", f"--targets={MIXED}", "--jobs=1"]


def test_what_is_expected_is_no_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = expected(tmp_path, test_si_n="refused", test_exp="wrong").replace("_si_n", "_si?n")
    (tmp_path / "expected.toml").write_text(
        (tmp_path / "expected.toml").read_text().replace("si_n", "sig?")
    )
    assert main([*CALL, "--filter=test_sign", "--filter=test_exp", given]) == 0
    assert "all cases end as expected" in capsys.readouterr().out


def test_a_pass_that_is_not_expected_is_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = expected(tmp_path, test_abs="wrong", test_nowhere="refused")
    assert main([*CALL, "--filter=test_abs", given]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert f"test_abs on {MIXED}: passed, expected wrong (said so)" in out
    assert "stale expectation: no case is named test_nowhere" in out
    assert "1 unexpected, 1 stale expectations" in out


def test_the_trend(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, now = tmp_path / "before.json", tmp_path / "now.json"
    filters = ["--filter=test_sign", "--filter=test_abs"]
    given = expected(tmp_path, test_sign="refused")
    assert main([*CALL, *filters, given, f"-o={before}"]) == 0
    report = json.loads(before.read_text())
    swapped = {"passed": "refused", "refused": "passed"}
    for case in report["cases"]:
        case["status"] = swapped[case["status"]]
    before.write_text(json.dumps(report))
    assert main([*CALL, *filters, given, f"--baseline={before}", f"-o={now}"]) == 1
    assert json.loads(now.read_text())["changes"] == [
        {"name": "test_sign", "target": MIXED, "before": "passed", "now": "refused"},
        {"name": "test_abs", "target": MIXED, "before": "refused", "now": "passed"},
    ]
    out = capsys.readouterr().out
    assert f"test_sign on {MIXED}: passed before, refused" in out
    assert "1 regressions" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--suite=iree"], "error: suite is 'iree', must be one of onnx, pnnx"),
        (["--suite=pnnx"], "error: suite 'pnnx' is a folder of cases: name it with --folder"),
        (["--suite=pnnx", "--folder=/nowhere"], "'/nowhere' has no case: none of its folders has"),
        (["--folder=/nowhere"], "suite 'onnx' is in the package onnx: leave out its folder"),
        (["--targets=npux"], "nothing runs on target 'npux' here: no target is called 'npux'"),
        (["--targets=no.where:f"], "target 'no.where:f' cannot be imported: No module named"),
        (["--filter=test_xyz"], "no case of suite 'onnx' is named test_xyz"),
        (["--baseline=/nowhere.json"], "cannot read '/nowhere.json': No such file"),
        (["--expectations=/nowhere.toml"], "cannot read '/nowhere.toml': No such file"),
    ],
)
def test_what_cannot_be_run(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["conformance", *arguments]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--targets=cpu,,host"], "'cpu,,host' must be different names, as in host,cpu"),
        (["--targets=cpu,cpu"], "'cpu,cpu' must be different names"),
        (["--output=r.txt"], "'r.txt' must end in .html or .json"),
        (["--jobs=0"], "'0' must be a number from 1 on"),
    ],
)
def test_wrong_usage(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["conformance", *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("expected = ", "is no TOML"),
        ("[other]", "must have nothing but tables [[expected]]"),
        ("[[expected]]\nskip = 1", "entry 1 has 'skip', must have cases, reason, result, targets"),
        ("[[expected]]\nresult = 'wrong'", "entry 1 must have lists of patterns as 'cases'"),
        ("[[expected]]\ncases = ['a']\nresult = 'passed'", "has result 'passed', must be one of"),
        ("[[expected]]\ncases = ['a']\nresult = 'wrong'", "entry 1 has no reason: say why"),
    ],
)
def test_expectations_that_say_nothing(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "e.toml"
    path.write_text(text)
    assert main(["conformance", f"--expectations={path}"]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "is no report of trivium conformance as JSON"),
        ("[1", "is no report of trivium conformance as JSON"),
        (
            '{"schema": "trivium conformance", "version": 1, "suite": "pnnx", "cases": []}',
            "for suite 'pnnx', must be version 1 of 'trivium conformance' for suite 'onnx'",
        ),
    ],
)
def test_a_baseline_that_is_no_report(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "b.json"
    path.write_text(text)
    assert main(["conformance", f"--baseline={path}"]) == 1
    assert message in capsys.readouterr().err


@needs_suite
def test_a_folder_of_pnnx_cases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for case in CASES[:2]:
        shutil.copytree(case, tmp_path / case.name)
    data = dict(np.load(tmp_path / CASES[1].name / "data.npz"))
    np.savez(tmp_path / CASES[1].name / "data.npz", **{**data, "out0": data["out0"] + 1})
    arguments = ["--suite=pnnx", f"--folder={tmp_path}", "--targets=host", "--json"]
    given = expected(tmp_path, **{CASES[1].name: "wrong"})
    assert main(["conformance", *arguments, given]) == 0
    found = {case["name"]: case["status"] for case in json.loads(capsys.readouterr().out)["cases"]}
    assert found == {CASES[0].name: "passed", CASES[1].name: "wrong"}
