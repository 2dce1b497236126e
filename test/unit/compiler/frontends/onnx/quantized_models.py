"""Quantised models for tests on the CPU target, and what ONNX Runtime computes of them."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import onnx
import onnxruntime
import pytest
import trivium
from trivium.compiler.frontends.onnx import import_onnx
from trivium.compiler.stages import pipeline_for
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.tensor import Array
from trivium.test.unit.compiler.frontends.onnx.graphs import node

RANDOM = np.random.default_rng(23)


TYPES = {"uint8": onnx.TensorProto.UINT8, "int8": onnx.TensorProto.INT8}


KINDS = pytest.mark.parametrize("kind", TYPES)


def whole(kind: str, *shape: int) -> Array:
    bounds = np.iinfo(kind)
    return RANDOM.integers(bounds.min, bounds.max + 1, shape).astype(kind)


def scales(*shape: int) -> Array:
    return RANDOM.uniform(0.001, 0.02, shape).astype(np.float32)


def expected(graph: onnx.ModelProto, feeds: Mapping[str, Array]) -> list[Array]:
    """Run a model as it is: what optimisers make of it may round otherwise."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(graph.SerializeToString(), options)
    return session.run(None, dict(feeds))


def names(graph: onnx.ModelProto) -> list[str]:
    """List the ops that are left of a model for the CPU target, those in groups included."""
    with new_context():
        module = import_onnx(graph)
        pipeline_for("cpu", 2).run(module)
        return list(_names(module))


def _names(module: Module) -> Iterator[str]:
    return (op.op_name for op in ops(module.operation))


def packed(found: Sequence[str]) -> list[str]:
    """List the ops on packed weights and blocked images."""
    return [name for name in found if name.startswith("cpu.") and name != "cpu.quantize"]


def check(graph: onnx.ModelProto, feeds: Mapping[str, Array], *made: str) -> None:
    """Compare all outputs exactly; `made` are ops that must be there, in place of `tri`'s."""
    found = names(graph)
    assert packed(found) == list(made)
    assert not {"tri.mat_mul", "tri.conv"} & {*found} or not made
    results = trivium.compile(graph).run(feeds)
    for name, want in zip(results, expected(graph, feeds), strict=True):
        assert results[name].dtype == want.dtype
        np.testing.assert_array_equal(results[name], want)


def near(graph: onnx.ModelProto, feeds: Mapping[str, Array], *made: str) -> None:
    """Compare quantised outputs: a few may round to the integer beside, others are close."""
    assert packed(names(graph)) == list(made)
    results = trivium.compile(graph).run(feeds)
    for name, want in zip(results, expected(graph, feeds), strict=True):
        got = results[name]
        assert got.dtype == want.dtype
        if want.dtype == np.float32:
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5 * np.abs(want).max())
            continue
        apart = np.abs(got.astype(int) - want)
        assert apart.max() <= 1
        assert (apart > 0).mean() < 0.01


def quantized(name: str, kind: str, scale: float, zero: int) -> tuple[list, dict[str, Array]]:
    """Make the nodes that quantise a value and turn it back to f32."""
    weights = {f"{name}_s": np.float32(scale), f"{name}_z": np.array(zero, kind)}
    parts = f"{name}_s {name}_z"
    nodes = [
        node("QuantizeLinear", f"{name} {parts}", f"{name}_q"),
        node("DequantizeLinear", f"{name}_q {parts}", f"{name}_d"),
    ]
    return nodes, weights


def convolution(name: str, x: str, *shape: int, **more: object) -> tuple[list, dict[str, Array]]:
    """Make a convolution with dequantised weights."""
    w = f"{name}_w"
    nodes = [
        node("DequantizeLinear", f"{w} {w}_s {w}_z", f"{w}_d", axis=0),
        node("Conv", f"{x} {w}_d", name, **more),
    ]
    zeros = np.zeros(shape[0], np.int8)
    return nodes, {w: whole("int8", *shape), f"{w}_s": scales(shape[0]), f"{w}_z": zeros}
