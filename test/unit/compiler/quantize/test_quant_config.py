"""Configs in PPL's JSON: written and read back, what they place, and all their faults at once."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
import onnxruntime
import pytest
import trivium

X = np.random.default_rng(3).uniform(-2.6, 2.6, (64, 6)).astype(np.float32)
W0, W1 = (
    np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    for seed, shape in ((4, (6, 5)), (5, (5, 3)))
)


def net() -> onnx.ModelProto:
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[4, 6] x) => (float[4, 3] y) {
            [first] a = MatMul (x, w0)
            [bend] h = Relu (a)
            [second] b = MatMul (h, w1)
            [end] y = Softmax (b)
        }
    """)
    for name, array in (("w0", W0), ("w1", W1)):
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return model


def tensor(scale: Any, **given: Any) -> dict[str, Any]:
    """Return an entry with the fields of PPL's own example."""
    return {
        "bit_width": 8,
        "per_channel": False,
        "sym": True,
        "algorithm": "KL",
        "quant_flag": True,
        "scale": scale,
        "zero_point": 0.0,
        "tensor_max": 2.640000104904175,
        "tensor_min": -2.640000104904175,
        "q_max": 127,
        "q_min": -128,
        **given,
    }


def quantized(folder: Path, info: dict[str, Any], nodes: dict[str, str]) -> onnx.ModelProto:
    op_info = {name: {"data_type": data_type} for name, data_type in nodes.items()}
    path = folder / "q.json"
    path.write_text(json.dumps({"quant_info": info, "op_info": op_info}))
    trivium.quantize(net(), output=folder / "q.onnx", config=str(path))
    return onnx.load(folder / "q.onnx")


def scales(model: onnx.ModelProto) -> dict[str, Any]:
    """Return the scales of values and of weights, by the op that uses them."""
    held = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}
    made = {out: node for node in model.graph.node for out in node.output}
    found: dict[str, Any] = {}
    for node in model.graph.node:
        if node.op_type == "MatMul":
            for index, name in enumerate(node.input):
                if made.get(name) is not None and made[name].op_type == "DequantizeLinear":
                    found[f"{node.name.partition('.')[0]}.{index}"] = held[made[name].input[1]]
    return found


@pytest.mark.parametrize(
    ("given", "kind", "bounds"),
    [
        ({}, "INT8", (8, -128, 127)),
        ({"per_tensor": True, "symmetric": True}, "INT8", (8, -128, 127)),
        ({"storage": "ui8"}, "INT8", (8, 0, 255)),
        ({"storage": "i16"}, "INT16", (16, -32768, 32767)),
    ],
)
def test_what_is_written_gives_the_same_model(
    given: dict[str, Any], kind: str, bounds: tuple[int, int, int], tmp_path: Path
) -> None:
    first, second, path = tmp_path / "a.onnx", tmp_path / "b.onnx", str(tmp_path / "q.json")
    trivium.quantize(net(), {"x": X}, first, write_config=path, **given)
    trivium.quantize(net(), None, second, config=path)
    assert first.read_bytes() == second.read_bytes()
    written = json.loads(Path(path).read_text())
    assert {*written["quant_info"]} == {"x", "h", "b", "w0", "w1"}
    assert written["op_info"] == {name: {"data_type": kind} for name in ("first", "second")}
    info = written["quant_info"]
    assert info["w1"]["per_channel"] is not given.get("per_tensor", False)
    assert np.allclose(
        info["w1"]["scale"], np.abs(W1).max(0 if info["w1"]["per_channel"] else None) / 127
    )
    assert (info["x"]["bit_width"], info["x"]["q_min"], info["x"]["q_max"]) == bounds
    assert info["x"]["tensor_max"] == X.max()


def test_scales_are_those_of_the_config(tmp_path: Path) -> None:
    steps = [0.03, 0.04, 0.05, 0.06, 0.07]
    weights = tensor(steps, per_channel=True, zero_point=[0.0] * 5, tensor_max=[3.0] * 5)
    weights["tensor_min"] = [-3.0] * 5
    info = {"x": tensor(0.0207), "h": tensor(0.09, sym=False, zero_point=-128), "w0": weights}
    model = quantized(tmp_path, info, {"first": "INT8", "second": "INT8"})
    found = scales(model)
    assert found["first.0"] == np.float32(0.0207)
    assert np.array_equal(found["first.1"], np.array(steps, np.float32))
    assert found["second.0"] == np.float32(0.09)
    assert np.array_equal(found["second.1"], np.abs(W1).max(0) / np.float32(127))
    (want,) = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": X[:4]})
    a = np.clip(np.rint(X[:4] / np.float32(0.0207)), -128, 127) * 0.0207
    rounded = np.clip(np.rint(W0 / np.array(steps)), -127, 127) * steps
    h = np.clip(np.rint(np.maximum(a @ rounded, 0) / 0.09), 0, 255) * 0.09
    s = np.abs(W1).max(0) / 127
    b = h @ (np.rint(W1 / s) * s)
    exact = np.exp(b) / np.exp(b).sum(1, keepdims=True)
    assert np.abs(want - exact).max() < 0.05
    (ours,) = trivium.compile(model).run({"x": X[:4]}).values()
    assert np.abs(ours - want).max() < 1e-5


