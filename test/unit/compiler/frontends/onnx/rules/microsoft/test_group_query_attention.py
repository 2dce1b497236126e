"""Attention of decoders, over caches whose rows a run decides, against ONNX Runtime."""

from typing import Any

import numpy as np
import pytest
import trivium
from trivium.test.unit.compiler.frontends.onnx.rules.microsoft.microsoft_nodes import (
    Array,
    by_onnxruntime,
    by_reference,
    feeds_of,
    floats,
    node_model,
    refused,
)

H, G, D = 4, 2, 16
OP = "GroupQueryAttention"
HEADS: dict[str, Any] = {"num_heads": H, "kv_num_heads": G}
OUTPUTS = ["o0", "o1", "o2"]


def ints(*numbers: int) -> Array:
    return np.array(numbers, np.int32)


def step(
    rows: list[int],
    length: int,
    capacity: int | None,
    *,
    packed: bool = False,
    more: dict[int, Array] | None = None,
) -> list[Array | None]:
    """Return the inputs of a step after which entries of a batch have some rows in use."""
    batch = len(rows)
    sizes = [H + 2 * G] if packed else [H, G, G]
    new = [floats(batch, length, heads * D) for heads in sizes] + [None] * (2 * packed)
    past = [None if capacity is None else floats(batch, G, capacity, D) for _ in range(2)]
    inputs = [*new, *past, ints(*rows) - 1, np.array(max(rows), np.int32), *[None] * 10]
    for place, value in (more or {}).items():
        inputs[place] = value
    return inputs


def compare(got: list[Array], wanted: list[Array], rows: list[int], queries: list[int]) -> None:
    """Compare what is specified: queries that do not pad, and rows in use."""
    assert [x.shape for x in got] == [x.shape for x in wanted]
    assert [x.dtype for x in got] == [x.dtype for x in wanted]
    for entry, (used, count) in enumerate(zip(rows, queries, strict=True)):
        parts = [(slice(entry, entry + 1), slice(0, count))]
        parts += [(slice(entry, entry + 1), slice(None), slice(0, used))] * 2
        for one, other, part in zip(got, wanted, parts, strict=True):
            np.testing.assert_allclose(one[part], other[part], rtol=1e-5, atol=2e-6)


def check(inputs: list[Array | None], queries: list[int] | None = None, **given: Any) -> None:
    rows, length = (inputs[5] + 1).tolist(), inputs[0].shape[1]  # type: ignore[operator, union-attr]
    queries = queries or [min(length, used) for used in rows]
    given = HEADS | given
    wanted = by_onnxruntime(node_model(OP, inputs, OUTPUTS, **given), feeds_of(inputs))
    compare(by_reference(OP, inputs, 3, **given), wanted, rows, queries)


