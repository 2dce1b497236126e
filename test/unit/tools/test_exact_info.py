"""What the tools say about packages with programs for exact sizes."""

from pathlib import Path

import onnx
import pytest
from trivium.test.unit.compiler.exact.exact_models import model
from trivium.tools.main import main


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


@pytest.mark.parametrize("text", ["T", "T=", "T=1,", "T=1,T=2", "T=1..4", "1=2"])
def test_texts_that_are_no_sizes_are_refused(
    path: str, text: str, capsys: pytest.CaptureFixture[str]
):
    assert main(["compile", path, "-o", "x.trv", "--exact", text])
    assert "argument --exact: " in capsys.readouterr().err
