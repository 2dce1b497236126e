"""`compile(quantization=…)` makes the model that `trivium quantize` writes, in one call."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest
import trivium
from quantized_networks import many
from trivium.compiler.quantize import QuantConfig, ScaleTable
from trivium.dialects.core.tensor import Array
from trivium.tools.main import main

RANDOM = np.random.default_rng(7)
SAMPLES = {
    "x": RANDOM.normal(size=(20, 4, 6, 6)).astype(np.float32),
    "z": RANDOM.normal(size=(20, 4, 3, 3)).astype(np.float32),
}
FEEDS = {name: array[:1] for name, array in SAMPLES.items()}


def results(session: trivium.Session) -> dict[str, Array]:
    return dict(session.run(FEEDS))


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, str, str]:
    """Return a quantised model, and the table and config that it was made with."""
    model, table, config = tmp_path / "q.onnx", tmp_path / "table.json", tmp_path / "config.json"
    trivium.quantize(many(), SAMPLES, model, write_table=str(table), write_config=str(config))
    return model, str(table), str(config)


@pytest.mark.parametrize("quantized", ["floats", "integers"])
def test_all_forms_give_the_bits_of_the_quantised_model(
    files: tuple[Path, str, str], quantized: str
) -> None:
    model, table, config = files
    wanted = results(trivium.compile(model, quantized=quantized))
    floats = results(trivium.compile(many()))
    assert any((floats[name] != wanted[name]).any() for name in wanted)
    for given in (table, Path(config), ScaleTable.load(table), QuantConfig.load(config)):
        found = results(trivium.compile(many(), quantization=given, quantized=quantized))
        assert found.keys() == wanted.keys()
        assert all((found[name] == wanted[name]).all() for name in wanted), given
    judge = onnxruntime.InferenceSession(str(model)).run(["e"], FEEDS)[0]
    assert np.abs(wanted["e"] - judge).max() <= 0.05 * np.abs(judge).max()


def test_what_quantize_returns_is_taken() -> None:
    table = trivium.quantize(many(), SAMPLES)
    found = results(trivium.compile(many(), quantization=table))
    wanted = results(trivium.compile(many(), quantization=ScaleTable(table.values)))
    assert all((found[name] == wanted[name]).all() for name in wanted)


def test_the_commands_take_it(
    files: tuple[Path, str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, table, _ = files
    onnx.save(many(), tmp_path / "net.onnx")
    command = ["compile", str(tmp_path / "net.onnx"), "--quantized", "integers"]
    package = tmp_path / "p.trv"
    assert main([*command, "--quantization", table, "-o", str(package)]) == 0
    wanted = results(trivium.compile(model, quantized="integers"))
    found = results(trivium.load(package))
    assert all((found[name] == wanted[name]).all() for name in wanted)
    capsys.readouterr()
    command = ["check", str(tmp_path / "net.onnx"), "--quantization", _renamed(table, tmp_path)]
    assert main(command) == 1
    assert "no value to be quantised is called 'nobody'" in capsys.readouterr().err


def test_what_does_not_fit_is_refused(tmp_path: Path, files: tuple[Path, str, str]) -> None:
    _, table, config = files
    cases: list[tuple[Any, dict[str, Any], str]] = [
        (many(), {"quantization": 3}, "quantization is 3, must be a table of scales, a config"),
        (many(), {"quantization": "none.json"}, "cannot read 'none.json'"),
        (many(), {"quantization": ScaleTable.load(_renamed(table, tmp_path))}, "called 'nobody'"),
    ]
    free = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[n, 3] x) => (float[n, 2] y) <float[3, 2] w = {1, 2, 3, 4, 5, 6}> {
            y = MatMul (x, w)
        }
    """)
    cases.append((free, {"quantization": table}, "must be static"))
    cases.append((many(), {"quantization": table, "generate": True}, "generate makes a step"))
    cases.append((many(), {"quantization": table, "refit": True}, "refit updates those of the"))
    for model, options, reason in cases:
        with pytest.raises(trivium.CompileError, match=reason):
            trivium.compile(model, **options)
    text = json.loads(Path(config).read_text())
    text["quant_info"]["nobody"] = text["quant_info"].pop("x")
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps(text))
    with pytest.raises(trivium.CompileError, match="nobody"):
        trivium.compile(many(), quantization=str(wrong))


def _renamed(table: str, folder: Path) -> str:
    found = json.loads(Path(table).read_text())
    found["values"]["nobody"] = found["values"].pop("x")
    path = folder / "renamed.json"
    path.write_text(json.dumps(found))
    return str(path)
