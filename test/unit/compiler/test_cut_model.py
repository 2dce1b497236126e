"""Parts of models, against the same parts that the tools of ONNX cut out, in onnxruntime."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
import onnx.utils
import onnxruntime
import pytest
import trivium
from trivium.dialects.core.errors import CompileError
from trivium.tools.main import main

MODEL = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    net (float[N, 3] x, float[N, 2] z) => (float[N, 2] y, float[N, 2] u)
    <float[3, 2] w = {1, 0, 0, 1, -1, -1}, float[2] b = {0.5, 0.5}> {
        [multiply] product = MatMul (x, w)
        [bias] total = Add (product, b)
        [clip] r = Relu (total)
        [grow] e = Exp (r)
        [join] y = Mul (e, z)
        [other] u = Tanh (total)
    }
""")

PARTS = [
    (["x"], ["r"]),
    (["total"], ["e", "u"]),
    (["product", "z"], ["y"]),
    (["e", "z"], ["y"]),
    (["x", "z"], ["y", "u", "product"]),
]


def _feeds(names: list[str]) -> dict[str, Any]:
    drawn = np.random.default_rng(0).standard_normal
    return {n: drawn((4, 3 if n == "x" else 2)).astype(np.float32) for n in names}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cut") / "net.onnx"
    onnx.save(onnx.shape_inference.infer_shapes(MODEL), path)
    return path


@pytest.mark.parametrize("shapes", [{}, {"N": 4}], ids=["free", "bound"])
@pytest.mark.parametrize(("inputs", "outputs"), PARTS)
def test_part_equals_that_of_onnx(
    file: Path, inputs: list[str], outputs: list[str], shapes: dict[str, int]
) -> None:
    part = file.parent / "part.onnx"
    onnx.utils.extract_model(str(file), str(part), inputs, outputs)
    feeds = _feeds(inputs)
    expected = onnxruntime.InferenceSession(str(part)).run(outputs, feeds)
    session = trivium.compile(MODEL, inputs=inputs, outputs=outputs, shapes=shapes)
    assert {port.name for port in session.inputs} == {*inputs}
    results = session.run(feeds)
    assert list(results) == outputs
    for name, array in zip(outputs, expected, strict=True):
        assert np.allclose(results[name], array, rtol=1e-5, atol=1e-6)


def test_nodes_outside_of_the_part_are_not_compiled() -> None:
    part = trivium.compile(MODEL, inputs="total", outputs="e")
    nodes = {node for step in part.manifest.steps for node in step.nodes}
    assert nodes == {"clip", "grow"}


def test_all_unknown_names_are_listed() -> None:
    with pytest.raises(CompileError) as caught:
        trivium.compile(MODEL, outputs=["rr", "q*", "y"])
    assert [str(each) for each in caught.value.diagnostics] == [
        "error: outputs has 'rr', which is no value of the model, and matches none: "
        "did you mean 'r'?",
        "error: outputs has 'q*', which is no value of the model, and matches none",
    ]


def test_input_that_is_needed_must_be_named() -> None:
    with pytest.raises(CompileError, match="input 'z' is needed, but not in inputs"):
        trivium.compile(MODEL, inputs="total")


def test_command_writes_a_part_that_others_run(file: Path, tmp_path: Path) -> None:
    part = str(tmp_path / "part.onnx")
    assert main(["cut", str(file), "-o", part, "--inputs", "total", "--outputs", "u,r"]) == 0
    feeds = _feeds(["total"])
    session = onnxruntime.InferenceSession(part)
    (r,) = session.run(["r"], feeds)
    assert np.array_equal(r, np.maximum(feeds["total"], 0))
    assert [port.name for port in session.get_outputs()] == ["u", "r"]


def test_command_needs_something_to_cut(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cut", str(file), "-o", str(tmp_path / "part.onnx")]) == 2
    assert "there is nothing to cut" in capsys.readouterr().err
