"""Tensors beyond 2 GiB. They are zeros that nobody writes to, so they take no memory."""

from collections.abc import Mapping

import numpy as np
import onnx.parser
import pytest
from trivium.compiler.driver import build, compile
from trivium.dialects.core.tensor import Array

LENGTH = 2**31 + 1000
AFTER = 2**31 + 5
"""A place that is negative as a number of 32 bits."""

BYTES = 2**32 + 2**20


def run(graph: str, inputs: Mapping[str, Array]) -> Array:
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> {graph}')
    return compile(model).run(inputs)["y"]


@pytest.fixture(scope="module")
def line() -> Array:
    """Return 0, 0, … 0, 5, 0, … 0, 3."""
    x = np.zeros(LENGTH, np.int8)
    x[AFTER], x[-1] = 5, 3
    return x


def test_activations_of_more_than_2_gib_compile() -> None:
    # Each softmax is a kernel of its own, and what is between them is in the arena.
    package = build(
        onnx.parser.parse_model("""<ir_version: 10, opset_import: ["" : 21]>
        g (float[300, 1024, 1024] x) => (float[300, 1024, 1024] y) {
            a = Softmax <axis = 2> (x)
            b = Softmax <axis = 1> (a)
            c = Softmax <axis = 0> (b)
            y = Softmax <axis = 2> (c)
        }""")
    )
    assert package.manifest.memory.arena_bytes > 2**31


@pytest.mark.parametrize("op", ["Gather", "GatherElements"])
def test_gathers_beyond_2_31_elements(op: str, line: Array) -> None:
    graph = f"g (int8[{LENGTH}] x, int64[18] i) => (int8[18] y) {{ y = {op} <axis = 0> (x, i) }}"
    places = np.tile([0, AFTER, -1, LENGTH - 2, AFTER - LENGTH, 1], 3)
    y = run(graph, {"x": line, "i": places})
    assert y.tolist() == [0, 5, 3, 0, 5, 0] * 3


def test_slices_beyond_2_31_elements(line: Array) -> None:
    graph = f"""g (int8[{LENGTH}] x) => (int8[3] y) <int64[1] s = {{-3}}, int64[1] e = {{{LENGTH}}}>
        {{ y = Slice (x, s, e) }}"""
    assert run(graph, {"x": line}).tolist() == [0, 0, 3]


def test_reads_columns_that_are_far_apart() -> None:
    x = np.zeros((32, BYTES // 32), np.int8)
    x[:, 9] = np.arange(32)
    graph = f"""g (int8[32, {BYTES // 32}] x) => (int32[32] y)
        <int64[1] s = {{9}}, int64[1] e = {{10}}, int64[1] axis = {{1}}, int64[1] shape = {{32}}>
        {{
            column = Slice (x, s, e, axis)
            flat = Reshape (column, shape)
            y = Cast <to = 6> (flat)
        }}"""
    assert run(graph, {"x": x}).tolist() == list(range(32))


def test_finds_a_maximum_beyond_2_31_elements(line: Array) -> None:
    graph = f"g (int8[1, {LENGTH}] x) => (int64[1, 1] y) {{ y = ArgMax <axis = 1> (x) }}"
    assert run(graph, {"x": line[None]}).item() == AFTER
