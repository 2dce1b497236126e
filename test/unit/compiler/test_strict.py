"""With `strict`, whatever would run elsewhere is an error that lists all of it."""

from pathlib import Path

import onnx
import onnx.parser
import pytest
import trivium
from trivium.dialects.core.errors import CompileError
from trivium.tools.main import main

MODEL = onnx.parser.parse_model(
    """<ir_version: 10, opset_import: ["" : 21]>
    g (float[2, 3] x) => (float[2, 3] y) {
        [first] a = Exp (x)
        [second] b = Neg (a)
        [third] y = Sqrt (b)
    }"""
)


@pytest.mark.parametrize("function", [trivium.compile, trivium.build, trivium.check])
def test_all_ops_on_other_targets_are_listed(npu: str, function) -> None:
    with pytest.raises(CompileError) as caught:
        function(MODEL, target="npu", strict=True)
    assert str(caught.value).splitlines() == [
        "second: error: 'tri.neg' op npu has no kernel for tri.neg",
        "third: error: 'tri.sqrt' op npu has no kernel for tri.sqrt",
        "error: 2 ops do not run on npu: leave strict (--strict) away to run on cpu",
    ]


@pytest.mark.parametrize("target", ["cpu", "host"])
def test_a_model_that_runs_where_it_shall_is_compiled(target: str) -> None:
    trivium.build(MODEL, target=target, strict=True)
    trivium.compile(MODEL, target=target, strict=True, math="strict")


def test_the_command_refuses(npu: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, package = str(tmp_path / "m.onnx"), tmp_path / "m.trv"
    onnx.save(MODEL, path)
    assert main(["compile", path, "--target", npu, "--strict", "-o", str(package)]) == 1
    assert "third: error: 'tri.sqrt' op npu has" in capsys.readouterr().err
    assert not package.exists()
    assert main(["run", path, "--target", npu, "--strict", "--random"]) == 1
    assert main(["run", path, "--target", "cpu", "--strict", "--random"]) == 0
    assert main(["compile", path, "--target", npu, "-o", str(package)]) == 0
    capsys.readouterr()
    assert main(["compile", str(package), "--strict", "-o", str(tmp_path / "n.trv")]) == 2
    assert "--strict: a package keeps what it was compiled with" in capsys.readouterr().err
