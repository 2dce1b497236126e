"""Models whose sizes data decide: imported once, run on several inputs, against ONNX Runtime."""

from collections.abc import Mapping, Sequence

import numpy as np
import onnx.parser
import pytest
from trivium.compiler.frontends.onnx import import_onnx
from trivium.dialects import tri
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import ops
from trivium.dialects.core.tensor import Array

ort = pytest.importorskip("onnxruntime")

RNG = np.random.default_rng(0)


def check(text: str, feeds: Sequence[Mapping[str, Array]], opset: int = 17) -> None:
    """Assert that one import of a graph computes what ONNX Runtime computes, for all feeds."""
    header = f'<ir_version: 8, opset_import: ["" : {opset}]>\n'
    model = onnx.parser.parse_model(header + text)
    session = ort.InferenceSession(model.SerializeToString())
    with new_context():
        module = import_onnx(model)
        for given in feeds:
            names = [each.name for each in model.graph.input]
            got = run(module, [np.asarray(given[name]) for name in names])
            for a, b in zip(got, session.run(None, dict(given)), strict=True):
                assert (a.shape, a.dtype) == (b.shape, b.dtype)
                np.testing.assert_allclose(a, b, 1e-5, 1e-5)


MASKS = [np.zeros((3, 4), bool), np.eye(3, 4) == 1, np.ones((3, 4), bool), np.eye(3, 4, 2) == 1]


def test_non_zero() -> None:
    check("main (bool[3, 4] x) => (int64[2, n] y) { y = NonZero (x) }", [{"x": m} for m in MASKS])


def test_non_zero_of_free_sizes() -> None:
    feeds = [{"x": RNG.integers(0, 2, shape)} for shape in [(1, 1), (2, 5), (5, 2)]]
    check("main (int64[A, B] x) => (int64[2, n] y) { y = NonZero (x) }", feeds)


@pytest.mark.parametrize("axis", ["", "<axis = 1>", "<axis = -2>"])
def test_compress(axis: str) -> None:
    text = f"main (float[3, 4] x, bool[3] c) => (float[n] y) {{ y = Compress {axis} (x, c) }}"
    text = text if not axis else text.replace("[n]", "[n, m]")
    x = RNG.random((3, 4), np.float32)
    feeds = [{"x": x, "c": np.array(c, bool)} for c in ([0, 0, 0], [0, 1, 0], [1, 1, 1])]
    check(text, feeds)


@pytest.mark.parametrize("given", ["", "<axis = 0>", "<axis = -1>", "<sorted = 0>"])
def test_unique(given: str) -> None:
    y = "float[n, m] y" if "axis" in given else "float[n] y"
    results = f"{y}, int64[a] i, int64[b] r, int64[c] k"
    text = f"main (float[4, 3] x) => ({results}) {{ y, i, r, k = Unique {given} (x) }}"
    arrays = [np.zeros((4, 3)), np.arange(12).reshape(4, 3), RNG.integers(0, 2, (4, 3))]
    check(text, [{"x": x.astype(np.float32)} for x in arrays])


BOXES = {
    "b": RNG.random((1, 20, 4), np.float32),
    "s": RNG.random((1, 2, 20), np.float32),
    "o": np.array([0.4], np.float32),
    "t": np.array([0.1], np.float32),
    "k": np.array([3]),
}


def test_non_max_suppression() -> None:
    text = """
    main (float[1, 20, 4] b, float[1, 2, 20] s, int64[1] k, float[1] o, float[1] t)
      => (int64[n, 3] y) { y = NonMaxSuppression (b, s, k, o, t) }"""
    nothing = {"t": np.array([2], np.float32)}
    everything = {"o": np.array([1], np.float32), "t": np.array([-1], np.float32)}
    limits = [{"k": np.array([k])} for k in (0, 1, 100)]
    check(text, [BOXES | each for each in (nothing, everything, *limits)])


def test_boxes_and_scores_of_sizes_with_different_names() -> None:
    text = """
    main (float[1, A, 4] b, float[1, 2, B] s, int64[1] k, float[1] o, float[1] t)
      => (int64[n, 3] y) { y = NonMaxSuppression (b, s, k, o, t) }"""
    few = {"b": BOXES["b"][:, :7], "s": BOXES["s"][..., :7]}
    check(text, [BOXES, BOXES | few])


def test_thresholds_may_be_left_out() -> None:
    text = """
    main (float[1, 20, 4] b, float[1, 2, 20] s, int64[1] k)
      => (int64[n, 3] y) { y = NonMaxSuppression (b, s, k) }"""
    check(text, [{name: BOXES[name] for name in "bsk"}])


def test_known_values_need_no_ops() -> None:
    text = """
    main () => (int64[n, 3] y, int64[1, m] z) <float[1, 1, 4] b = {0, 0, 1, 1},
      float[1, 1, 1] s = {0.5}, int64[1] k = {1}, bool[3] x = {1, 0, 1}>
      { y = NonMaxSuppression (b, s, k)  z = NonZero (x) }"""
    header = '<ir_version: 8, opset_import: ["" : 17]>\n'
    with new_context():
        module = import_onnx(onnx.parser.parse_model(header + text))
        kinds = {type(op) for op in ops(module.operation)}
        y, z = run(module, [])
    assert kinds == {tri.Constant}
    assert (y.tolist(), z.tolist()) == ([[0, 0, 0]], [[0, 2]])


def test_each_op_has_a_size_of_its_own() -> None:
    text = """
    main (bool[3, 4] x, bool[3, 4] z) => (int64[2, n] y, int64[2, n] w)
      { y = NonZero (x)  w = NonZero (z) }"""
    check(text, [{"x": MASKS[1], "z": MASKS[2]}, {"x": MASKS[0], "z": MASKS[1]}])
