"""Kernels that read and store views in place: results against numpy, and which kernels are left."""

import numpy as np
import onnx.parser
import pytest
import trivium
from trivium.compiler.frontends.onnx import import_onnx
from trivium.compiler.stages import pipeline_for
from trivium.dialects import tri
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import direct_ops
from trivium.dialects.core.tensor import Array

RANDOM = np.random.default_rng(31)


def self_attention(tokens: int, heads: int, size: int) -> onnx.ModelProto:
    """Return attention on the parts of one tensor, whose result is one row for each token."""
    width = heads * size
    return onnx.parser.parse_model(f"""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[2, {tokens}, {3 * width}] x) => (float[2, {tokens}, {width}] y)
        <int64[5] parts = {{2, {tokens}, 3, {heads}, {size}}},
         int64[3] rows = {{2, {tokens}, {width}}}, int64[1] axis = {{0}},
         float c = {{{size**-0.5}}}>
        {{
            divided = Reshape (x, parts)
            turned = Transpose <perm = [2, 0, 3, 1, 4]> (divided)
            a, b, d = Split <axis = 0, num_outputs = 3> (turned)
            q = Squeeze (a, axis)
            k = Squeeze (b, axis)
            v = Squeeze (d, axis)
            kt = Transpose <perm = [0, 1, 3, 2]> (k)
            products = MatMul (q, kt)
            scores = Mul (products, c)
            weights = Softmax <axis = -1> (scores)
            mixed = MatMul (weights, v)
            back = Transpose <perm = [0, 2, 1, 3]> (mixed)
            y = Reshape (back, rows)
        }}
    """)


def by_numpy(x: Array, heads: int, size: int) -> Array:
    batch, tokens, _ = x.shape
    q, k, v = x.astype(np.float64).reshape(batch, tokens, 3, heads, size).transpose(2, 0, 3, 1, 4)
    scores = q @ k.swapaxes(-1, -2) * size**-0.5
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    mixed = powers / powers.sum(-1, keepdims=True) @ v
    return mixed.transpose(0, 2, 1, 3).reshape(batch, tokens, heads * size)


def kernels(model: onnx.ModelProto) -> list[list[str]]:
    """List the ops of the kernels that a model becomes."""
    with new_context():
        module = import_onnx(model)
        pipeline_for("cpu", 2).run(module)
        groups = [op for op in direct_ops(module.main_block) if isinstance(op, tri.Group)]
        return [[op.op_name for op in group.members] for group in groups]


# The last rows are so far apart that values are copied; before, one head is one row.
@pytest.mark.parametrize(
    ("tokens", "heads", "size"), [(5, 2, 4), (45, 3, 24), (7, 1, 16), (1, 2, 8), (700, 8, 16)]
)
def test_attention_reads_parts_of_a_product_where_they_are(
    tokens: int, heads: int, size: int
) -> None:
    model = self_attention(tokens, heads, size)
    x = RANDOM.standard_normal((2, tokens, 3 * heads * size)).astype(np.float32)
    (made,) = trivium.compile(model).run({"x": x}).values()
    np.testing.assert_allclose(made, by_numpy(x, heads, size), atol=3e-6)
    (kernel,) = kernels(model)
    assert "tri.attention" in kernel


@pytest.mark.parametrize("options", [{"precision": "bf16"}, {"math": "strict"}])
def test_other_numbers_are_read_in_the_same_way(options: dict[str, object]) -> None:
    x = RANDOM.standard_normal((2, 45, 3 * 3 * 24)).astype(np.float32)
    (made,) = trivium.compile(self_attention(45, 3, 24), **options).run({"x": x}).values()
    error = 2.0**-6 if "precision" in options else 3e-6
    np.testing.assert_allclose(made, by_numpy(x, 3, 24), atol=error)


CACHES = """
    <ir_version: 10, opset_import: ["" : 21]>
    step (float[3, 2, 4, 5] past, float[1, 2, 1, 5] new) => (float[1, 2, 5, 5] y, float[2, 4, 5] z)
    <int64[1] axis = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[3] shape = {2, 4, 5}> {
        layer = Slice (past, one, two, axis)
        y = Concat <axis = 2> (layer, new)
        plain = Reshape (layer, shape)
        z = Relu (plain)
    }
"""


def test_a_concatenation_reads_a_part_that_others_read_too() -> None:
    model = onnx.parser.parse_model(CACHES)
    past, new = (RANDOM.standard_normal(s).astype(np.float32) for s in ((3, 2, 4, 5), (1, 2, 1, 5)))
    made = trivium.compile(model).run({"past": past, "new": new})
    np.testing.assert_array_equal(made["y"], np.concatenate([past[1:2], new], 2))
    np.testing.assert_array_equal(made["z"], np.maximum(past[1], 0))
    assert ["tri.slice", "tri.concat"] in kernels(model)


GROWING = """
    <ir_version: 10, opset_import: ["" : 21]>
    gather (float[3, 2] x, float[1, 2] first, int64 steps) => (float[K, 2] y, float[n] sums)
    <bool on = {1}, int64[1] axis = {0}, int64[1] one = {1}, int64[1] three = {3}> {
        y, sums = Loop (steps, on, first) <body = each (int64 i, bool c, float[H, 2] h)
                => (bool go, float[G, 2] next, float sum) {
            go = Identity (c)
            rows = Slice (x, one, three, axis)
            next = Concat <axis = 0> (h, rows)
            sum = ReduceSum <keepdims = 0> (h)
        }>
    }
"""


def test_rows_that_are_appended_in_place_are_read_in_place() -> None:
    x, first = (RANDOM.standard_normal(s).astype(np.float32) for s in ((3, 2), (1, 2)))
    session = trivium.compile(onnx.parser.parse_model(GROWING))
    made = session.run({"x": x, "first": first, "steps": np.array(3)})
    np.testing.assert_array_equal(made["y"], np.concatenate([first, *[x[1:]] * 3]))
