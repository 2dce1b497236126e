"""Loops and branches whose sizes a run decides, against ONNX Runtime."""

import numpy as np
import pytest
from trivium.compiler.driver import compile
from trivium.compiler.frontends.onnx import import_onnx
from trivium.dialects.core.errors import CompileError, Invalid
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context
from trivium.runtime.errors import RunError
from trivium.test.unit.compiler.frontends.onnx.control_flow.found_models import (
    check,
    model_of,
    rows,
)

SEEDS = np.random.default_rng


def test_a_run_decides_how_many_outputs_there_are() -> None:
    text = """main (float[2, 3] x, int64 m, float most) => (float[2, 3] y, float[k, 2, 3] z) {
        y, z = Loop (m, , x) <body = each (int64 i, bool c, float[2, 3] v)
                => (bool go, float[2, 3] next, float[2, 3] out) {
            sum = ReduceSum <keepdims = 0> (v)  go = Less (sum, most)
            out = Neg (v)  next = Add (v, v)
        }>
    }"""
    x, feeds = np.eye(2, 3, dtype=np.float32), [(0, 9), (1, 9), (4, 9), (9, 9), (5, -9)]
    check(text, [{"x": x, "m": m, "most": np.float32(most)} for m, most in feeds])


def test_iterations_that_a_size_says_are_not_found() -> None:
    text = """main (float[N, 3] x) => (float[N, 3] y) {
        size = Shape (x)  m = Gather (size, zero)
        y = Loop (m, true) <body = each (int64 i, bool c) => (bool go, float[3] out) {
            go = Identity (c)  row = Gather (x, i)  out = Relu (row)
        }>
    }"""
    check(text, [{"x": rows(n)} for n in (1, 3, 4)])
    with new_context():
        assert 'iterations = "N"' in str(import_onnx(model_of(text)))


def test_outputs_whose_own_sizes_are_found() -> None:
    text = """main (float[N, 3] x, int64 m) => (int64[n, 2, k] y) {
        y = Loop (m, true) <body = each (int64 i, bool c) => (bool go, int64[2, k] out) {
            go = Identity (c)  out = NonZero (x)
        }>
    }"""
    check(text, [{"x": rows(n), "m": m} for n in (1, 3) for m in (1, 4)])


def test_outputs_of_one_loop_have_one_shape() -> None:
    text = """main (int64 m) => (int64[n, k] y) {
        y = Loop (m, true) <body = each (int64 i, bool c) => (bool go, int64[k] out) {
            go = Identity (c)  out = Range (zero, i, one)
        }>
    }"""
    with new_context(), pytest.raises(Invalid, match="puts out tensors of shapes"):
        run(import_onnx(model_of(text)), [np.array(2)])
    session = compile(model_of(text), target="host")
    with pytest.raises(RunError, match="must be of one shape"):
        session.run({"m": np.array(2)})
    assert session.run({"m": np.array(1)})["y"].shape == (1, 0)


def test_what_a_loop_carries_grows_beside_what_keeps_its_size() -> None:
    text = """main (float[1, 3] x, float[2] p, float[2] q, int64 m)
            => (float[n, 3] y, float[2] r, float[2] s, float[k, 3] t) {
        y, r, s, t = Loop (m, , x, p, q, x) <body = each
                (int64 i, bool c, float[a, 3] h, float[2] u, float[2] v, float[d, 3] g)
                => (bool go, float[e, 3] h2, float[2] u2, float[2] v2, float[f, 3] g2) {
            go = Identity (c)  h2 = Concat <axis = 0> (h, g)  u2 = Neg (v)
            v2 = Identity (u)  g2 = Concat <axis = 0> (g, x)
        }>
    }"""
    p, q = np.float32([1, 2]), np.float32([3, 4])
    check(text, [{"x": rows(1), "p": p, "q": q, "m": m} for m in (0, 1, 2, 5)])


