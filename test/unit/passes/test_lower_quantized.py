"""Integers alone: close to floats, and on the CPU the same bits as the reference."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from trivium.compiler.build import build_module
from trivium.compiler.frontends.onnx import import_onnx
from trivium.compiler.stages import pipeline_for
from trivium.dialects import tri
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.numerics.fixed_point import ROUNDINGS
from trivium.dialects.core.tensor import Array
from trivium.passes.eliminate import Eliminate
from trivium.passes.quantize.lower_quantized import LowerQuantized
from trivium.runtime import Session
from trivium.test.unit.passes.quantized_graph import Graph

RANDOM = np.random.default_rng(5)
KINDS = ("int8", "uint8")


def conv(g: Graph) -> str:
    bias = g.weight(RANDOM.normal(size=8).astype(np.float32))
    kernels = g.weights_of((8, 6, 3, 3), 0)
    return g.op("Conv", [g.input((1, 6, 9, 7), 0.02, 7), kernels, bias], pads=[1, 1, 1, 1])


def conv_relu(g: Graph) -> str:
    return g.op("Relu", [conv(g)])


def depthwise(g: Graph) -> str:
    return g.op("Conv", [g.input((1, 6, 9, 7), 0.02, 7), g.weights_of((6, 1, 3, 3), 0)], group=6)


def mat_mul(g: Graph) -> str:
    return g.op("MatMul", [g.input((2, 5, 30), 0.02, 7), g.weights_of((30, 20), 1)])


def gemm(g: Graph) -> str:
    bias = g.weight(RANDOM.normal(size=20).astype(np.float32))
    return g.op("Gemm", [g.input((5, 30), 0.02, 7), g.weights_of((20, 30), 0), bias], transB=1)


def add(g: Graph) -> str:
    return g.op("Add", [g.input((2, 3, 4), 0.02, 7), g.input((3, 4), 0.031, 9)])


def broadcast_add(g: Graph) -> str:
    return g.op("Add", [g.input((2, 3, 4), 0.2, 7), g.input((2, 3, 1), 0.00031, 9)])


def maximum(g: Graph) -> str:
    return g.op("Max", [g.input((2, 3, 4), 0.02, 7), g.input((3, 4), 0.031, 9)])


def minimum_relu(g: Graph) -> str:
    return g.op("Relu", [g.op("Min", [g.input((9, 4), 0.02, 7), g.input((9, 4), 0.031, 9)])])


def mul(g: Graph) -> str:
    return g.op("Mul", [g.input((2, 3, 4), 0.02, 7), g.input((3, 4), 0.031, 9)])


def mean(g: Graph) -> str:
    return g.op("GlobalAveragePool", [g.input((2, 5, 7, 6), 0.02, 7)])


def turned_weights(g: Graph) -> str:
    w = g.op("Transpose", [g.weights_of((20, 30), 0)], perm=[1, 0])
    return g.op("MatMul", [g.input((5, 30), 0.02, 7), w])


def flattened(g: Graph) -> str:
    flat = g.op("Flatten", [g.input((2, 3, 5, 2), 0.02, 7)])
    return g.op("Gemm", [flat, g.weights_of((20, 30), 0)], transB=1)


def average_pool(g: Graph) -> str:
    x = g.input((2, 5, 7, 6), 0.02, 7)
    return g.op("AveragePool", [x], kernel_shape=[3, 2], strides=[2, 1])


def average_inside(g: Graph) -> str:
    x = g.input((2, 5, 7, 6), 0.02, 7)
    return g.op("AveragePool", [x], kernel_shape=[3, 2], strides=[2, 1], pads=[1, 1, 0, 1])


def average_over_the_end(g: Graph) -> str:
    x = g.input((2, 5, 8, 6), 0.02, 7)
    window = {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}
    return g.op("Relu", [g.op("AveragePool", [x], **window)])


def concat(g: Graph) -> str:
    parts = [g.input((2, 3, 4), 0.02, 7), g.input((2, 5, 4), 0.031, 9)]
    return g.op("Concat", parts, axis=1)


def max_pool(g: Graph) -> str:
    x = g.input((2, 5, 7, 6), 0.02, 7)
    return g.op("MaxPool", [x], kernel_shape=[3, 2], pads=[1, 1, 1, 1])


def resize(g: Graph) -> str:
    empty, scales = g.weight(np.zeros(0, np.float32)), g.weight(np.array([1, 1, 2, 2], np.float32))
    return g.op("Resize", [g.input((1, 2, 3, 4), 0.02, 7), empty, scales], mode="nearest")


def rescale(g: Graph) -> str:
    return g.input((2, 5, 7), 0.02, 7)


def clip(g: Graph) -> str:
    bounds = [g.weight(np.float32(-0.4)), g.weight(np.float32(0.9))]
    return g.op("Clip", [g.input((2, 5, 7), 0.02, 7), *bounds])


RULES = (
    *(conv, conv_relu, depthwise, mat_mul, gemm, add, broadcast_add, maximum, minimum_relu, mul),
    *(
        turned_weights,
        flattened,
        mean,
        average_pool,
        average_inside,
        average_over_the_end,
        concat,
        max_pool,
        resize,
        rescale,
        clip,
    ),
)


def unary(kind: str, **attributes: Any) -> Callable[[Graph], str]:
    def build(g: Graph) -> str:
        return g.op(kind, [g.input((4, 9, 7), 0.03, 7)], **attributes)

    build.__name__ = kind.lower()
    return build


def silu(g: Graph) -> str:
    x = g.input((4, 9, 7), 0.03, 7)
    return g.op("Mul", [x, g.op("Sigmoid", [x])])


def gelu(g: Graph) -> str:
    x = g.input((4, 9, 7), 0.03, 7)
    half, root = g.weight(np.float32(0.5)), g.weight(np.full((1, 7), 2**0.5, np.float32))
    bent = g.op("Add", [g.op("Erf", [g.op("Div", [x, root])]), g.weight(np.ones(1, np.float32))])
    return g.op("Mul", [g.op("Mul", [x, bent]), half])


def scaled(g: Graph) -> str:
    return g.op("Mul", [g.weight(np.float32(1.7)), g.input((4, 9, 7), 0.03, 7)])


def clipped_root(g: Graph) -> str:
    return g.op("Clip", [unary("Sqrt")(g), g.weight(np.float32(0)), g.weight(np.float32(1.2))])


TABLES = (
    *map(unary, ("Sigmoid", "Tanh", "Exp", "HardSwish", "Elu", "Abs", "Softplus", "Floor")),
    *(unary("LeakyRelu", alpha=0.2), silu, gelu, scaled, clipped_root),
)


def prepared(kind: str, rule: Callable[[Graph], str]) -> tuple[Module, list[Array]]:
    graph = Graph(kind, RANDOM)
    model = graph.model(rule(graph), 0.07, 5)
    bounds = np.iinfo(kind)
    shapes = graph.inputs.values()
    feeds = [RANDOM.integers(bounds.min, bounds.max + 1, s).astype(kind) for s in shapes]
    return import_onnx(model), feeds


def integers_of(kind: str, rule: Callable[[Graph], str], **options: Any) -> tuple[Array, Array]:
    """Return what floats give, and what integers do: in the interpreter, and on the CPU alike."""
    with new_context():
        module, feeds = prepared(kind, rule)
        (floats,) = run(module, feeds)
        LowerQuantized(**options).run(module)
        Eliminate().run(module)
        module.verify()
        types = {str(value.type) for op in ops(module.operation) for value in op.results}
        assert not any("xf32" in text for text in types)
        (integers,) = run(module, feeds)
        pipeline = pipeline_for("cpu", 2)
        session = Session(build_module(module, pipeline))
    names = [port.name for port in session.inputs]
    (computed,) = session.run(dict(zip(names, feeds, strict=True))).values()
    assert computed.dtype == integers.dtype
    np.testing.assert_array_equal(computed, integers)
    assert np.ptp(integers.astype(int)) > 0
    return floats, integers


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", TABLES, ids=lambda rule: rule.__name__)
def test_tables_hold_what_floats_give(rule: Callable[[Graph], str], kind: str) -> None:
    floats, integers = integers_of(kind, rule)
    np.testing.assert_array_equal(integers, floats)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_integers_are_as_floats_and_the_same_on_the_cpu(
    rule: Callable[[Graph], str], kind: str, rounding: str
) -> None:
    floats, integers = integers_of(kind, rule, rounding=rounding)
    apart = np.abs(integers.astype(int) - floats)
    assert apart.max() <= 1
    assert (apart > 0).mean() < 0.1


def test_computes_products_as_numpy_does() -> None:
    """An independent statement of all steps, in Python's integers."""
    with new_context():
        module, (x,) = prepared("int8", mat_mul)
        constants = [op.value for op in ops(module.operation) if isinstance(op, tri.Constant)]
        (w,) = [array for array in constants if array.shape == (30, 20)]
        (kernels,) = [
            op for op in ops(module.operation) if isinstance(op, tri.Dequantize) and "{" in op.of
        ]
        scales = [float(part) for part in kernels.of.partition("{")[2].strip("}>").split(",")]
        LowerQuantized().run(module)
        (y,) = run(module, [x])
    products = (x.astype(object) - 7) @ w.astype(object)
    s_x, s_y = float(np.float32(0.02)), float(np.float32(0.07))
    factors = np.array(scales) * s_x / s_y
    exact = products.astype(np.float64) * factors
    near = np.clip(np.sign(exact) * np.floor(np.abs(exact) + 0.5) + 5, -128, 127)
    assert np.mean(near == y) > 0.999  # factors have 31 bits here, 53 there


