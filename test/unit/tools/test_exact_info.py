"""What the tools say about packages with programs for exact sizes."""

import json
from pathlib import Path

import onnx
import pytest
from trivium.test.unit.compiler.exact.exact_models import model
from trivium.tools.main import main

PROGRAMS = ("", " for N=1, T=128", " for N=2, T=16")
"""How reports call the program for all sizes, and those for exact ones."""


@pytest.fixture
def path(tmp_path: Path) -> str:
    onnx.save(model(), tmp_path / "rows.onnx")
    return str(tmp_path / "rows.onnx")


def test_sizes_are_flags_and_in_the_report(path: str, capsys: pytest.CaptureFixture[str]):
    out = path.replace(".onnx", ".trv")
    main(["compile", path, "-o", out, "--exact", "T=128,N=1", "--exact", "T=16,N=2"])
    (line,) = capsys.readouterr().out.splitlines()
    assert line.endswith("3 calls of 3 kernels, 0 ops on the host, exact for N=1, T=128; N=2, T=16")
    main(["info", out])
    text = capsys.readouterr().out
    head, _, rest = text.partition("\nexact sizes\n")
    assert "programs for exact sizes, " in head
    first, second = (line.split("  ") for line in rest.splitlines()[:2])
    assert (first[1], second[1]) == ("N=1, T=128", "N=2, T=16")


def test_reports_of_placement_answer_for_each_program(
    path: str, capsys: pytest.CaptureFixture[str]
):
    sets = ("--exact", "T=128,N=1", "--exact", "T=16,N=2")
    assert main(["check", path, *sets]) == 0
    text = capsys.readouterr().out
    heads = [line for line in text.splitlines() if line.startswith(path)]
    assert heads == [f"{path}{where}: 3 on cpu" for where in PROGRAMS]
    assert main(["can-run", path, *sets]) == 0
    text = capsys.readouterr().out
    totals = [line for line in text.splitlines() if line.startswith("4 of 4 nodes")]
    assert totals == [f"4 of 4 nodes run on cpu{where}" for where in PROGRAMS]


def test_a_target_of_exact_sizes_has_no_program_for_all(
    path: str, capsys: pytest.CaptureFixture[str]
):
    assert main(["check", path, "--target", "vanilla", "--exact", "T=16,N=2", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [each["sizes"] for each in document["kernels"]] == [{"N": 2, "T": 16}] * 3
    assert main(["can-run", path, "--target", "vanilla", "--exact", "T=16,N=2"]) == 1
    assert "0 of 4 nodes run on vanilla for N=2, T=16\n" in capsys.readouterr().out
    assert main(["check", path, "--target", "vanilla"]) == 1
    assert "or --exact N=…,T=…" in capsys.readouterr().err
    assert main(["check", path, "--exact", "N=2"]) == 1
    assert "exact[0] lacks T, must have a size for each of N, T" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["T", "T=", "T=1,", "T=1,T=2", "T=1..4", "1=2"])
def test_texts_that_are_no_sizes_are_refused(
    path: str, text: str, capsys: pytest.CaptureFixture[str]
):
    assert main(["compile", path, "-o", "x.trv", "--exact", text])
    assert "argument --exact: " in capsys.readouterr().err
