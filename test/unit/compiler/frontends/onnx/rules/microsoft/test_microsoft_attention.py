"""Rotary embedding and attention of several heads, of ONNX Runtime, against ONNX Runtime."""

from typing import Any

import numpy as np
import pytest
import trivium
from trivium.test.unit.compiler.frontends.onnx.rules.microsoft.microsoft_nodes import (
    RANDOM,
    Array,
    agree,
    by_onnxruntime,
    by_reference,
    feeds_of,
    floats,
    node_model,
    refused,
    same,
)

B, S, L, H, D, P = 2, 3, 5, 2, 4, 4
E = H * D
HEADS: dict[str, Any] = {"num_heads": H}
OP = "MultiHeadAttention"


def ints(*numbers: Any) -> Array:
    return np.array(numbers, np.int32)


def draw(most: int, *shape: int) -> Array:
    return RANDOM.integers(0, most, shape).astype(np.int32)


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("rank", [3, 4])
@pytest.mark.parametrize("pairs", [1, 2])
@pytest.mark.parametrize("offset", [False, True])
def test_rotary_embedding(interleaved: int, rank: int, pairs: int, offset: bool) -> None:
    x = floats(B, S, E) if rank == 3 else floats(B, H, S, D)
    positions = np.array([4]) if offset else RANDOM.integers(0, 9, (B, S))
    given = {"num_heads": H, "rotary_embedding_dim": 2 * pairs} if pairs == 1 else {}
    inputs = [x, positions, floats(9, pairs), floats(9, pairs)]
    agree("RotaryEmbedding", inputs, interleaved=interleaved, **given)


def test_rotary_embedding_names_what_it_does_not_read() -> None:
    op, inputs = "RotaryEmbedding", [floats(B, S, E), np.array([0]), floats(9, 2), floats(9, 2)]
    refused(
        "node has packed batches, must have is_packed_batching 0", op, inputs, is_packed_batching=1
    )
    refused("node has scale 2.0, which ONNX Runtime ignores", op, inputs, scale=2.0)
    refused("node has rotary_embedding_dim, which needs num", op, inputs, rotary_embedding_dim=2)
    refused(
        "node has 8 elements, must split in heads of 6",
        op,
        [*inputs[:2], floats(9, 3), floats(9, 3)],
    )
    refused("node has position_ids tensor<2xi64>", op, [inputs[0], np.array([0, 1]), *inputs[2:]])
    refused("node has position_ids", op, [inputs[0], np.array([[0, 1], [0, 1]]), *inputs[2:]])
    refused(
        "node has input tensor<2x8xf32>, must have rank 3 or 4", op, [floats(2, 8), *inputs[1:]]
    )
    refused("node has a table of angles", op, [*inputs[:2], floats(9, 2, 1), floats(9, 2)])
    wide = [floats(B, H, S, D), inputs[1], floats(9, 3), floats(9, 3)]
    refused("node rotates 6 of 4 elements", op, wide)
    refused(
        "node has tensor<1x1x3x2xf32> of cos",
        op,
        [floats(B, H, S, D), inputs[1], floats(9, 2), floats(9, 1)],
    )


def masks(total: int) -> dict[str, Array | None]:
    """Return masks that keep the first key: a score less 10000 has few digits left."""
    kept, of_queries = draw(2, B, total), draw(2, B, S, total)
    kept[:, 0] = of_queries[..., 0] = 1
    packed = ints(2, total, *draw(3, 2 * B + 2))
    return {"none": None, "lengths": ints(total - 2, 1), "packed": packed} | {
        "keys": kept,
        "queries": of_queries,
    }


@pytest.mark.parametrize("mask", masks(1))
@pytest.mark.parametrize("past", [False, True])
@pytest.mark.parametrize("unidirectional", [0, 1])
def test_attention_with_masks(mask: str, past: bool, unidirectional: int) -> None:
    total = S + P * past
    pasts = [floats(B, H, P, D), floats(B, H, P, D)] if past else [None, None]
    inputs = [floats(B, S, E), floats(B, S, E), floats(B, S, E), floats(3 * E)]
    inputs += [masks(total)[mask], floats(1, H, S, total), *pasts]
    agree(OP, inputs, 3, unidirectional=unidirectional, **HEADS)


@pytest.mark.parametrize("mask", [ints(0, 2), ints([0, -1, 0], [2, 0, 1])])
def test_attention_adds_a_number_where_keys_are_masked(mask: Array) -> None:
    inputs = [floats(B, S, E), floats(B, S, E), floats(B, S, E), None, mask]
    agree(OP, inputs, mask_filter_value=-2.0, scale=0.3, **HEADS)


@pytest.mark.parametrize("bias", [False, True])
def test_attention_of_values_of_another_size(bias: bool) -> None:
    biases = [floats(2 * E + H * 6)] if bias else []
    agree(OP, [floats(B, S, E), floats(B, L, E), floats(B, L, H * 6), *biases], 3, **HEADS)


@pytest.mark.parametrize("bias", [False, True])
def test_attention_to_keys_of_another_sequence(bias: bool) -> None:
    heads = [floats(B, H, L, D), floats(B, H, L, D)]
    inputs = [floats(B, S, E), *heads, floats(3 * E) if bias else None, draw(2, B, L)]
    agree(OP, inputs, 3, **HEADS)


