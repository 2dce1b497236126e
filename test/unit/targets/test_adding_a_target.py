"""docs/extending/adding-a-target.md is true: its engine is found, used, saved, loaded and run."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "extending" / "adding-a-target.md"
TRIVIUM = [sys.executable, "-m", "trivium.tools.main"]

MODEL = """
    <ir_version: 10, opset_import: ["" : 21]>
    net (float[2, 3] x) => (float[2, 3] y)
    <float[2, 3] w = {1, -2, 3, -4, 5, -6}> {
        [sum] a = Add (x, w)
        [square] b = Mul (a, a)
        [exponent] c = Exp (b)
        [clip] y = Relu (c)
    }
"""


def files(page: str) -> dict[str, str]:
    return dict(re.findall(r"^```file (\S+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Install the distribution of the page in a folder, with a model beside it."""
    written = files(PAGE.read_text())
    for name, text in written.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "toy_engine" / "__init__.py").write_text("")
    project = tomllib.loads(written["pyproject.toml"])["project"]
    info = tmp_path / "toy_engine-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
    points = project["entry-points"]
    text = ""
    for group, listed in points.items():
        text += f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in listed.items())
    (info / "entry_points.txt").write_text(text)
    onnx.save(onnx.parser.parse_model(MODEL), tmp_path / "model.onnx")
    np.save(tmp_path / "x.npy", np.arange(6, dtype=np.float32).reshape(2, 3) / 8)
    return tmp_path


def trivium(site: Path, *arguments: str, fails: bool = False) -> str:
    done = subprocess.run(
        [*TRIVIUM, *arguments], cwd=site, capture_output=True, text=True, check=False
    )
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return done.stderr if fails else done.stdout


def expected(x: np.ndarray) -> np.ndarray:
    w = np.array([[1, -2, 3], [-4, 5, -6]], np.float32)
    return np.maximum(np.exp((x + w) ** 2), 0)


def test_placement_uses_the_engine_and_its_fallback(site: Path) -> None:
    said = trivium(site, "check", "model.onnx", "--target", "toy")
    assert "3 on toy" in said
    assert "1 on cpu" in said
    assert "toy has no kernel for tri.exp" in said


@pytest.mark.parametrize("targets", ["toy", "toy,cpu", "toy,host"])
def test_a_package_runs_from_the_command_line(site: Path, targets: str) -> None:
    trivium(site, "compile", "model.onnx", "--target", targets, "-o", "model.trv")
    trivium(site, "run", "model.trv", "--input", "x=x.npy", "--output", "y=y.npy")
    x = np.load(site / "x.npy")
    np.testing.assert_allclose(np.load(site / "y.npy"), expected(x), rtol=1e-6)
    assert "toybank" in trivium(site, "info", "model.trv")


def test_info_has_the_report_of_the_engine(site: Path) -> None:
    trivium(site, "compile", "model.onnx", "--target", "toy", "-o", "model.trv")
    _, _, listed = trivium(site, "info", "model.trv").partition("instructions of the toy\n")
    assert listed.splitlines()[:3] == ["  1x  add", "  1x  square", "  1x  relu"]
    document = json.loads(trivium(site, "info", "model.trv", "--json"))
    assert document["toy_instructions"] == {"add": 1, "square": 1, "relu": 1}
    assert document["gpus"] == []


def test_the_engine_comes_second_where_it_is_listed_second(site: Path) -> None:
    said = trivium(site, "check", "model.onnx", "--target", "cpu,toy")
    assert "\ntoy\n" not in said
    assert said.endswith("placement by engine-order, of cpu, toy\n")


def test_a_missing_engine_is_named(site: Path) -> None:
    trivium(site, "compile", "model.onnx", "--target", "toy", "-o", "model.trv")
    (site / "toy_engine-1.0.dist-info" / "entry_points.txt").unlink()
    said = trivium(site, "run", "model.trv", "--input", "x=x.npy", fails=True)
    assert "'toy' is not installed" in said
    assert said.count("\n") == 1
