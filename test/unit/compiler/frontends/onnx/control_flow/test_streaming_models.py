"""Models as streaming ones are, and control flow in control flow, at changing sizes."""

import numpy as np
import pytest
from numpy.typing import NDArray
from trivium.test.unit.compiler.frontends.onnx.control_flow.found_models import check, rows


def noise(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def test_a_voice_detector_for_two_rates() -> None:
    """A rate chooses frames and filters, and whether states are new drops or keeps an axis."""
    text = """main (float[1, T] x, float[1, 4] state, int64 rate, float[4, 1, 6] w16,
            float[4, 1, 3] w8, float[4, 4] u) => (float[1, 1] p, float[1, 4] kept) {
        high = Constant <value_int = 16000> ()  is_high = Equal (rate, high)
        image = Unsqueeze (x, a1)
        frames = If (is_high) <
            then_branch = then () => (float[1, 4, q] f) {
                f = Conv <strides = [4], pads = [2, 2]> (image, w16)
            },
            else_branch = other () => (float[1, 4, r] f2) { f2 = Conv <strides = [2]> (image, w8) }
        >
        loud = Relu (frames)  mean = ReduceMean <axes = [2], keepdims = 1> (loud)
        size = Shape (frames)  place = Add (one, one)  count = Gather (size, place)
        single = Equal (count, one)
        step = If (single) <
            then_branch = one_frame () => (float[1, 4] s) { s = Squeeze (mean, last) },
            else_branch = many () => (float[1, 4, 1] s2) { s2 = Identity (mean) }
        >
        shape = Constant <value_ints = [1, 4]> ()
        flat = Reshape (step, shape)  back = MatMul (state, u)  sum = Add (flat, back)
        kept = Tanh (sum)  p0 = ReduceMean <axes = [1], keepdims = 1> (kept)  p = Sigmoid (p0)
    }"""
    weights = {"w16": noise(4, 1, 6), "w8": noise(4, 1, 3, seed=1), "u": noise(4, 4, seed=2)}
    check(
        text,
        [
            {"x": noise(1, t, seed=t), "state": noise(1, 4), "rate": rate, **weights}
            for t, rate in ((32, 16000), (16, 8000), (4, 16000), (4, 8000), (57, 16000))
        ],
    )


def test_a_memory_of_frames_that_have_gone() -> None:
    """As in FSMN: each frame joins those that are kept, which are filtered along time."""
    text = """main (float[T, 3] x, float[4, 3] cache, float[5, 3] taps, float[3, 3] w)
            => (float[n, 3] y, float[4, 3] kept) {
        size = Shape (x)  frames = Gather (size, zero)
        kept, y = Loop (frames, true, cache) <body = each (int64 i, bool c, float[4, 3] h)
                => (bool go, float[4, 3] next, float[3] out) {
            go = Identity (c)  frame = Gather (x, i)  hidden = MatMul (frame, w)
            row = Unsqueeze (hidden, a0)  all = Concat <axis = 0> (h, row)
            next = Slice (all, a1, big)  part = Mul (all, taps)
            sum = ReduceSum <keepdims = 0> (part, a0)  out = Add (sum, hidden)
        }>
    }"""
    weights = {"cache": noise(4, 3), "taps": noise(5, 3, seed=1), "w": noise(3, 3, seed=2)}
    check(text, [{"x": noise(t, 3, seed=t), **weights} for t in (7, 1, 3)])


def test_a_loop_in_a_branch_in_a_scan() -> None:
    text = """main (float[N, 3] x, float[3] s, float most) => (float[3] end, float[N, 3] y) {
        end, y = Scan <num_scan_inputs = 1, body = each (float[3] h, float[3] row)
                => (float[3] next, float[3] out) {
            sum = ReduceSum <keepdims = 0> (row)  small = Less (sum, most)
            out = If (small) <
                then_branch = then () => (float[3] o) {
                    three = Constant <value_int = 3> ()
                    o = Loop (three, true, h) <body = inner (int64 i, bool c, float[3] v)
                            => (bool go, float[3] v2) {
                        v2 = Add (v, row)  top = ReduceMax <keepdims = 0> (v2)
                        go = Less (top, most)
                    }>
                },
                else_branch = other () => (float[3] o2) { o2 = Sub (row, h) }
            >
            half = Constant <value_float = 0.5> ()  next = Mul (out, half)
        }> (s, x)
    }"""
    s = np.float32([1, -1, 2])
    check(
        text, [{"x": rows(n), "s": s, "most": np.float32(m)} for n, m in ((4, 5), (1, 0), (9, 30))]
    )


@pytest.mark.parametrize("inner_count", ["i", "m"])
def test_no_iterations_and_values_of_two_levels(inner_count: str) -> None:
    text = f"""main (float[N, 3] x, int64 m, float scale) => (float[N, 3] y, float[k, 3] z) {{
        y, z = Loop (m, true, x) <body = each (int64 i, bool c, float[N, 3] h)
                => (bool go, float[N, 3] next, float[3] out) {{
            go = Identity (c)  number = Cast <to = 1> (i)  scaled = Mul (number, scale)
            next = Loop ({inner_count}, true, h) <body = inner (int64 j, bool d, float[N, 3] v)
                    => (bool on, float[N, 3] v2) {{
                on = Identity (d)  more = Mul (x, scaled)  v2 = Add (v, more)
            }}>
            out = ReduceMin <axes = [0], keepdims = 0> (next)
        }}>
    }}"""
    check(
        text,
        [{"x": rows(n), "m": m, "scale": np.float32(0.5)} for n, m in ((2, 0), (2, 3), (5, 1))],
    )


def test_rows_are_collected_until_one_is_too_large() -> None:
    text = """main (float[N, 3] x, float most) => (float[k, 3] y, int64 count) {
        size = Shape (x)  n = Gather (size, zero)
        nothing = ConstantOfShape (none)
        y, count = Loop (n, true, nothing, zero) <body = each
                (int64 i, bool c, float[a, 3] h, int64 k) => (bool go, float[b, 3] h2, int64 k2) {
            row = Gather (x, i)  top = ReduceMax <keepdims = 0> (row)  go = Less (top, most)
            fits = Cast <to = 7> (go)  end = Reshape (fits, a1)
            rows = Unsqueeze (row, a0)  kept = Slice (rows, a0, end, a0)
            h2 = Concat <axis = 0> (h, kept)  k2 = Add (k, fits)
        }>
    }"""
    check(
        text,
        [{"x": rows(n), "most": np.float32(most)} for n in (6, 1, 3) for most in (4, 100, -9)],
    )


def test_tokens_are_chosen_with_a_memory_that_is_read() -> None:
    """A decoder: keys grow and are read in each iteration, tokens and scores are collected."""
    text = """main (float[1, 4] start, float[4, 8] w, float[8, 4] words, int64 m, int64 end)
            => (float[t, 4] keys, int64[k] tokens, float[s, 8] scores) {
        no_tokens = ConstantOfShape <value = int64[1] {0}> (a0)
        last_q, keys, tokens, scores = Loop (m, true, start, start, no_tokens) <body = each
                (int64 i, bool c, float[1, 4] q, float[a, 4] h, int64[d] ids)
                => (bool go, float[1, 4] q2, float[b, 4] h2, int64[e] ids2, float[8] out) {
            turned = Transpose (h)  dots = MatMul (q, turned)  part = Softmax (dots)
            seen = MatMul (part, h)  logits = MatMul (seen, w)  out = Squeeze (logits, a0)
            id = ArgMax <axis = 0, keepdims = 1> (out)  ids2 = Concat <axis = 0> (ids, id)
            q2 = Gather (words, id)  h2 = Concat <axis = 0> (h, q2)
            same = Equal (id, end)  other = Not (same)  go = Squeeze (other)
        }>
    }"""
    weights = {"w": noise(4, 8), "words": noise(8, 4, seed=1)}
    check(
        text,
        [
            {"start": noise(1, 4, seed=seed), "m": m, "end": end, **weights}
            for seed, m, end in ((3, 5, -1), (4, 0, 2), (5, 9, 3))
        ],
    )
