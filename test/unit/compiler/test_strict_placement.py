"""With `strict`, whatever would run elsewhere is an error that lists all of it."""

from pathlib import Path

import onnx
import onnx.parser
import pytest
import trivium
from onnx import helper
from trivium.dialects.core.errors import CompileError
from trivium.test.unit.compiler.digits import digits
from trivium.tools.main import main

FLOATS = "does not run on vanilla: vanilla computes on integers, not on f32"
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
        "second: error: 'tri.neg' op does not run on npu: npu has no kernel for tri.neg",
        "third: error: 'tri.sqrt' op does not run on npu: npu has no kernel for tri.sqrt",
        "error: 2 ops do not run on npu: compile without strict (--strict) to run them on cpu",
    ]


@pytest.mark.parametrize("target", ["cpu", "host"])
def test_a_model_that_runs_where_it_shall_is_compiled(target: str) -> None:
    trivium.build(MODEL, target=target, strict=True)
    trivium.compile(MODEL, target=target, strict=True, math="strict")


def test_all_ops_run_where_the_last_choice_is_asked_for() -> None:
    model = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 21]>
        g (float[3, 3] x) => (float[U, 3] y) {
            [first] a = Exp (x)
            [second] y = Unique <axis = 0> (a)
        }"""
    )
    (kernel, other) = trivium.check(model, target="host", strict=True)
    assert kernel.target == other.target == "host"
    for target in ("cpu", "gpu:sm_90"):
        with pytest.raises(CompileError) as caught:
            trivium.check(model, target=target, strict=True)
        name = target.partition(":")[0]
        assert str(caught.value).splitlines() == [
            f"second: error: 'tri.unique' op does not run on {name}: "
            f"{name} has no kernel for tri.unique",
            f"error: 1 op does not run on {name}: "
            "compile without strict (--strict) to run it on host",
        ]


def test_casts_are_ops_like_others_to_a_target_that_is_not_brought_values(npu: str) -> None:
    model = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 21]>
        g (int32[2, 3] x) => (float[2, 3] y) {
            [number] a = Cast <to = 1> (x)
            [exponent] y = Exp (a)
        }"""
    )
    with pytest.raises(CompileError) as caught:
        trivium.build(model, target="npu", strict=True)
    assert str(caught.value).splitlines()[0] == (
        "number: error: 'tri.cast' op does not run on npu: npu has no kernel for tri.cast"
    )


@pytest.fixture(scope="module")
def quantized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a network that takes and returns floats, and computes on bytes."""
    file = tmp_path_factory.mktemp("digits") / "q.onnx"
    trivium.quantize(digits().model, {"x": digits().calibration}, file)
    return file


def followed(file: Path, *kinds: str) -> onnx.ModelProto:
    """Return a model with further nodes on its first result."""
    model = onnx.load(file)
    graph = model.graph
    for kind in kinds:
        before = graph.output[0].name
        graph.output[0].name = f"{before}_{kind}"
        graph.node.append(helper.make_node(kind, [before], [graph.output[0].name], kind))
    return model


@pytest.mark.parametrize("function", [trivium.compile, trivium.build, trivium.check])
def test_values_may_be_brought_to_an_accelerator(quantized: Path, function) -> None:
    placed = trivium.check(quantized, target="vanilla")
    assert [each.target for each in placed] == ["cpu", "vanilla", "cpu"]
    function(quantized, target="vanilla", strict=True)


@pytest.mark.parametrize("function", [trivium.compile, trivium.build, trivium.check])
def test_an_accelerator_must_run_all_that_computes(quantized: Path, function) -> None:
    with pytest.raises(CompileError) as caught:
        function(followed(quantized, "Softmax", "Exp"), target="vanilla", strict=True)
    assert str(caught.value).splitlines() == [
        f"Softmax: error: 'tri.softmax' op {FLOATS}",
        f"Exp: error: 'tri.exp' op {FLOATS}",
        "error: 2 ops do not run on vanilla: compile without strict (--strict) to run them on cpu",
    ]


def test_all_layers_of_a_network_of_floats_are_refused_by_an_accelerator() -> None:
    with pytest.raises(CompileError) as caught:
        trivium.build(digits().model, target="vanilla", strict=True)
    *lines, advice = str(caught.value).splitlines()
    assert f"conv1: error: 'tri.conv' op {FLOATS}: quantise the model first" in lines
    assert f"linear: error: 'tri.gemm' op {FLOATS}: quantise the model first" in lines
    assert advice.startswith(f"error: {len(lines)} ops do not run on vanilla: ")


def transposed(node: str) -> onnx.ModelProto:
    """Return a convolution on bytes, and behind it a node that transposes."""
    return onnx.parser.parse_model(
        f"""<ir_version: 10, opset_import: ["" : 21]>
        g (int8[1, 3, 4, 4] x) => (int8[d, e, f, g] y)
        <float s = {{0.5}}, int8 z = {{0}}, int8[2, 3, 1, 1] w = {{1, 2, 3, -1, -2, -3}}> {{
            [convolution] a = QLinearConv (x, s, z, w, s, z, s, z)
            [order] y = {node} (a)
        }}"""
    )


def test_a_transpose_counts_when_the_model_has_it() -> None:
    brought = transposed("Identity")
    assert {each.target for each in trivium.check(brought, target="vanilla")} == {"cpu", "vanilla"}
    trivium.build(brought, target="vanilla", strict=True)
    with pytest.raises(
        CompileError,
        match=r"^order: error: 'tri.transpose' op does not run on vanilla: vanilla has no op",
    ):
        trivium.build(transposed("Transpose"), target="vanilla", strict=True)


def test_the_command_refuses(npu: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, package = str(tmp_path / "m.onnx"), tmp_path / "m.trv"
    onnx.save(MODEL, path)
    assert main(["compile", path, "--target", npu, "--strict", "-o", str(package)]) == 1
    assert "third: error: 'tri.sqrt' op does not run on npu" in capsys.readouterr().err
    assert not package.exists()
    assert main(["run", path, "--target", npu, "--strict", "--random"]) == 1
    assert main(["run", path, "--target", "cpu", "--strict", "--random"]) == 0
    assert main(["compile", path, "--target", npu, "-o", str(package)]) == 0
    capsys.readouterr()
    assert main(["compile", str(package), "--strict", "-o", str(tmp_path / "n.trv")]) == 2
    assert "--strict: a package keeps what it was compiled with" in capsys.readouterr().err