def test_values_of_two_sizes_change_places() -> None:
    text = """main (float[1, 3] x, float[2, 3] z, int64 m) => (float[n, 3] y, float[k, 3] t) {
        y, t = Loop (m, , x, z) <body = each (int64 i, bool c, float[a, 3] h, float[d, 3] g)
                => (bool go, float[e, 3] h2, float[f, 3] g2) {
            go = Identity (c)  h2 = Identity (g)  g2 = Identity (h)
        }>
    }"""
    check(text, [{"x": rows(1), "z": rows(2), "m": m} for m in (0, 1, 2, 5)])


def test_what_a_loop_carries_shrinks_until_a_condition() -> None:
    text = """main (float[N, 3] x, int64 m) => (float[n, 3] y) {
        y = Loop (m, , x) <body = each (int64 i, bool c, float[a, 3] h) => (bool go, float[e, 3] h2)
        {
            h2 = Slice (h, a1, big)  size = Shape (h2)  left = Gather (size, zero)
            go = Greater (left, one)
        }>
    }"""
    check(text, [{"x": rows(n), "m": m} for n in (5, 2) for m in (0, 1, 9)])


@pytest.mark.parametrize("seed", range(3))
def test_a_greedy_search(seed: int) -> None:
    text = """main (int64[1, T] ids, float[10, 4] words, float[4, 10] head, int64[1] end, int64 m)
            => (int64[1, n] y, float[k, 1, 10] scores) {
        y, scores = Loop (m, true, ids) <body = each (int64 i, bool c, int64[1, a] h)
                => (bool go, int64[1, e] h2, float[1, 10] logits) {
            v = Gather (words, h)  all = MatMul (v, head)
            at = Gather <axis = 1> (all, last)  wave = Sin (at)
            logits = Squeeze (wave, a1)  best = ArgMax <axis = 1, keepdims = 1> (logits)
            h2 = Concat <axis = 1> (h, best)
            word = Squeeze (best, a1)  same = Equal (word, end)
            other = Not (same)  go = Squeeze (other, a0)
        }>
    }"""
    words = SEEDS(seed).standard_normal((10, 4)).astype(np.float32)
    head = SEEDS(seed + 9).standard_normal((4, 10)).astype(np.float32)
    ids = [np.arange(length).reshape(1, length) for length in (1, 3)]
    check(
        text,
        [{"ids": i, "words": words, "head": head, "end": np.array([7]), "m": 8} for i in ids],
    )


def test_boxes_of_each_class_are_chosen_in_a_loop() -> None:
    text = """main (float[1, 6, 4] boxes, float[1, C, 6] scores, float least, int64 count)
            => (int64[n, 3] y, int64[k] found) {
        empty = ConstantOfShape <value = int64[1] {0}> (none)
        y, found = Loop (count, , empty) <body = each (int64 i, bool c, int64[a, 3] h)
                => (bool go, int64[d, 3] h2, int64 out) {
            go = Identity (c)  number = Unsqueeze (i, a0)
            one_class = Gather <axis = 1> (scores, number)
            overlap = Constant <value_float = 0.5> ()
            chosen = NonMaxSuppression (boxes, one_class, big, overlap, least)
            h2 = Concat <axis = 0> (h, chosen)  size = Shape (h2)  out = Gather (size, zero)
        }>
    }"""
    boxes, scores = (SEEDS(0).random(s).astype(np.float32) for s in ((1, 6, 4), (1, 3, 6)))
    given = {"boxes": boxes, "scores": scores}
    feeds = [(0.0, 3), (0.5, 2), (2.0, 3), (0.1, 0)]
    check(text, [{**given, "least": np.float32(least), "count": n} for least, n in feeds])