def test_sums_are_as_exact_as_their_factors() -> None:
    """Every pair of bytes, against fractions: one rounding, of factors of at least 21 bits."""
    with new_context():
        pairs = np.array(np.meshgrid(np.arange(-128, 128), np.arange(-128, 128))).astype(np.int8)
        graph = Graph("int8", RANDOM)
        value = graph.op("Add", [graph.input((256, 256), s, z) for s, z in ((0.02, 7), (0.031, 9))])
        module = import_onnx(graph.model(value, 0.07, 5))
        LowerQuantized().run(module)
        (y,) = run(module, list(pairs))
    s = [float(np.float32(scale)) for scale in (0.02, 0.031, 0.07)]
    a, b = pairs.astype(np.int64)
    exact = ((a - 7) * s[0] + (b - 9) * s[1]) / s[2]
    near = np.clip(np.sign(exact) * np.floor(np.abs(exact) + 0.5) + 5, -128, 127)
    apart = near != y
    assert np.all(np.abs(np.abs(exact[apart]) % 1 - 0.5) < 256 * 2.0**-21)


def test_sums_of_words_that_are_too_coarse_stay_floats() -> None:
    with new_context():
        graph = Graph("uint16", RANDOM)
        value = graph.op("Add", [graph.input((4,), 100.0, 7), graph.input((4,), 100.0, 7)])
        module = import_onnx(graph.model(value, 0.01, 5))
        LowerQuantized().run(module)
        assert any(isinstance(op, tri.Quantize) for op in ops(module.operation))
