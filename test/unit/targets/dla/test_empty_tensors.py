"""Quantised models with tensors that have no elements: nothing is refused, and sums are zero."""

from collections.abc import Callable

import numpy as np
import pytest
from trivium.compiler.check import can_run
from trivium.compiler.driver import build
from trivium.dialects.core.tensor import Array
from trivium.runtime.session import Session
from trivium.test.unit.passes.quantized_graph import Graph

SCALE, ZERO = 0.05, 7
BIAS = np.array([0.11, -0.32, 2.04, -9.0], np.float32)
"""Not in the middle of two integers of the result."""


def quantised(x: Array) -> Array:
    return np.clip(np.rint(x / SCALE) + ZERO, -128, 127).astype(np.int8)


def product(rows: int, depth: int, columns: int) -> Callable[[Graph], str]:
    def draw(graph: Graph) -> str:
        return graph.op(
            "MatMul", [graph.input((rows, depth), 0.1, 3), weights(graph, depth, columns)]
        )

    return draw


def weights(graph: Graph, *shape: int) -> str:
    whole = graph.weight(np.zeros(shape, np.int8))
    return graph.op("DequantizeLinear", [whole, *graph.scale(0.01, 0)])


def biased(graph: Graph) -> str:
    operands = [graph.input((2, 0), 0.1, 3), weights(graph, 0, 4), graph.weight(BIAS)]
    return graph.op("Gemm", operands)


def flat(graph: Graph) -> str:
    vector = graph.op("Flatten", [graph.input((2, 3, 0, 4), 0.1, 3)])
    return graph.op("Gemm", [vector, weights(graph, 4, 0), graph.weight(BIAS)], transB=1)


def conv(images: int, channels: int, filters: int) -> Callable[[Graph], str]:
    def draw(graph: Graph) -> str:
        kernel = graph.weights_of((filters, channels, 3, 3), 0)
        return graph.op("Conv", [graph.input((images, channels, 6, 6), 0.1, 3), kernel])

    return draw


NOTHING = np.zeros(0, np.int8)
CASES: dict[str, tuple[Callable[[Graph], str], Array]] = {
    "no rows": (product(0, 3, 4), NOTHING.reshape(0, 4)),
    "no columns": (product(2, 3, 0), NOTHING.reshape(2, 0)),
    "no depth": (product(2, 0, 4), quantised(np.zeros((2, 4)))),
    "bias alone": (biased, quantised(np.stack([BIAS, BIAS]))),
    "flat images": (flat, quantised(np.stack([BIAS, BIAS]))),
    "no images": (conv(0, 3, 4), NOTHING.reshape(0, 4, 4, 4)),
    "no filters": (conv(1, 3, 0), NOTHING.reshape(1, 0, 4, 4)),
    "no channels": (conv(1, 0, 4), quantised(np.zeros((1, 4, 4, 4)))),
}


@pytest.mark.parametrize("options", [{"target": "vanilla"}, {"quantized": "integers"}, {}])
@pytest.mark.parametrize("name", CASES)
def test_what_has_no_elements_is_computed(name: str, options: dict[str, str]) -> None:
    draw, expected = CASES[name]
    graph = Graph("int8", np.random.default_rng(0))
    model = graph.model(draw(graph), SCALE, ZERO)
    shapes = graph.inputs.items()
    feeds = {given: np.full(shape, 5, np.int8) for given, shape in shapes}
    (found,) = Session(build(model, **options), threads=1).run(feeds).values()
    np.testing.assert_array_equal(found, expected)
    assert can_run(model, **options)
