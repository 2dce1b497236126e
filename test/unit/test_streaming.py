"""Models that carry state from run to run, against onnxruntime or numpy that is fed by hand."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
import trivium
from numpy.typing import NDArray
from onnx import numpy_helper

Array = NDArray[Any]

# A recurrent cell.
CELL = """
    <ir_version: 10, opset_import: ["" : 21]>
    cell (float[1, 1, 8] x, float[1, 1, 16] h) => (float[1, 1, 1, 16] y, float[1, 1, 16] h1) {
        [cell] y, h1 = GRU <hidden_size = 16> (x, w, r, b, , h)
    }
"""

# A memory block: each frame sees the four frames before it, which the last run has kept.
MEMORY = """
    <ir_version: 10, opset_import: ["" : 21]>
    memory (float[1, 8, 3] x, float[1, 8, 4] past) => (float[1, 8, 3] y, float[1, 8, 4] kept)
    <int64[1] four = {4}, int64[1] last = {100}, int64[1] time = {2}, int64[1] begin = {3}> {
        [join] frames = Concat <axis = 2> (past, x)
        [filter] filtered = Conv <group = 8> (frames, w)
        [add] y = Add (filtered, x)
        [keep] kept = Slice (frames, begin, last, time)
    }
"""

# Attention of one token to those before it, in a cache of twelve; `position` is state, too.
CACHE = """
    <ir_version: 10, opset_import: ["" : 21]>
    attention (
        float[2, 1, 4] q, float[2, 1, 4] k, float[2, 1, 4] v,
        float[2, 12, 4] keys, float[2, 12, 4] values, int64[1] position
    ) => (float[2, 1, 4] y, float[2, 12, 4] keys1, float[2, 12, 4] values1, int64[1] position1)
    <int64[12] steps = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
        int64[1] one = {1}, float low = {-1e9}
    > {
        [here] here = Equal (steps, position)
        [column] column = Unsqueeze (here, one)
        [keys] keys1 = Where (column, k, keys)
        [values] values1 = Where (column, v, values)
        [turn] turned = Transpose <perm = [0, 2, 1]> (keys1)
        [scores] scores = MatMul (q, turned)
        [seen] seen = LessOrEqual (steps, position)
        [mask] masked = Where (seen, scores, low)
        [softmax] shares = Softmax <axis = 2> (masked)
        [mix] y = MatMul (shares, values1)
        [next] position1 = Add (position, one)
    }
"""


def model(text: str, **weights: tuple[int, ...]) -> onnx.ModelProto:
    """Return a model with random weights of the shapes given."""
    made = onnx.parser.parse_model(text)
    rng = np.random.default_rng(0)
    for name, shape in weights.items():
        values = rng.standard_normal(shape).astype(np.float32) / 3
        made.graph.initializer.append(numpy_helper.from_array(values, name))
    return made


STREAMS = {
    "a cell": (model(CELL, w=(1, 48, 8), r=(1, 48, 16), b=(1, 96)), {"h1": "h"}),
    "a memory block": (model(MEMORY, w=(8, 1, 5)), {"kept": "past"}),
}


@pytest.mark.parametrize("target", ["cpu", "host"])
@pytest.mark.parametrize(("source", "pairs"), STREAMS.values(), ids=STREAMS)
def test_a_stream_equals_steps_by_hand(
    source: onnx.ModelProto, pairs: Mapping[str, str], target: str, tmp_path: Path
):
    runtime = pytest.importorskip("onnxruntime")
    reference = runtime.InferenceSession(source.SerializeToString())
    trivium.compile(source, target=target).save(tmp_path / "stream.trv")
    session = trivium.load(tmp_path / "stream.trv")
    session.bind_state(pairs)
    names = [output.name for output in session.outputs]
    state: dict[str, Array] = {name: session.state[name] for name in session.state}
    assert not any(value.any() for value in state.values())
    xs = np.random.default_rng(1).standard_normal((30, *session.inputs[0].shape))
    for x in xs.astype(np.float32):
        wanted = dict(zip(names, reference.run(None, {"x": x, **state}), strict=True))
        state = {pairs[name]: wanted.pop(name) for name in pairs}
        results = session.run({"x": x})
        assert list(results) == list(wanted)
        for name, value in wanted.items():
            np.testing.assert_allclose(results[name], value, rtol=1e-5, atol=1e-5)
    for name, value in state.items():
        np.testing.assert_allclose(session.state[name], value, rtol=1e-5, atol=1e-5)


# A detector of speech: a filter bank, and an LSTM whose two states are one tensor.
DETECTOR = """
    <ir_version: 10, opset_import: ["" : 21]>
    detector (float[B, N] input, float[2, B, 16] state, int64 sr)
        => (float[B, 1] output, float[2, B, 16] stateN)
    <int64[1] zero = {0}, int64[1] one = {1}, int64 high = {16000}> {
        is_high = Equal (sr, high)
        basis = If (is_high) <
            then_branch = high_rate () => (float[8, 1, 32] of_high) { of_high = Identity (bank) },
            else_branch = low_rate () => (float[8, 1, 32] of_low) { of_low = Neg (bank) }
        >
        frames = Unsqueeze (input, one)
        spectrum = Conv <strides = [16]> (frames, basis)
        magnitude = Abs (spectrum)
        turned = Transpose <perm = [2, 0, 1]> (magnitude)
        h, c = Split <axis = 0, num_outputs = 2> (state)
        rows, h1, c1 = LSTM <hidden_size = 16> (turned, w, r, b, , h, c)
        stateN = Concat <axis = 0> (h1, c1)
        last = Squeeze (h1, zero)
        score = MatMul (last, head)
        output = Sigmoid (score)
    }
