"""Reports as JSON: the schemas that docs/reports.md has, and documents that are of them."""

import json
import re
from pathlib import Path

import onnx
import onnx.parser
import pytest
import trivium
from json_schemas import ROOTS, faults, sections
from trivium.tools.main import main
from trivium.tools.reports import json_report
from trivium.tools.reports.package_info import MathInfo

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reports.md"
MODEL = onnx.parser.parse_model(
    """<ir_version: 10, opset_import: ["" : 21]>
    g (float[3, 3] x) => (float[U, 3] y, float[3, 3] z) {
        [exponent] z = Exp (x)
        [different] y = Unique <axis = 0> (z)
    }"""
)


@pytest.fixture
def model(tmp_path: Path) -> str:
    onnx.save(MODEL, str(tmp_path / "m.onnx"))
    return str(tmp_path / "m.onnx")


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    """Run a command with --json and return what it prints, which must be of its schema."""
    main([*arguments, "--json"])
    document = json.loads(capsys.readouterr().out)
    command = document["schema"].removeprefix("trivium ")
    assert command.split()[0] == arguments[0]
    assert document["version"] == json_report.VERSION
    assert faults(document, command) == []
    return document


def test_the_page_has_the_fields_of_all_reports_in_order() -> None:
    written: dict[str, dict[str, str]] = {}
    for section in PAGE.read_text().split("\n## ")[1:]:
        title, _, body = section.partition("\n")
        written[title] = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", body, re.MULTILINE))
    assert written == sections()
    assert [list(fields) for fields in written.values()] == [*map(list, sections().values())]
    assert list(written)[: len(ROOTS)] == list(ROOTS)


def test_info(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    package = str(tmp_path / "m.trv")
    trivium.compile(model).save(package)
    document = printed(capsys, "info", package)
    assert document["inputs"] == [{"name": "x", "dtype": "float32", "shape": [3, 3]}]
    assert document["device_memory"] == []
    steps = document["steps"]
    assert isinstance(steps, list)
    assert [(step["kind"], step["nodes"]) for step in steps] == [
        ("cpu", ["exponent"]),
        ("host", ["different"]),
    ]


FREE = """<ir_version: 10, opset_import: ["" : 21]>
    g (float[N, T] x, float[N, S] m) => (float[N, T] y) { [join] y = Add (x, m) }"""


@pytest.fixture
def free(tmp_path: Path) -> str:
    onnx.save(onnx.parser.parse_model(FREE), str(tmp_path / "free.onnx"))
    return str(tmp_path / "free.onnx")


def test_free_sizes(free: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    package, length = str(tmp_path / "free.trv"), trivium.Range(8, 64, likely=16, step=8)
    trivium.compile(free, target="host", shapes={"T": length}).save(package)
    sized = "--shape=T=8..64:16/8"
    documents = [
        printed(capsys, "info", package),
        printed(capsys, "sizes", free, sized),
        printed(capsys, "check", free, sized),
        printed(capsys, "can-run", free, sized),
    ]
    symbol = {"low": 8, "high": 64, "likely": 16, "step": 8, "places": ["axis 1 of 'x'"]}
    for document in documents:
        symbols = document["symbols"]
        assert isinstance(symbols, list)
        assert {"name": "T", **symbol} in symbols
    for document in documents[:2]:
        assert document["inputs"] == [
            {"name": "x", "dtype": "float32", "shape": ["N", "T"]},
            {"name": "m", "dtype": "float32", "shape": ["N", "S"]},
        ]
        message = "'Add' node has sizes 8*T_8 and S along axis -1"
        (check,) = document["checks"]  # pyright: ignore[reportGeneralTypeIssues]
        assert (check["node"], check["message"]) == ("join", message)


def test_check(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    document = printed(capsys, "check", model)
    assert document["counts"] == {"cpu": 1, "host": 1}


def test_can_run(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    document = printed(capsys, "can-run", model)
    assert (document["target"], document["able"]) == ("cpu", 1)


def test_bench(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("onnxruntime")
    document = printed(capsys, "bench", model, "--rounds=2", "--against=onnxruntime")
    (report,) = document["models"]  # pyright: ignore[reportGeneralTypeIssues]
    assert [each["name"] for each in report["contenders"]] == ["trivium", "onnxruntime"]
    assert (report["rounds"], report["reference"]) == (2, "onnxruntime")
    assert document["geometric_mean"] == pytest.approx(report["ratio"])


def test_bench_of_kernels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.mlir").write_text(
        """func.func @main(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
            %0 = "tri.exp"(%x) : (tensor<3x3xf32>) -> tensor<3x3xf32>
            return %0 : tensor<3x3xf32>
        }"""
    )
    document = printed(capsys, "bench", str(tmp_path / "m.mlir"), "--kernels")
    (report,) = document["models"]  # pyright: ignore[reportGeneralTypeIssues]
    (kernel,) = report["kernels"]
    assert (report["host_steps"], kernel["ops"], kernel["calls"]) == (0, ["tri.exp"], 1)


def test_errors_are_not_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "/nowhere/m.onnx", "--json"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1


def test_numbers_that_json_does_not_have_are_null() -> None:
    text = json_report.json_text("info", MathInfo("fast", "f32", float("inf")))
    assert json.loads(text)["winograd_error"] is None
