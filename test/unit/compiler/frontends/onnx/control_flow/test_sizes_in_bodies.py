"""Bodies of branches and loops whose ops find sizes, against ONNX Runtime."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx.parser
import pytest
from trivium.compiler.driver import compile
from trivium.compiler.frontends.onnx import import_onnx
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.symbol_table import symbols_of_function

ort = pytest.importorskip("onnxruntime")

HEADER = '<ir_version: 8, opset_import: ["" : 17]>\n'


def test_a_branch_that_cannot_run_leaves_no_sizes() -> None:
    model = onnx.parser.parse_model(
        HEADER
        + """
    main (float[2, 3] x, bool c) => (float[2, 3] y) <float[4, 3] w = {0}> {
        y = If (c) <
            then_branch = then () => (float[a, b] d) {
                found = NonZero (x)  wide = Cast <to = 1> (found)  d = MatMul (x, w)
            },
            else_branch = other () => (float[2, 3] e) { e = Neg (x) }
        >
    }"""
    )
    with new_context():
        assert not symbols_of_function(import_onnx(model).main)


def check(text: str, feeds: Sequence[Mapping[str, Any]]) -> None:
    """Assert that one session computes what ONNX Runtime computes, for all feeds, twice."""
    model = onnx.parser.parse_model(HEADER + text)
    session = compile(model, target="host")
    reference = ort.InferenceSession(model.SerializeToString())
    for given in [*feeds, *feeds]:
        got = list(session.run(given).values())
        for a, b in zip(got, reference.run(None, dict(given)), strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            np.testing.assert_allclose(a, b, 1e-5, 1e-5)


def eye(*shape: int) -> np.ndarray[Any, Any]:
    return np.eye(*shape, dtype=np.float32)


def test_a_branch_with_values_of_free_sizes() -> None:
    text = """main (float[2, N] x, bool c) => (float[2, N] y) {
        y = If (c) <
            then_branch = then () => (float[2, N] d) {
                wide = Concat <axis = 1> (x, x)
                most = ReduceMax <axes = [1]> (wide)
                d = Add (x, most)
            },
            else_branch = other () => (float[2, N] e) { e = Neg (x) }
        >
    }"""
    check(text, [{"x": eye(2, n), "c": np.array(c)} for n in (3, 70, 1) for c in (True, False)])


def test_a_loop_with_values_of_free_sizes() -> None:
    text = """main (float[N, 3] x, int64 m) => (float[N, 3] y) {
        y = Loop (m, , x) <
            body = step (int64 i, bool c, float[N, 3] v) => (bool d, float[N, 3] w) {
                d = Identity (c)
                twice = Concat <axis = 0> (v, v)
                sum = ReduceMean <axes = [0]> (twice)
                w = Add (v, sum)
            }
        >
    }"""
    check(text, [{"x": eye(n, 3), "m": np.array(m)} for n in (2, 50) for m in (0, 1, 4)])


def test_a_scan_of_as_many_elements_as_a_run_has() -> None:
    text = """main (float[N, 3] x, float[N, 3] z, float[3] s) => (float[3] y, float[N, 3] out) {
        y, out = Scan <num_scan_inputs = 2, scan_output_directions = [1],
            body = step (float[3] v, float[3] a, float[3] b) => (float[3] w, float[3] o) {
                t = Add (v, a)
                w = Sub (t, b)
                o = Relu (w)
            }
        > (s, x, z)
    }"""
    feeds = [{"x": eye(n, 3), "z": eye(n, 3, 1), "s": eye(1, 3)[0]} for n in (1, 5, 200)]
    check(text, feeds)


CHOICES = [True, False, True]


def test_branches_of_two_sizes() -> None:
    text = """main (float[2, 3] x, bool c) => (float[a, b] y, float[1, b] most, float[2, 3] z) {
        y, z = If (c) <
            then_branch = then () => (float[2, 6] d, float[2, 3] g) {
                d = Concat <axis = 1> (x, x)
                g = Relu (x)
            },
            else_branch = other () => (float[1, 3] e, float[2, 3] h) {
                e = ReduceSum <keepdims = 1> (x, rows)
                h = Neg (x)
            }
        >
        most = ReduceMax <axes = [0]> (y)
    }""".replace("{", "<int64[1] rows = {0}> {", 1)
    check(text, [{"x": eye(2, 3, n), "c": np.array(c)} for n, c in enumerate(CHOICES)])


def test_branches_whose_sizes_were_found_before() -> None:
    text = """main (int64[N] x, int64[1] k, bool c) => (int64[a] y) <int64[1] zero = {0}> {
        z = Slice (x, zero, k)
        y = If (c) <
            then_branch = then () => (int64[d] d) { d = Neg (z) },
            else_branch = other () => (int64[e] e) { e = Concat <axis = 0> (z, x) }
        >
    }"""
    pairs = [(k, c) for k in (0, 2, 9) for c in CHOICES]
    check(text, [{"x": np.arange(5), "k": np.array([k]), "c": np.array(c)} for k, c in pairs])


def test_only_sizes_that_differ_are_found() -> None:
    model = onnx.parser.parse_model(
        HEADER
        + """
    main (float[2, N] x, bool c) => (float[2, a] y) {
        y = If (c) <
            then_branch = then () => (float[2, b] d) { d = Concat <axis = 1> (x, x) },
            else_branch = other () => (float[2, N] e) { e = Neg (x) }
        >
    }"""
    )
    with new_context():
        module = import_onnx(model)
        *_, end = module.main_block.operations
        assert str(end.operands[0].type) == 'tensor<2x?xf32, ["", "u0"]>'