"""


@pytest.mark.parametrize("rate", [8000, 16000])
def test_a_detector_of_speech_equals_steps_by_hand(rate: int):
    """Chunks of a signal, each after the last samples of the chunk before it; two streams."""
    runtime = pytest.importorskip("onnxruntime")
    source = model(DETECTOR, bank=(8, 1, 32), w=(1, 64, 8), r=(1, 64, 16), b=(1, 128), head=(16, 1))
    reference = runtime.InferenceSession(source.SerializeToString())
    session = trivium.compile(
        source,
        shapes={"B": 1, "N": 144},
        constants={"sr": np.array(rate)},
        states={"stateN": "state"},
    )
    signal = np.random.default_rng(5).standard_normal((2, 128 * 20 + 16)).astype(np.float32)
    state = np.zeros((2, 2, 16), np.float32)
    streams, seen = [session, session.clone()], 0.0
    for begin in range(0, 128 * 20, 128):
        chunk = signal[:, begin : begin + 144]
        feeds = {"input": chunk, "state": state, "sr": np.array(rate)}
        wanted, state = reference.run(["output", "stateN"], feeds)
        got = [stream.run({"input": chunk[i : i + 1]}) for i, stream in enumerate(streams)]
        assert [list(each) for each in got] == [["output"]] * 2
        rows = np.concatenate([each["output"] for each in got])
        np.testing.assert_allclose(rows, wanted, rtol=1e-5, atol=1e-6)
        seen = max(seen, float(np.ptp(wanted)))
    assert seen > 0.01, "both streams would be one"


def test_a_memory_block_in_pieces_equals_the_whole():
    """Pieces of three frames give what one filter over all frames gives."""
    source, pairs = STREAMS["a memory block"]
    (weights,) = (numpy_helper.to_array(w)[:, 0] for w in source.graph.initializer if w.name == "w")
    x = np.random.default_rng(2).standard_normal((8, 30)).astype(np.float32)
    padded = np.pad(x, ((0, 0), (4, 0)))
    wanted = x + sum(weights[:, k : k + 1] * padded[:, k : k + 30] for k in range(5))
    session = trivium.compile(source)
    session.bind_state(pairs)
    pieces = [session(x[None, :, i : i + 3]) for i in range(0, 30, 3)]
    np.testing.assert_allclose(np.concatenate(pieces, axis=2)[0], wanted, rtol=1e-5, atol=1e-5)


def attention(queries: Array, keys: Array, values: Array) -> Array:
    """Let each token attend to itself and to those before it: arrays are [token, head, depth]."""
    tokens = len(queries)
    scores = np.einsum("qhd,khd->hqk", queries, keys)
    scores[:, np.triu(np.ones((tokens, tokens), bool), 1)] = -np.inf
    shares = np.exp(scores - scores.max(axis=2, keepdims=True))
    return np.einsum("hqk,khd->qhd", shares / shares.sum(axis=2, keepdims=True), values)


def test_a_cache_of_fixed_size_equals_attention_over_all_tokens():
    session = trivium.compile(model(CACHE))
    session.bind_state({"keys1": "keys", "values1": "values", "position1": "position"})
    q, k, v = np.random.default_rng(3).standard_normal((3, 12, 2, 4)).astype(np.float32)
    wanted = attention(q, k, v)
    for _ in range(2):
        for token in range(12):
            assert session.state["position"].tolist() == [token]
            y = session(*(each[token][:, None] for each in (q, k, v)))
            np.testing.assert_allclose(y[:, 0], wanted[token], rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(session.state["keys"], k.transpose(1, 0, 2))
        session.reset_state()


def test_a_cache_is_saved_in_the_middle(tmp_path: Path):
    session = trivium.compile(model(CACHE))
    session.bind_state({"keys1": "keys", "values1": "values", "position1": "position"})
    tokens = np.random.default_rng(4).standard_normal((12, 3, 2, 1, 4)).astype(np.float32)
    wanted = [session(*token) for token in tokens]
    session.reset_state()
    for token in tokens[:5]:
        session(*token)
    session.save_state(tmp_path / "five.npz")
    later = session.clone()
    later.restore_state(tmp_path / "five.npz")
    got = [later(*token) for token in tokens[5:]]
    np.testing.assert_array_equal(got, wanted[5:])
