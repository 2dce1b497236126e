"""Attention with its projection, embeddings and group norms of ONNX Runtime."""

from typing import Any

import numpy as np
import pytest
import trivium
from onnx import helper
from trivium.test.unit.compiler.frontends.onnx.rules.microsoft.microsoft_nodes import (
    MICROSOFT,
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

B, S, WIDTH, H, D, P = 2, 3, 6, 2, 4, 4
E = H * D
HEADS: dict[str, Any] = {"num_heads": H}


def ints(*numbers: Any) -> Array:
    return np.array(numbers, np.int32)


def draw(most: int, *shape: int) -> Array:
    return RANDOM.integers(0, most, shape).astype(np.int32)


def masks(total: int) -> dict[str, Array | None]:
    """Return masks that keep some key: a score less 10000 has few digits left."""
    kept, of_queries = draw(2, B, total), draw(2, B, S, total)
    kept[:, 0] = of_queries[..., 0] = 1
    return {
        "none": None,
        "lengths": ints(total - 2, total),
        "ends and starts": ints(total - 1, total, 0, 1),
        "packed": ints(2, total, *draw(3, 2 * B + 2)),
        "keys": kept,
        "queries": of_queries,
    }


@pytest.mark.parametrize("mask", masks(3))
@pytest.mark.parametrize("past", [False, True])
def test_attention(mask: str, past: bool) -> None:
    total = S + P * past
    inputs = [floats(B, S, WIDTH), floats(WIDTH, 3 * E), floats(3 * E), masks(total)[mask]]
    inputs += [floats(2, B, H, P, D), None] if past else [None, floats(1, H, S, total)]
    agree("Attention", inputs, 2, **HEADS)
    if mask == "ends and starts":  # the first query would see keys before the start alone
        return
    given = {"mask_filter_value": -2.0, "scale": 0.3} if mask == "queries" else {}
    agree("Attention", inputs[:5], 2, unidirectional=1, **HEADS, **given)


@pytest.mark.parametrize("bias", [False, True])
def test_attention_of_values_of_another_size(bias: bool) -> None:
    sizes = [E, E, H * 6]
    inputs = [floats(B, S, WIDTH), floats(WIDTH, sum(sizes)), floats(sum(sizes)) if bias else None]
    agree("Attention", inputs, qkv_hidden_sizes=sizes, **HEADS)


def test_attention_in_a_package() -> None:
    inputs = [
        floats(B, S, WIDTH),
        floats(WIDTH, 3 * E),
        floats(3 * E),
        ints(5, 7),
        floats(2, B, H, P, D),
    ]
    names = {0: ("batch", "length", None), 3: ("batch",), 4: (None, "batch", None, "past", None)}
    given = HEADS | {"unidirectional": 1}
    model = node_model("Attention", inputs, ["o0", "o1"], names=names, **given)
    feeds = feeds_of(inputs)
    got = trivium.compile(model).run(feeds)
    same([got["o0"], got["o1"]], by_onnxruntime(model, feeds))


@pytest.mark.parametrize("kind", [np.int8, np.uint8])
@pytest.mark.parametrize("columns", [(), (1,), (3 * E,)])
@pytest.mark.parametrize("past", [False, True])
def test_attention_of_integers(kind: Any, columns: tuple[int, ...], past: bool) -> None:
    x = RANDOM.integers(0, 255, (B, S, WIDTH)).astype(np.uint8)
    w = RANDOM.integers(-100, 100, (WIDTH, 3 * E)).astype(np.int8).view(kind)
    scales = np.float32(0.02), RANDOM.uniform(0.005, 0.01, columns).astype(np.float32)
    zeros = np.uint8(120), RANDOM.integers(0, 9, columns).astype(kind)
    mask = ints(*masks(S + P * past)["lengths"])  # type: ignore[misc]
    inputs = [x, w, floats(3 * E), *map(np.array, scales), mask, *map(np.array, zeros)]
    inputs += [floats(2, B, H, P, D)] * past
    agree("QAttention", inputs, 2, unidirectional=1, **HEADS)


def test_attention_names_what_it_does_not_read() -> None:
    inputs = [floats(B, S, WIDTH), floats(WIDTH, 3 * E), floats(3 * E)]

    def fails(message: str, *more: Array | None, outputs: int = 1, **given: Any) -> None:
        refused(f"node {message}", "Attention", [*inputs, *more], outputs, **HEADS | given)

    past = floats(2, B, H, P, D)
    fails("has input 'past_sequence_length'", None, past, None, ints(2), outputs=2)
    fails("has do_rotary 1, must have RotaryEmbedding", do_rotary=1)
    fails("has rotary_embedding_dim, must have none", rotary_embedding_dim=32)
    fails("has past_present_share_buffer 1", past_present_share_buffer=1)
    fails("has 24 columns, which do not split in sizes [8, 8, 9]", qkv_hidden_sizes=[8, 8, 9])
    fails("has 24 columns, which do not split in sizes [12, 12]", qkv_hidden_sizes=[12, 12])
    apart = {"qkv_hidden_sizes": [6, 6, 12]}
    fails("has sizes [6, 6, 12] and a past or present", outputs=2, **apart)
    fails("has past tensor<2x2x4x4xf32>, must be [2, 2, 2, …, 4]", None, past[0], outputs=2)
    fails("has past tensor<1x2x2x4x4xf32>, must be", None, past[:1], outputs=2)
    fails("has a padding mask tensor<2x1x4x4xi32>, must have rank", draw(2, B, 1, 4, 4))
    fails("has 3 heads for an input", num_heads=3)
    flat = [inputs[0][0], *inputs[1:]]
    refused("node projects to tensor<3x24xf32>", "Attention", flat, **HEADS)


@pytest.mark.parametrize("segments", [False, True])
@pytest.mark.parametrize("mask", [False, True])
@pytest.mark.parametrize("positions", [0, 1, B])
def test_embeddings(segments: bool, mask: bool, positions: int) -> None:
    inputs = [draw(20, B, S), draw(3, B, S) if segments else None, floats(20, E), floats(9, E)]
    inputs += [floats(3, E) if segments else None, floats(E), floats(E)]
    inputs += [draw(3, B, S) if mask else None, draw(9, positions, S) if positions else None]
    agree("EmbedLayerNormalization", inputs, 3, epsilon=1e-5)


@pytest.mark.parametrize("segments", [False, True])
@pytest.mark.parametrize("mask", [False, True])
@pytest.mark.parametrize("kind", [np.int8, np.uint8])
def test_embeddings_of_integers(segments: bool, mask: bool, kind: Any) -> None:
    shapes = [(20, E), (9, E), (3, E), (E,), (E,)]
    tables = [RANDOM.integers(0, 99, shape).astype(kind) for shape in shapes]
    scales = [RANDOM.uniform(0.01, 0.02, ()).astype(np.float32) for _ in shapes]
    zeros = [np.array(each, kind) for each in (50, 40, 60, 3, 45)]
    parts: list[list[Array | None]] = [[*each] for each in (tables, scales, zeros)]
    if not segments:
        for part in parts:
            part[2] = None
    inputs = [draw(20, B, S), draw(3, B, S) if segments else None, *parts[0]]
    inputs += [draw(3, B, S) if mask else None, *parts[1], *parts[2]]
    agree("QEmbedLayerNormalization", inputs, 2, epsilon=1e-5)


def test_embeddings_name_what_does_not_fit() -> None:
    op = "EmbedLayerNormalization"
    inputs = [draw(20, B, S), None, floats(20, E), floats(2, E), None, floats(E), floats(E)]
    refused("node has 3 words, must be at most 2, the positions", op, inputs, 2)
    refused("node has one of segment_ids and", op, [inputs[0], draw(3, B, S), *inputs[2:]], 2)
    refused("node has input_ids tensor<3xi32>", op, [draw(20, S), *inputs[1:]], 2)
    inputs[3] = floats(9, E)
    for place in (2, 3):
        flat = [*inputs[:place], floats(E), *inputs[place + 1 :]]
        refused("node has embeddings tensor<8xf32>, must have rank 2", op, flat, 2)
    refused("node has mask tensor<2x4xi32>, must be [2, 3]", op, [*inputs, draw(2, B, 4)], 2)


@pytest.mark.parametrize("last", [0, 1])
@pytest.mark.parametrize("activation", [0, 1])
@pytest.mark.parametrize("skip", ["", "image", "channels", "channels of an image"])
def test_group_norms(last: int, activation: int, skip: str) -> None:
    """ONNX Runtime has these on GPUs alone: compare with ONNX's own norm, and SiLU of numpy."""
    given = {"channels_last": last, "activation": activation, "groups": 2, "epsilon": 1e-3}
    x, gamma, beta = floats(B, 6, 5, 4), floats(6), floats(6)
    more = {"image": x.shape, "channels": (B, 6), "channels of an image": (B, 6, 1, 1)}
    skipped, bias = floats(*more.get(skip, ())), floats(6)
    total = x
    if skip:
        shaped = skipped.reshape(more["channels of an image"]) if skip == "channels" else skipped
        total = x + shaped + bias.reshape(6, 1, 1)
    norm = node_model(
        "GroupNormalization", [total, gamma, beta], ["o0"], "", num_groups=2, epsilon=1e-3
    )
    (wanted,) = by_onnxruntime(norm, feeds_of([total, gamma, beta]))
    wanted = wanted / (1 + np.exp(-wanted)) if activation else wanted

    def placed(image: Array) -> Array:
        return image.transpose(0, 2, 3, 1) if last and image.ndim == 4 else image

    inputs = [placed(x), gamma, beta]
    if not skip:
        same(by_reference("GroupNorm", inputs, **given), [placed(wanted)])
        return
    inputs += [placed(skipped), bias]
    got = by_reference("SkipGroupNorm", inputs, 2, **given)
    same(got, [placed(wanted), placed(total)])
    same(by_reference("SkipGroupNorm", inputs, **given), got[:1])


def test_group_norms_name_what_does_not_fit() -> None:
    x, each = floats(B, 5, 4, 6), floats(6)
    inputs, given = [x, each, each], {"activation": 0, "groups": 2}
    for op, more in (("GroupNorm", []), ("SkipGroupNorm", [x])):
        changed = [floats(B, 4, 6), *inputs[1:], *more]
        refused("node has input tensor<2x4x6xf32>, must have rank 4", op, changed, **given)
    refused("node has activation 2, must be 0", "GroupNorm", inputs, activation=2, groups=2)
    refused("node has 0 groups, must have at least 1", "GroupNorm", inputs, activation=0, groups=0)
    for bias in (floats(4), floats(6, 1)):
        shape = "x".join(map(str, bias.shape))
        fault = f"node has bias tensor<{shape}xf32>, must have 6 elements"
        refused(fault, "SkipGroupNorm", [*inputs, x, bias], **given)


@pytest.mark.parametrize(
    ("op", "hint"),
    [
        ("GreedySearch", "compile the graph of its attribute 'decoder'"),
        ("BeamSearch", "compile the graph of its attribute 'decoder'"),
        ("Sampling", "compile the graph of its attribute 'decoder'"),
        ("DecoderMaskedMultiHeadAttention", "export with MultiHeadAttention or Group"),
        ("DecoderMaskedSelfAttention", "export with MultiHeadAttention or Group"),
        ("nchwc::Conv", "save the model at ORT_ENABLE_EXTENDED"),
    ],
)
def test_what_has_no_rule_has_a_hint(op: str, hint: str) -> None:
    inner, _, name = op.rpartition("::")
    domain = f"{MICROSOFT}.{inner}" if inner else MICROSOFT
    model = node_model(name, [floats(2, 3)], ["y"], domain)
    model.opset_import.append(helper.make_opsetid("com.microsoft.nchwc", 1))
    with pytest.raises(trivium.CompileError) as raised:
        trivium.compile(model)
    (fault,) = raised.value.diagnostics
    assert fault.message == f"'{domain}::{name}' version 1 is not supported"
    assert hint in fault.notes[0]