@pytest.mark.parametrize("bias", [False, True])
def test_packed_attention(bias: bool) -> None:
    """ONNX Runtime has packed heads on GPUs alone: compare with what they are, taken apart."""
    parts = [floats(B, S, E) for _ in range(3)]
    biases = floats(3 * E) if bias else None
    wanted = by_onnxruntime(
        node_model(OP, [*parts, biases], ["o0"], **HEADS), feeds_of([*parts, biases])
    )
    q, *kv = (x.reshape(B, S, H, 1, D) for x in parts)
    packed = np.concatenate([q, *kv], 3)
    same(by_reference(OP, [packed, None, None, biases], **HEADS), wanted)
    same(by_reference(OP, [parts[0], np.concatenate(kv, 3), None, biases], **HEADS), wanted)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("op", [OP, "Attention"])
def test_drawn_attention(seed: int, op: str) -> None:
    rng = np.random.default_rng(seed)
    batch, length, heads, size, past, width = (int(each) for each in rng.integers(1, 7, 6))
    total, hidden = length + past, heads * size
    mask = draw(2, *(batch, length, total) if seed % 2 else (batch, total))
    mask[..., 0] = 1
    given = {"num_heads": heads, "unidirectional": seed // 2 % 2}
    if op == "Attention":
        inputs = [floats(batch, length, width), floats(width, 3 * hidden), floats(3 * hidden)]
        agree(op, [*inputs, mask, floats(2, batch, heads, past, size)], 2, **given)
        return
    inputs = [floats(batch, length, hidden) for _ in range(3)] + [floats(3 * hidden), mask]
    pasts = [floats(batch, heads, past, size) for _ in range(2)]
    agree(op, [*inputs, floats(batch, heads, length, total), *pasts], 3, **given)


def test_attention_in_a_package() -> None:
    names = {n: ("batch", "length", None) for n in range(3)}
    names |= {n: ("batch", None, "past", None) for n in (6, 7)} | {4: ("batch", "total")}
    inputs = [floats(B, S, E), floats(B, S, E), floats(B, S, E), None, masks(S + P)["keys"], None]
    inputs += [floats(B, H, P, D), floats(B, H, P, D)]
    model = node_model(OP, inputs, ["o0", "o1", "o2"], names=names, **HEADS, unidirectional=1)
    feeds = feeds_of(inputs)
    got = trivium.compile(model).run(feeds)
    same([got[f"o{n}"] for n in range(3)], by_onnxruntime(model, feeds))


def test_attention_names_what_it_does_not_read() -> None:
    q, k, v = (floats(B, S, E) for _ in range(3))
    pasts = [floats(B, H, P, D), floats(B, H, P, D)]

    def fails(message: str, *inputs: Array | None, outputs: int = 1, **given: Any) -> None:
        refused(f"node {message}", OP, inputs, outputs, **HEADS, **given)

    fails("has input 'past_sequence_length'", q, k, v, None, None, None, *pasts, ints(2))
    fails("has input 'cache_indirection'", q, k, v, *[None] * 6, draw(1, B, 1, P))
    fails("puts out its scores", q, k, v, outputs=4)
    fails("has one of past_key and past_value", q, k, v, None, None, None, pasts[0])
    fails("has keys of rank 4 and a past", q, *pasts, None, None, None, *pasts)
    fails("has packed queries tensor<2x3x2x3x4xf32> and keys", floats(B, S, H, 3, D), k)
    fails("has packed tensor<2x3x2x2x4xf32>, must have 3", floats(B, S, H, 2, D))
    fails("has queries tensor<2x8xf32>, must have rank 3 or 5", q[:, 0], k, v)
    fails("has queries tensor<2x3x8xf32> and no keys", q)
    fails("has packed keys tensor<2x3x2x2x4xf32> and values", q, floats(B, S, H, 2, D), v)
    fails("has keys tensor<2x3x8xf32> and no values", q, k)
    fails("has keys tensor<2x2x4x4xf32>, values tensor<2x3x8xf32>", q, pasts[0], v)
    fails("has bias tensor<8xf32>, must have 24 elements", q, k, v, floats(E))
    fails("has bias tensor<24x1xf32>, must have 24 elements", q, k, v, floats(3 * E, 1))
    fails("has tensor<2x4x4x4xf32> for 2 heads", q, floats(B, 4, P, D), floats(B, 4, P, D))
    fails("has attention_bias tensor<3x3xf32>", q, k, v, None, None, floats(S, S))
    fails(
        "is unidirectional with 3 queries and 5 keys", q, *[floats(B, L, E)] * 2, unidirectional=1
    )
    mask = "has a padding mask"
    fails(f"{mask} tensor<2x4xi32> for scores of [2, 2, 3, 3]", q, k, v, None, draw(2, B, 4))
    fails(f"{mask} tensor<2x1x3x3xi32>, must have rank", q, k, v, None, draw(2, B, 1, 3, 3))
    fails(f"{mask} of 3 numbers, must have 2, 4 or 8", q, k, v, None, draw(2, 3))
    names = {4: ("entries",)}
    what = f"{mask} of entries numbers, must have 2, 4 or 8: bind these sizes"
    fails(what, q, k, v, None, draw(2, B), names=names)
