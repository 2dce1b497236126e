"""Weights that a model stores narrow stay so in its package, and are widened when it is loaded."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
import pytest
import trivium
from onnx import numpy_helper
from trivium.dialects.core.tensor import Array
from trivium.dialects.cpu.winograd import kernel_matrix
from trivium.runtime.cpu.part import CpuPart
from trivium.runtime.manifest import Manifest
from trivium.test.unit.compiler.frontends.onnx.graphs import model, node

RANDOM = np.random.default_rng(31)

Graph = tuple[list[onnx.NodeProto], dict[str, Any], dict[str, Array]]
"""Nodes, inputs and initializers."""


def whole(*shape: int, kind: str = "int8") -> Array:
    bounds = ml_dtypes.iinfo(kind)
    return RANDOM.integers(int(bounds.min), int(bounds.max) + 1, shape).astype(bounds.dtype)


def scales(*shape: int) -> Array:
    return RANDOM.uniform(0.005, 0.02, shape).astype(np.float32)


def floats(*shape: int) -> Array:
    return RANDOM.normal(size=shape).astype(np.float32)


def dequantized(q: Array, axis: int, zeros: bool = False, **more: Any) -> Graph:
    """Return the weight "w", one scale for each index of an axis."""
    parts = {"q": q, "s": scales(q.shape[axis])}
    if zeros:
        parts["z"] = whole(q.shape[axis], kind=str(q.dtype))
    return [node("DequantizeLinear", " ".join(parts), "w", axis=axis, **more)], {}, parts


def and_then(weights: Graph, inputs: dict[str, Any], *nodes: onnx.NodeProto) -> Graph:
    made, _, initializers = weights
    return [*made, *nodes], inputs, initializers


def conv(
    channels: int, size: int, outputs: int, kernel: int, kind: str = "int8", **more: Any
) -> Graph:
    shape = (outputs, channels // more.get("group", 1), kernel, kernel)
    w = dequantized(whole(*shape, kind=kind), 0)
    shape = (1, channels, size, size)
    return and_then(w, {"x": shape}, node("Conv", "x w", pads=[kernel // 2] * 4, **more))


def transposed() -> Graph:
    w = dequantized(whole(32, 64, 4, 4), 1)
    return and_then(w, {"x": (1, 32, 9, 9)}, node("ConvTranspose", "x w", strides=[2, 2]))


def blocks(kind: str = "int8", zeros: bool = False) -> Graph:
    parts = {"q": whole(128, 96, kind=kind), "s": scales(4, 96)}
    if zeros:
        parts["z"] = whole(4, 96, kind=kind)
    w = [node("DequantizeLinear", " ".join(parts), "w", axis=0, block_size=32)]
    return and_then((w, {}, parts), {"x": (40, 128)}, node("MatMul", "x w"))


def normalized() -> Graph:
    """Return a convolution of bytes with a batch normalisation, which changes its scales."""
    nodes, inputs, parts = conv(32, 12, 48, 1)
    nodes[-1].output[0] = "c"
    numbers = {n: RANDOM.uniform(0.5, 1.5, 48).astype(np.float32) for n in ("a", "b", "m", "v")}
    return [*nodes, node("BatchNormalization", "c a b m v")], inputs, parts | numbers


def halves() -> Graph:
    w = [node("Cast", "h", "w", to=onnx.TensorProto.FLOAT)]
    parts = {"h": floats(128, 96).astype(np.float16)}
    return and_then((w, {}, parts), {"x": (40, 128)}, node("MatMul", "x w"))


def recurrent() -> Graph:
    nodes = [
        node("DequantizeLinear", "q s", "w"),
        node("DequantizeLinear", "p s", "r"),
        node("LSTM", "x w r", hidden_size=48),
    ]
    parts = {"q": whole(1, 192, 40), "p": whole(1, 192, 48), "s": np.float32(0.003)}
    return nodes, {"x": (5, 2, 40)}, parts


def vocabulary() -> Graph:
    w = dequantized(whole(1000, 64), 0, zeros=True)
    return and_then(w, {"x": np.array([[5, 999, -1]])}, node("Gather", "w x"))


MODELS: dict[str, Graph] = {
    "matrix": and_then(dequantized(whole(128, 96), 1), {"x": (40, 128)}, node("MatMul", "x w")),
    "one row": and_then(dequantized(whole(64, 256), 1), {"x": (1, 64)}, node("MatMul", "x w")),
    "linear layer": and_then(
        dequantized(whole(96, 128, kind="uint8"), 0, zeros=True),
        {"x": (40, 128)},
        node("Gemm", "x w", transB=1),
    ),
    "scaled linear layer": and_then(
        dequantized(whole(96, 128), 0),
        {"x": (40, 128)},
        node("Gemm", "x w", transB=1, alpha=0.5),
    ),
    "blocks": blocks(),
    "matrix of 4 bits": and_then(
        dequantized(whole(128, 96, kind="int4"), 1), {"x": (40, 128)}, node("MatMul", "x w")
    ),
    "linear layer of 4 bits": and_then(
        dequantized(whole(96, 255, kind="uint4"), 0, zeros=True),
        {"x": (3, 255), "b": np.ones(96, np.float32)},
        node("Gemm", "x w b", transB=1),
    ),
    "blocks of 4 bits": blocks("uint4", zeros=True),
    "blocks of 4 bits without zero points": blocks("int4"),
    "convolution of 4 bits": conv(64, 16, 64, 3, kind="int4"),
    "pointwise convolution of 4 bits": conv(65, 7, 96, 1, kind="int4"),
    "pointwise convolution": conv(32, 12, 48, 1),
    "convolution of few channels": conv(3, 32, 128, 5),
    "convolution": conv(32, 16, 32, 3),
    "grouped convolution": conv(64, 8, 64, 3, group=2),
    "depthwise convolution": conv(512, 6, 512, 3, group=512),
    "transposed convolution": transposed(),
    "normalised convolution": normalized(),
    "halves": halves(),
    "recurrence": recurrent(),
    "vocabulary": vocabulary(),
}


def build(graph: Graph) -> tuple[onnx.ModelProto, dict[str, Array]]:
    nodes, inputs, initializers = graph
    given = {n: s if isinstance(s, np.ndarray) else floats(*s) for n, s in inputs.items()}
    types = {n: numpy_helper.from_array(a) for n, a in given.items()}
    made = model(
        nodes,
        {
            n: onnx.helper.make_tensor_value_info(n, t.data_type, list(t.dims))
            for n, t in types.items()
        },
        initializers=initializers,
    )
    return made, given


def expected(made: onnx.ModelProto, feeds: Mapping[str, Array]) -> Sequence[Array]:
    options = onnxruntime.SessionOptions()
    # What optimisers make of such a product rounds its other operand to bytes, too.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(made.SerializeToString(), options).run(None, dict(feeds))


def stored(initializers: Mapping[str, Array]) -> int:
    tensors = (numpy_helper.from_array(np.asarray(array)) for array in initializers.values())
    return sum(len(tensor.raw_data) for tensor in tensors)


@pytest.mark.parametrize("name", MODELS)
def test_packages_are_as_small_as_models(name: str, tmp_path: Path) -> None:
    made, feeds = build(MODELS[name])
    session = trivium.compile(made)
    want = expected(made, feeds)[0]
    (got,) = list(session.run(feeds).values())[:1]
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4 * np.abs(want).max())
    # Winograd's method has a matrix of its own, of one size for all models.
    matrix = kernel_matrix(4).size * 4 if name == "convolution" else 0
    assert session.manifest.memory.weight_bytes <= 1.1 * stored(MODELS[name][2]) + matrix
    session.save(tmp_path / "narrow.trv")
    for again in (trivium.load, trivium.compile):
        (same,) = list(again(tmp_path / "narrow.trv").run(feeds).values())[:1]
        np.testing.assert_array_equal(same, got)


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("target", ["cpu", "host"])
def test_they_are_narrow_at_each_level_and_on_the_host(level: int, target: str) -> None:
    made, feeds = build(MODELS["matrix"])
    session = trivium.compile(made, opt_level=level, target=target)
    want = expected(made, feeds)[0]
    np.testing.assert_allclose(session.run(feeds)["y"], want, rtol=1e-4, atol=1e-4)
    assert session.manifest.memory.weight_bytes <= 1.1 * stored(MODELS["matrix"][2])


def test_half_precision_rounds_what_is_widened() -> None:
    made, feeds = build(MODELS["matrix"])
    session = trivium.compile(made, precision="fp16")
    want = expected(made, feeds)[0]
    np.testing.assert_allclose(session.run(feeds)["y"], want, atol=2e-3 * np.abs(want).max())
    assert session.manifest.memory.weight_bytes <= 1.1 * stored(MODELS["matrix"][2])


def test_kernels_are_transformed_when_a_package_is_loaded() -> None:
    w = floats(64, 64, 3, 3)
    made = model([node("Conv", "x w", pads=[1] * 4)], {"x": (1, 64, 28, 28)}, initializers={"w": w})
    feeds = {"x": floats(1, 64, 28, 28)}
    session = trivium.compile(made, winograd_error=2e-5)
    assert "winograd" in ops_of(session.manifest)
    memory = session.manifest.memory
    assert memory.weight_bytes <= 1.05 * w.nbytes
    assert memory.prepared_bytes >= 16 / 9 * w.nbytes
    want = expected(made, feeds)[0]
    np.testing.assert_allclose(session.run(feeds)["y"], want, atol=2e-5 * np.abs(want).max())


def ops_of(manifest: Manifest) -> str:
    return " ".join(op for kernel in manifest.part(CpuPart).kernels for op in kernel.ops)


def test_only_rows_that_are_taken_of_a_vocabulary_are_widened() -> None:
    made, _ = build(MODELS["vocabulary"])
    assert not trivium.compile(made).manifest.load_steps


def test_calls_at_load_are_not_those_of_a_run() -> None:
    made, _ = build(MODELS["matrix"])
    manifest = trivium.compile(made).manifest
    found = {
        kernel.ops[0]: (kernel.calls, kernel.load_calls)
        for kernel in manifest.part(CpuPart).kernels
    }
    assert found == {"tri.cast": (0, 1), "cpu.packed_mat_mul": (1, 0)}


def test_a_row_is_multiplied_by_what_is_stored() -> None:
    made, _ = build(MODELS["one row"])
    assert not trivium.compile(made).manifest.load_steps


def test_strict_math_scales_weights_before_they_are_multiplied() -> None:
    made, feeds = build(MODELS["one row"])
    session = trivium.compile(made, math="strict")
    assert session.manifest.load_steps
    want = expected(made, feeds)[0]
    np.testing.assert_allclose(session.run(feeds)["y"], want, rtol=1e-5, atol=1e-5)
    assert session.manifest.memory.weight_bytes <= 1.1 * stored(MODELS["one row"][2])


def test_a_product_of_no_depth_is_zero() -> None:
    nodes = [node("Cast", "q", "w", to=onnx.TensorProto.FLOAT), node("MatMul", "x w")]
    made = model(nodes, {"x": (1, 0)}, initializers={"q": np.zeros((0, 8), np.int8)})
    (got,) = trivium.compile(made).run({"x": np.zeros((1, 0), np.float32)}).values()
    np.testing.assert_array_equal(got, np.zeros((1, 8), np.float32))
