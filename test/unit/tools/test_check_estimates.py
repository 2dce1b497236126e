"""`trivium check` computes estimates where its report has them, and nowhere else."""

import json
from pathlib import Path

import onnx
import onnx.parser
import pytest
import trivium
from trivium.targets.core import Target
from trivium.tools.main import main


@pytest.mark.parametrize(
    ("flags", "wants"),
    [
        ([], False),
        (["--target", "cpu,host"], False),
        (["--json"], True),
        (["--target", "cpu,host", "--placement", "cost"], True),
    ],
)
def test_estimates_are_computed_on_demand(
    flags: list[str],
    wants: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[64] x) => (float[64] y) { [first] a = Softmax (x) [second] y = Exp (a) }
    """)
    onnx.save(model, tmp_path / "net.onnx")
    asked: list[str] = []
    seconds = Target.seconds

    def counted(target: Target, op: object) -> float:
        asked.append(target.name)
        return seconds(target, op)

    monkeypatch.setattr(Target, "seconds", counted)
    assert main(["check", str(tmp_path / "net.onnx"), *flags]) == 0
    text = capsys.readouterr().out
    assert bool(asked) == wants
    if "--json" in flags:
        assert all(kernel["seconds"]["cpu"] > 0 for kernel in json.loads(text)["kernels"])
    else:
        assert ("estimates, in us" in text) == wants
    assert all(each.seconds["cpu"] > 0 for each in trivium.check(model))