STEPS: dict[str, tuple[list[int], int, int | None]] = {
    "first, no past": ([3, 2], 3, None),
    "first, empty past": ([3, 2], 3, 0),
    "first, shared buffer": ([5, 3], 5, 9),
    "next": ([5, 5], 1, 4),
    "next, ragged": ([5, 3], 1, 4),
    "next, shared buffer": ([7, 4], 1, 12),
    "chunk": ([7], 3, 4),
    "chunk, shared buffer": ([7], 3, 12),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", STEPS)
def test_steps(name: str, packed: bool) -> None:
    rows, length, capacity = STEPS[name]
    check(step(rows, length, capacity, packed=packed))
    angles = {7: floats(20, 8), 8: floats(20, 8)}
    rotary = {"do_rotary": 1, "rotary_interleaved": int(packed)}
    check(step(rows, length, capacity, packed=packed, more=angles), **rotary)


@pytest.mark.parametrize(
    "given",
    [
        {"local_window_size": 2},
        {"softcap": 0.5},
        {"smooth_softmax": 1},
        {"causal": 0},
        {"scale": 0.7, "softcap": 2.0, "smooth_softmax": 1, "local_window_size": 3},
    ],
)
@pytest.mark.parametrize("name", ["first, no past", "next, ragged", "chunk, shared buffer"])
@pytest.mark.parametrize("sink", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_scores(given: dict[str, Any], name: str, sink: bool, bias: bool) -> None:
    rows, length, capacity = STEPS[name]
    more = {11: floats(H)} if sink else {}
    more |= {10: floats(1, H, length, max(rows))} if bias else {}
    check(step(rows, length, capacity, more=more), **given)


@pytest.mark.parametrize(
    ("name", "positions"),
    [
        ("next, ragged", [[9], [3]]),
        ("chunk, shared buffer", [[9, 3, 11]]),
        ("first, shared buffer", [[2, 0, 0, 0, 0], [7, 0, 0, 0, 0]]),  # the first one counts
    ],
)
def test_given_positions(name: str, positions: list[list[int]]) -> None:
    more = {7: floats(20, 8), 8: floats(20, 8), 9: np.array(positions)}
    check(step(*STEPS[name], more=more), do_rotary=1)


@pytest.mark.parametrize("seed", range(8))
def test_drawn_steps(seed: int) -> None:
    """Draw sizes; ONNX Runtime takes several new rows for a past of one entry alone."""
    rng = np.random.default_rng(seed)
    shared, times, size = (int(each) for each in rng.integers(1, 4, 3))
    length, had = int(rng.integers(1, 6)), int(rng.integers(0, 9))
    batch = int(rng.integers(2, 5)) if length == 1 or not had else 1
    rows = had + length - rng.integers(0, had + 1 if batch > 1 else 1, batch)
    rows[0] = had + length
    capacity = had if seed % 2 else had + length + 3
    heads = {"num_heads": shared * times, "kv_num_heads": shared}
    sizes = [shared * times, shared, shared]
    inputs = [floats(batch, length, each * 16 * size) for each in sizes]
    inputs += [floats(batch, shared, capacity, 16 * size) for _ in range(2)]
    inputs += [rows.astype(np.int32) - 1, np.array(max(rows), np.int32)]
    inputs += [floats(20, 8 * size), floats(20, 8 * size)]
    check(inputs, **heads, do_rotary=1, rotary_interleaved=seed // 2 % 2)


@pytest.mark.parametrize("more", [{}, {"softcap": 2.0, "smooth_softmax": 1}])
def test_half_precision(more: dict[str, Any]) -> None:
    inputs = step([7], 3, 12, more={7: floats(20, 8), 8: floats(20, 8), 10: floats(1, H, 3, 7)})
    inputs = [
        x.astype(np.float16) if x is not None and x.dtype == np.float32 else x for x in inputs
    ]
    given = HEADS | {"do_rotary": 1} | more
    wanted = by_onnxruntime(node_model(OP, inputs, OUTPUTS, **given), feeds_of(inputs))
    got = by_reference(OP, inputs, 3, **given)
    for one, other, part in zip(
        got, wanted, (np.s_[:], np.s_[:, :, :7], np.s_[:, :, :7]), strict=True
    ):
        assert one.dtype == other.dtype == np.float16
        np.testing.assert_allclose(one[part], other[part], rtol=2e-3, atol=2e-3)


def test_chunks_of_a_ragged_batch() -> None:
    more = {7: floats(20, 8), 8: floats(20, 8), 16: ints(2, 4)}
    check(step([7, 5], 4, 12, more=more), [2, 4], do_rotary=1)


def test_normalised_heads() -> None:
    """ONNX Runtime has these norms on GPUs alone: compare with norms before the node."""
    inputs = step([7], 3, 12)
    weights = floats(D), floats(D)

    def normed(x: Any, weight: Array, epsilon: float) -> Array:
        heads = x.reshape(*x.shape[:2], -1, D)
        root = np.sqrt((heads * heads).mean(-1, keepdims=True) + np.float32(epsilon))
        return (heads / root * weight).reshape(x.shape)

    before = [normed(inputs[0], weights[0], 0.5), normed(inputs[1], weights[1], 0.1), *inputs[2:]]
    wanted = by_onnxruntime(node_model(OP, before, OUTPUTS, **HEADS), feeds_of(before))
    inputs[14:16] = weights
    given = {"qk_norm_epsilon": 0.5, "k_norm_epsilon": 0.1}
    compare(by_reference(OP, inputs, 3, **HEADS, **given), wanted, [7], [3])


AXES = {n: ("batch", "length", None) for n in range(3)}
AXES |= {n: ("batch", None, "past", None) for n in (3, 4)} | {5: ("batch",)}


@pytest.mark.parametrize("more", [{}, {"softcap": 2.0, "smooth_softmax": 1}])
def test_one_package_runs_all_steps(more: dict[str, Any]) -> None:
    given = HEADS | {"do_rotary": 1} | more
    angles = {7: floats(20, 8), 8: floats(20, 8)}
    inputs = step([5, 3], 1, 4, more=angles)
    model = node_model(OP, inputs, OUTPUTS, names=AXES, **given)
    session = trivium.compile(model, shapes={"past": trivium.Range(0, 16, likely=8)})
    for name in set(STEPS) - {"first, no past"}:
        rows, length, _ = STEPS[name]
        feeds = feeds_of(step(*STEPS[name], more=angles))
        got = session.run(feeds)
        wanted = by_onnxruntime(model, feeds)
        queries = [min(length, used) for used in rows]
        compare([got[output] for output in OUTPUTS], wanted, rows, queries)


def test_what_a_run_may_not_ask_for() -> None:
    inputs = step([5, 3], 1, 4)
    session = trivium.compile(node_model(OP, inputs, OUTPUTS, **HEADS))
    with pytest.raises(trivium.RunError, match="finds size 6, must be at most 5"):
        session.run(feeds_of([*inputs[:6], np.array(6, np.int32)]))
    long = step([5, 5], 2, 8)
    session = trivium.compile(node_model(OP, long, OUTPUTS, **HEADS))
    with pytest.raises(trivium.RunError, match="u0 keys, must be at least the 2 new ones"):
        session.run(feeds_of([*long[:6], np.array(1, np.int32)]))
    angles = {7: floats(8, 8), 8: floats(8, 8)}
    late = step([9, 3], 1, 12, more=angles)
    session = trivium.compile(node_model(OP, late, OUTPUTS, **HEADS, do_rotary=1))
    with pytest.raises(trivium.RunError, match="u0 keys, must be at most 8, the angles"):
        session.run(feeds_of(late))


def test_names_what_it_does_not_read() -> None:
    inputs = step([5, 3], 1, 4)

    def fails(
        message: str, places: dict[int, Array | None], outputs: int = 3, **given: Any
    ) -> None:
        changed = [places.get(n, value) for n, value in enumerate(inputs)]
        refused(f"node {message}", OP, changed, outputs, **HEADS | given)

    cache = "has a quantised cache"
    fails(cache, {}, k_quant_type="PER_TENSOR")
    fails(cache, {}, v_quant_type="PER_CHANNEL")
    fails(cache, {}, kv_cache_bit_width=8)
    fails(cache, {12: floats(1)})
    fails(cache, {13: floats(1)})
    fails("puts out its scores", {}, qk_output=1)
    fails("puts out its scores", {}, outputs=4)
    fails("has local_window_size 0 and causal 1, must", {}, local_window_size=0)
    fails("has local_window_size 2 and causal 0, must", {}, local_window_size=2, causal=0)
    fails("has one of past_key and past_value", {4: None})
    fails("has one of q_norm_weight and k_norm_weight", {14: floats(D)})
    fails("has one of key and value", {2: None})
    fails("has 4 query heads for 3 key heads", {}, kv_num_heads=3)
    fails("has 3 heads for an input", {}, num_heads=3, kv_num_heads=1)
    fails("has queries tensor<2x1x64xf32> and keys or values", {1: floats(2, 2, G * D)})
    past = {n: floats(2, G, 4, 8) for n in (3, 4)}
    fails("has past tensor<2x2x4x8xf32>, must be of f32, [2, 2, …, 16]", past)
    past = {n: floats(2, G, D) for n in (3, 4)}
    fails("has past tensor<2x2x16xf32>, must be of f32", past)
    fails(
        "has past tensor<2x2x4x16xf16>, must be of f32", {3: floats(2, G, 4, D).astype(np.float16)}
    )
    fails("has do_rotary 1, which needs cos_cache and sin_cache", {}, do_rotary=1)
    both = {7: floats(20, 8), 8: floats(20, 8), 9: np.array([[1], [1]]), 16: ints(1, 1)}
    fails("has position_ids and query_seqlens", both, do_rotary=1)
    bad = both | {9: np.array([[1, 2]]), 16: None}
    fails("has position_ids tensor<1x2xi64>, must be [2, 1]", bad, do_rotary=1)
    fails("has total_sequence_length tensor<2xi32>, must have one", {6: ints(5, 3)})
    fails("has seqlens_k tensor<3xi32>, must have 2 elements", {5: ints(4, 2, 1)})
    fails("has query_seqlens tensor<3xi32>, must have 2 elements", {16: ints(1, 1, 1)})
    fails("has head_sink tensor<3xf32>, must have 4 elements", {11: floats(3)})
    refused("node lacks input 'seqlens_k'", OP, inputs[:5], 3, **HEADS)