@pytest.mark.parametrize(
    ("nodes", "products"),
    [
        ({"first": "INT8"}, {"first"}),
        ({"first": "FLOAT32", "second": "INT8"}, {"second"}),
        ({"first": "INT8", "second": "INT8"}, {"first", "second"}),
        ({}, {"first", "second"}),
    ],
)
def test_nodes_of_other_types_read_floats(
    nodes: dict[str, str], products: set[str], tmp_path: Path
) -> None:
    info = {"x": tensor(0.02), "h": tensor(0.1)}
    found = scales(quantized(tmp_path, info, nodes))
    assert {name.partition(".")[0] for name in found} == products
    assert len(found) == 2 * len(products)  # weights and values, or neither


def test_a_tensor_without_its_flag_stays_a_float(tmp_path: Path) -> None:
    info = {"x": tensor(0.02), "h": tensor(0.1, quant_flag=False)}
    assert {*scales(quantized(tmp_path, info, {}))} == {"first.0", "first.1"}


FAULTS: dict[str, tuple[dict[str, Any], dict[str, str], list[str]]] = {
    "names": (
        {"xx": tensor(0.02), "w2": tensor(0.02), "a": tensor(0.1)},
        {"firsd": "INT8", "end": "INT8"},
        [
            "no value or weights to be quantised are called 'xx', did you mean 'x'",
            "are called 'w2'",
            "are called 'a'",
            "there is no node 'firsd', did you mean 'first'",
            "node 'end' is tri.softmax, which computes in floats: must be FLOAT32",
        ],
    ),
    "fields": (
        {
            "x": tensor("a", bits=3),
            "h": tensor(float("nan"), sym=1, per_channel=None),
            "w0": {"scale": 1.0},
        },
        {"first": "FLOAT16"},
        [
            'quant_info.x: error: has scale "a", must be a finite number',
            "quant_info.x: error: has 'bits', must have bit_width, ",
            "quant_info.h: error: has scale NaN, must be a finite number",
            "quant_info.h: error: has sym 1, must be true or false",
            "quant_info.h: error: has per_channel null, must be true or false",
            *(
                f"quant_info.w0: error: lacks '{key}'"
                for key in ("bit_width", "per_channel", "sym", "zero_point", "q_min", "q_max")
            ),
            'op_info.first: error: has data_type "FLOAT16", must be of INT8, INT16, FLOAT32',
        ],
    ),
    "numbers": (
        {
            "x": tensor(-0.02),
            "h": tensor(0.1, q_min=-127),
            "w0": tensor([0.1], per_channel=True, zero_point=[0, 0]),
            "w1": tensor(0.1, zero_point=3),
            "y": tensor(0.1, sym=False, zero_point=0.5),
            "z": tensor(0.1, tensor_min=3.0),
        },
        {},
        [
            "quant_info.x: error: quantised type has scale -0.02, must be positive and finite",
            "quant_info.h: error: has bit_width 8 with q_min..q_max -127..127, must be 8 with -128",
            "quant_info.w0: error: has tensor_max 2.640000104904175, must be a list: per_channel",
            "quant_info.w0: error: has tensor_min -2.640000104904175, must be a list: per_channel",
            "quant_info.w1: error: is sym, so zero_point must be 0",
            "quant_info.y: error: has zero_point [0.5], must be integers",
            "quant_info.z: error: has tensor_min 3.0 above tensor_max 2.64",
        ],
    ),
    "placement": (
        {
            "h": tensor(0.1, bit_width=16, q_min=-32768, q_max=32767),
            "w0": tensor(0.1, sym=False, zero_point=1),
        },
        {"first": "INT8", "second": "INT8"},
        [
            "weights 'w0' are !quant.uniform<i8:f32, ",
            "node 'first' is INT8, but reads 'x' without quant_info",
            "node 'second' is INT8, but reads 'h' of !quant.uniform<i16:f32, ",
        ],
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_all_faults_are_listed(case: str, tmp_path: Path) -> None:
    info, nodes, messages = FAULTS[case]
    with pytest.raises(trivium.CompileError) as caught:
        quantized(tmp_path, info, nodes)
    lines = str(caught.value).splitlines()
    assert len(lines) == len(messages)
    for message in messages:
        assert any(message in line for line in lines), message


def test_what_is_no_config_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    for text, message in (
        ("{", "is not JSON"),
        ("[]", "is no quantisation config: must have 'quant_info'"),
        ('{"quant_info": [], "more": 1}', "has 'more', must have quant_info and op_info alone"),
        ('{"quant_info": {"x": 1}}', "quant_info.x: error: is 1, must have fields by name"),
    ):
        path.write_text(text)
        with pytest.raises(trivium.CompileError, match=message):
            trivium.quantize(net(), config=str(path))
    with pytest.raises(trivium.CompileError, match="data or a table of scales or a config, one"):
        trivium.quantize(net(), {"x": X}, config=str(path))
