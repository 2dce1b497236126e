"""The default pipelines on ONNX models: one run settles, and every named value stays."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from trivium.compiler.frontends.onnx import import_onnx
from trivium.dialects.core.attributes import tensor_of
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module, declared, ops
from trivium.dialects.core.tensor import Array
from trivium.passes.default import LEVELS, default_pipeline, grouping_pipeline
from trivium.passes.verify_values import difference, run_checked

ZOO = Path(os.environ.get("TRIVIUM_ZOO", "zoo"))
"""A folder of exported models with data beside them: `in:<name>` and `out:<name>` in an .npz."""
RANDOM = np.random.default_rng(11)
ALL = (*default_pipeline(2), *grouping_pipeline(2))
ZOO_MODELS = ("squeezenet1_1.dynamo", "lstm_net.legacy", "llama_tiny.dynamo")


def test_each_level_does_what_the_one_before_does() -> None:
    assert [len(level) for level in LEVELS] == sorted(len(level) for level in LEVELS)
    assert default_pipeline(9) == default_pipeline(2)
    assert default_pipeline(2)[: len(default_pipeline(1))] == default_pipeline(1)
    assert not grouping_pipeline(1)


def model(nodes: list[Any], weights: dict[str, Array], x: tuple[int, ...]) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, x)],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def normal(*shape: int) -> Array:
    return RANDOM.normal(size=shape).astype(np.float32)


def residual_block() -> onnx.ModelProto:
    node = helper.make_node
    nodes = [
        node("Conv", ["x", "w1"], ["c1"], "conv1", pads=[1, 1, 1, 1]),
        node("BatchNormalization", ["c1", "s", "t", "m", "v"], ["n1"], "norm1"),
        node("Relu", ["n1"], ["r1"], "relu1"),
        node("Conv", ["r1", "w2"], ["c2"], "conv2"),
        node("Mul", ["c2", "gain"], ["g2"], "gain2"),
        node("Add", ["g2", "x"], ["a2"], "add2"),
        node("HardSigmoid", ["a2"], ["h2"], "hard2", alpha=1 / 6, beta=0.5),
        node("Mul", ["a2", "h2"], ["y"], "mul2"),
    ]
    weights = {"w1": normal(8, 8, 3, 3), "w2": normal(8, 8, 1, 1), "gain": normal(8, 1, 1)}
    weights |= {name: normal(8) for name in "stm"} | {"v": np.abs(normal(8)) + 0.5}
    return model(nodes, weights, (2, 8, 6, 5))


def transformer_layer() -> onnx.ModelProto:
    """Attention as opset 17 exports it, a norm in parts, a GELU in parts, and Gemm in between."""
    node = helper.make_node
    nodes = [
        *_head("q", [0, 2, 1, 3]),
        *_head("k", [0, 2, 3, 1]),
        *_head("v", [0, 2, 1, 3]),
        node("MatMul", ["q_t", "k_t"], ["scores"], "scores"),
        node("Div", ["scores", "root"], ["scaled"], "scale"),
        node("Softmax", ["scaled"], ["weights"], "softmax", axis=-1),
        node("MatMul", ["weights", "v_t"], ["mixed"], "mix"),
        node("Transpose", ["mixed"], ["mixed_t"], "unmix", perm=[0, 2, 1, 3]),
        node("Reshape", ["mixed_t", "flat"], ["rows"], "rows"),
        node("Gemm", ["rows", "wo", "bo"], ["projected"], "project", transB=1),
        node("Reshape", ["projected", "full"], ["restored"], "restore"),
        node("Add", ["restored", "x"], ["summed"], "residual"),
        node("ReduceMean", ["summed"], ["mean"], "mean", axes=[-1]),
        node("Sub", ["summed", "mean"], ["centered"], "center"),
        node("Pow", ["centered", "two"], ["squares"], "square"),
        node("ReduceMean", ["squares"], ["variance"], "variance", axes=[-1]),
        node("Add", ["variance", "epsilon"], ["shifted"], "shift"),
        node("Sqrt", ["shifted"], ["deviation"], "root_of"),
        node("Div", ["centered", "deviation"], ["normal"], "divide"),
        node("Mul", ["normal", "gain"], ["gained"], "gain_by"),
        node("Add", ["gained", "bias"], ["normed"], "bias_by"),
        node("Div", ["normed", "root2"], ["inner"], "gelu_inner"),
        node("Erf", ["inner"], ["erf"], "gelu_erf"),
        node("Add", ["erf", "one"], ["erf1"], "gelu_one"),
        node("Mul", ["normed", "erf1"], ["doubled"], "gelu_twice"),
        node("Mul", ["doubled", "half"], ["y"], "gelu_half"),
    ]
    weights: dict[str, Array] = {f"w{n}": normal(8, 8) for n in "qkvo"}
    weights |= {"bo": normal(8), "gain": normal(8), "bias": normal(8)}
    weights |= {f"b{n}": normal(8) for n in "qkv"}
    numbers = {"root": 2.0, "two": 2.0, "epsilon": 1e-5, "one": 1.0, "half": 0.5}
    weights |= {k: np.array(v, np.float32) for k, v in (numbers | {"root2": 2**0.5}).items()}
    weights["heads"] = np.array([1, 5, 2, 4])
    weights |= {"flat": np.array([-1, 8]), "full": np.array([1, 5, 8])}
    return model(nodes, weights, (1, 5, 8))


def _head(name: str, permutation: list[int]) -> list[Any]:
    node = helper.make_node
    return [
        node("MatMul", ["x", f"w{name}"], [f"{name}_m"], f"{name}_proj"),
        node("Add", [f"{name}_m", f"b{name}"], [f"{name}_b"], f"{name}_bias"),
        node("Reshape", [f"{name}_b", "heads"], [f"{name}_h"], f"{name}_heads"),
        node("Transpose", [f"{name}_h"], [f"{name}_t"], f"{name}_turn", perm=permutation),
    ]


MODELS = {
    "residual_block": (residual_block, (2, 8, 6, 5), ["conv", "group", "hardswish", "relu"]),
    "transformer_layer": (transformer_layer, (1, 5, 8), ["attention", "gelu", "layer_norm"]),
}


@pytest.mark.parametrize("name", MODELS)
def test_model_keeps_its_values_through_every_pass(name: str) -> None:
    make, shape, wanted = MODELS[name]
    with new_context():
        module = import_onnx(make())
        run_checked(module, ALL, [normal(*shape)])
        assert not set(wanted) - _kinds(module)
        assert not {"batch_norm", "erf", "softmax", "hard_sigmoid", "gemm"} & _kinds(module)
        _check_settled(module)


@pytest.mark.parametrize("name", ZOO_MODELS)
def test_exported_model_keeps_its_values_through_every_pass(name: str) -> None:
    path = ZOO / f"{name}.onnx"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    data = np.load(path.with_suffix(".npz"))
    with new_context():
        module = import_onnx(path)
        arguments = module.main.regions[0].blocks[0].arguments
        inputs = [data[f"in:{name}"] for name in declared(module.main, "inputs", len(arguments))]
        assert [tensor_of(a.type).shape for a in arguments] == [x.shape for x in inputs]
        run_checked(module, ALL, inputs)
        expected = [data[key] for key in data.files if key.startswith("out:")]
        for want, have in zip(expected, run(module, inputs), strict=True):
            assert not difference(want, have)
        _check_settled(module)


def _kinds(module: Module) -> set[str]:
    return {op.op_name.partition(".")[2] for op in ops(module.operation)}


def _check_settled(module: Module) -> None:
    once = str(module)
    for step in ALL:
        step.run(module)
    assert str(module) == once
