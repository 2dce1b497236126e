"""Rules of attention against ONNX Runtime, where ONNX's own cases do not reach."""

from typing import Any

import numpy as np
import onnx.parser
import pytest
import trivium
from trivium.test.unit.compiler.frontends.onnx.graphs import array
from trivium.test.unit.compiler.frontends.onnx.single_node import reference, refused

onnxruntime = pytest.importorskip("onnxruntime")

RNG = np.random.default_rng(0)


Q, K, V = array(2, 4, 5, 8), array(2, 2, 5, 8, seed=1), array(2, 2, 5, 8, seed=2)
PAST = [array(2, 2, 3, 8, seed=3), array(2, 2, 3, 8, seed=4)]


def attention(q: Any, k: Any, v: Any, mask: Any) -> Any:
    """Compute attention plainly: the heads of keys and values are repeated."""
    k, v = (np.repeat(x, q.shape[1] // x.shape[1], 1) for x in (k, v))
    scores = q @ k.swapaxes(2, 3) / np.sqrt(q.shape[3]) + mask
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True) @ v


def banned(seen: Any) -> Any:
    return np.where(seen, 0, -np.inf)


AHEAD = np.arange(8) - (3 + np.arange(5))[:, None]


@pytest.mark.parametrize(
    ("attributes", "seen"),
    [
        ({}, AHEAD < 99),
        ({"is_causal": 1}, AHEAD <= 0),
        ({"left_window_size": 2}, AHEAD >= -2),
        ({"left_window_size": 2, "right_window_size": 1}, (AHEAD >= -2) & (AHEAD <= 1)),
        ({"left_window_size": 1, "is_causal": 1}, (AHEAD >= -1) & (AHEAD <= 0)),
    ],
)
@pytest.mark.parametrize("mask", ["none", "added", "kept"])
def test_attention_sees_the_past_and_its_window(attributes: Any, seen: Any, mask: str) -> None:
    kept = (RNG.random((2, 1, 5, 8)) > 0.3) | (AHEAD == 0)  # every query sees something
    masks = {"none": None, "added": array(5, 8, seed=7), "kept": kept}
    given = masks[mask]
    got, keys, values = reference("Attention", [Q, K, V, given, *PAST], 25, 3, **attributes)
    added = 0 if given is None else banned(given) if given.dtype == bool else given
    all_keys, all_values = (np.concatenate(pair, 2) for pair in zip(PAST, (K, V), strict=True))
    np.testing.assert_array_equal(keys, all_keys)
    np.testing.assert_array_equal(values, all_values)
    want = attention(Q, all_keys, all_values, banned(seen) + added)
    np.testing.assert_allclose(got, want, 1e-5, 1e-5)


def test_attention_of_packed_heads() -> None:
    def packed(x: Any) -> Any:
        return x.transpose(0, 2, 1, 3).reshape(2, 5, -1)

    given = {"q_num_heads": 4, "kv_num_heads": 2, "is_causal": 1}
    (got,) = reference("Attention", [packed(Q), packed(K), packed(V)], 23, **given)
    want = packed(attention(Q, K, V, banned(np.tri(5, dtype=bool))))
    np.testing.assert_allclose(got, want, 1e-5, 1e-5)
    refused("has 3 heads for an input", "Attention", [packed(Q)] * 3, 23, q_num_heads=3)


LINEAR = """<ir_version: 11, opset_import: ["" : 27]>
    layer (float[N, T, 36] q, float[N, T, 18] k, float[N, T, 10] v, float[N, 2, 9, 5] s,
           float[N, T, 18] d, float[N, T, 2] b) => (float[N, T, 20] y, float[N, 2, 9, 5] last) {
        y, last = LinearAttention
            <q_num_heads = 4, kv_num_heads = 2, update_rule = "gated_delta"> (q, k, v, s, d, b)
    }"""


@pytest.mark.parametrize(("batch", "length"), [(1, 1), (2, 7)])
def test_linear_attention_of_any_length(batch: int, length: int) -> None:
    model = onnx.parser.parse_model(LINEAR)
    sizes = {"q": 36, "k": 18, "v": 10, "d": 18, "b": 2}
    feeds = {name: array(batch, length, size) for name, size in sizes.items()}
    feeds |= {"s": array(batch, 2, 9, 5), "d": -abs(feeds["d"]), "b": abs(feeds["b"]) / 9}
    session = onnxruntime.InferenceSession(model.SerializeToString())
    got = trivium.compile(model).run(feeds)
    for name, want in zip(("y", "last"), session.run(None, feeds), strict=True):
        np.testing.assert_allclose(got[name], want, 1e-4, 1e-4)


def test_linear_attention_names_what_it_lacks() -> None:
    operands = [array(1, 2, 8)] * 3
    heads = {"q_num_heads": 2, "kv_num_heads": 2}
    refused("has no decay, which", "LinearAttention", operands, 27, 2, **heads)
    given = heads | {"update_rule": "delta"}
    refused("has no beta, which", "LinearAttention", operands, 27, 2, **given)
    given = heads | {"update_rule": "best"}
    refused("has update_rule 'best', must be", "LinearAttention", operands, 27, 2, **given)