def test_loops_in_loops_and_branches() -> None:
    text = """main (float[N, 3] x, int64 m, bool b) => (float[n, 3] y, float[k] t) {
        y, t = If (b) <
            then_branch = then () => (float[p, 3] y1, float[q] t1) {
                y1, t1 = Loop (m, , x) <body = each (int64 i, bool c, float[a, 3] h)
                        => (bool go, float[e, 3] h2, float out) {
                    go = Identity (c)  times = Add (i, one)
                    w, tops = Loop (times, , x) <body = inner (int64 j, bool d, float[a, 3] g)
                            => (bool d2, float[e, 3] g2, float[3] top) {
                        d2 = Identity (d)  g2 = Concat <axis = 0> (g, h)
                        top = ReduceMax <axes = [0], keepdims = 0> (g)
                    }>
                    h2 = Concat <axis = 0> (h, tops)  out = ReduceSum <keepdims = 0> (w)
                }>
            },
            else_branch = other () => (float[r, 3] y2, float[s] t2) {
                y2 = Neg (x)  t2 = ReduceMax <axes = [1], keepdims = 0> (x)
            }
        >
    }"""
    check(
        text,
        [
            {"x": rows(n), "m": m, "b": b}
            for n, m in ((1, 0), (1, 3), (3, 2))
            for b in (True, False)
        ],
    )


def test_a_branch_in_a_loop_selects_rows_or_adds_some() -> None:
    text = """main (float[N, 3] x, int64 m) => (float[n, 3] y) {
        y = Loop (m, , x) <body = each (int64 i, bool c, float[a, 3] h) => (bool go, float[e, 3] h2)
        {
            go = Identity (c)  two = Add (one, one)  rest = Mod (i, two)  odd = Cast <to = 9> (rest)
            h2 = If (odd) <
                then_branch = then () => (float[p, 3] o) { o = Concat <axis = 0> (h, x) },
                else_branch = other () => (float[q, 3] o2) {
                    found = NonZero (h)  row = Slice (found, a0, a1)
                    places = Squeeze (row, a0)  o2 = Gather (h, places)
                }
            >
        }>
    }"""
    check(text, [{"x": rows(n), "m": m} for n in (1, 3) for m in (0, 1, 4)])


@pytest.mark.parametrize("carries", ["", ", float[n, 2] o"])
def test_the_condition_may_be_what_was_carried(carries: str) -> None:
    made = ", o" if carries else ""
    out = ", float[2] out" if carries else ""
    text = f"""main (float[2] x, int64 m, bool d) => (float[2] y, bool e{carries}) {{
        y, e{made} = Loop (m, true, x, d) <body = each (int64 i, bool c, float[2] h, bool g)
                => (bool go, float[2] h2, bool g2{out}) {{
            go = Identity (g)  h2 = Add (h, h)  g2 = Not (g)  {"out = Neg (h)" if carries else ""}
        }}>
    }}"""
    x = np.float32([1, 2])
    check(text, [{"x": x, "m": m, "d": d} for m in (0, 1, 5) for d in (True, False)])


def test_branches_of_several_ranks_are_refused() -> None:
    text = """main (float[1, 3] x, bool c) => (float[a] y) {
        y = If (c) <
            then_branch = then () => (float[3] o) { o = Squeeze (x, a0) },
            else_branch = other () => (float[1, 3] o2) { o2 = Neg (x) }
        >
    }"""
    with new_context(), pytest.raises(CompileError) as caught:
        import_onnx(model_of(text))
    assert "as branches return tensor<3xf32> and tensor<1x3xf32>" in str(caught.value)


def test_branches_of_several_ranks_on_sizes_are_refused() -> None:
    text = """main (float[1, n] x) => (float[a] y) {
        s = Shape (x)
        axis = Constant <value_ints = [1]> ()
        n1 = Gather (s, axis)
        c = Greater (n1, axis)
        y = If (c) <
            then_branch = then () => (float[k] o) { o = Squeeze (x, a0) },
            else_branch = other () => (float[1, k] o2) { o2 = Neg (x) }
        >
    }"""
    with new_context(), pytest.raises(CompileError) as caught:
        import_onnx(model_of(text))
    assert "needs the value of input 'cond', as branches return" in str(caught.value)
    assert ",," not in str(caught.value)
