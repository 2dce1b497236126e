"""Decoders of onnxruntime-genai's builder: one compile runs prompts and tokens."""

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import trivium
from onnx import helper, numpy_helper
from trivium.test.unit.generated_decoders import LLAMA, MISTRAL, QWEN_2, QWEN_3, Family, decoder


def runtime(family: Family) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    given = decoder(family).SerializeToString()
    return onnxruntime.InferenceSession(given, options, providers=["CPUExecutionProvider"])


def next_step(peer: Any, family: Family, feeds: dict[str, Any], past: dict[str, Any]) -> Any:
    """Return the logits of ONNX Runtime and the cache after a step."""
    names = [output.name for output in peer.get_outputs()]
    made = dict(zip(names, peer.run(None, {**feeds, **past}), strict=True))
    return made["logits"], {after: made[name] for name, after in family.pairs.items()}


@pytest.mark.parametrize(
    "family", [LLAMA, QWEN_2, QWEN_3, MISTRAL], ids=["llama", "qwen 2", "qwen 3", "mistral"]
)
def test_words_are_those_of_onnxruntime(family: Family) -> None:
    shapes = {"past_sequence_length": trivium.Range(0, family.longest, likely=16)}
    session = trivium.compile(decoder(family), shapes=shapes)
    session.bind_state(family.pairs, family.empty())
    peer, past, total = runtime(family), family.empty(), 0
    words = np.array([[3, 7, 9, 11]])
    for _ in range(31):
        total += words.shape[1]
        feeds = {"input_ids": words, "attention_mask": np.ones((1, total), np.int64)}
        wanted, past = next_step(peer, family, feeds, past)
        got = session.run(feeds)["logits"]
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)
        assert got[0, -1].argmax() == wanted[0, -1].argmax()
        words = wanted[:, -1:].argmax(-1)
    for name, rows in past.items():
        np.testing.assert_allclose(session.state[name], rows, rtol=1e-4, atol=1e-5)


def test_a_ragged_batch_in_buffers_of_fixed_size() -> None:
    """The prompts have 4 words and 2; each entry writes behind its own rows in use."""
    longest = LLAMA.longest
    shapes = {"past_sequence_length": longest, "total_sequence_length": trivium.Range(1, longest)}
    session = trivium.compile(decoder(LLAMA), shapes=shapes)
    session.bind_state(LLAMA.pairs, LLAMA.empty(2, longest))
    peer, past = runtime(LLAMA), LLAMA.empty(2, longest)
    words, lengths = np.array([[3, 7, 9, 11], [5, 6, 0, 0]]), np.array([4, 2])
    last = lengths - 1
    for _ in range(12):
        mask = (np.arange(lengths.max()) < lengths[:, None]).astype(np.int64)
        feeds = {"input_ids": words, "attention_mask": mask}
        wanted, past = next_step(peer, LLAMA, feeds, past)
        got = session.run(feeds)["logits"]
        np.testing.assert_allclose(got[[0, 1], last], wanted[[0, 1], last], rtol=1e-4, atol=1e-5)
        words = wanted[[0, 1], last].argmax(-1)[:, None]
        lengths, last = lengths + 1, np.zeros(2, int)
    for name, rows in past.items():
        for entry, used in enumerate(lengths - 1):
            got, wanted = session.state[name][entry, :, :used], rows[entry, :, :used]
            np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


def with_two_tables(model: onnx.ModelProto, limit: int) -> onnx.ModelProto:
    """Choose the angles by how many words there are, as long versions of Phi 3 do."""
    graph = model.graph
    tables = {t.name: t for t in graph.initializer if t.name in ("cos_cache", "sin_cache")}

    def branch(name: str, rows: int, factor: float) -> onnx.GraphProto:
        arrays = {
            n: numpy_helper.to_array(t)[:rows] * np.float32(factor) for n, t in tables.items()
        }
        nodes = [
            helper.make_node("Constant", [], [f"{n}_{name}"], value=numpy_helper.from_array(array))
            for n, array in arrays.items()
        ]
        ports = [
            helper.make_tensor_value_info(f"{n}_{name}", 1, a.shape) for n, a in arrays.items()
        ]
        return helper.make_graph(nodes, name, [], ports)

    for table in tables.values():
        graph.initializer.remove(table)
    graph.initializer.append(numpy_helper.from_array(np.array(limit, np.int64), "limit"))
    place = next(i for i, node in enumerate(graph.node) if node.output[0] == "mask.Gather") + 1
    branches = {"then_branch": branch("long", LLAMA.longest, 1.1)}
    branches["else_branch"] = branch("short", limit, 1)
    chosen = helper.make_node("If", ["is_long"], [*tables], "angles", **branches)
    graph.node.insert(place, chosen)
    graph.node.insert(place, helper.make_node("Greater", ["mask.Gather", "limit"], ["is_long"]))
    return model


def test_tables_of_angles_for_long_texts_are_chosen_at_run_time() -> None:
    model = with_two_tables(decoder(LLAMA), 10)
    shapes = {"past_sequence_length": trivium.Range(0, LLAMA.longest, likely=16)}
    session = trivium.compile(model, shapes=shapes)
    session.bind_state(LLAMA.pairs, LLAMA.empty())
    peer, past = onnxruntime.InferenceSession(model.SerializeToString()), LLAMA.empty()
    for first, last in ((0, 8), (8, 10), (10, 11), (11, 14)):
        words = np.arange(first, last)[None]
        feeds = {"input_ids": words, "attention_mask": np.ones((1, last), np.int64)}
        wanted, past = next_step(peer, LLAMA, feeds, past)
        got = session.run(feeds)["logits"]
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


TOTAL, SUM = "total_sequence_length", "past_sequence_length + sequence_length"


@pytest.mark.parametrize(
    ("total", "rows", "shapes"),
    [
        (TOTAL, 0, {"past_sequence_length": trivium.Range(0, 64, likely=16)}),
        (TOTAL, 64, {"past_sequence_length": 64, TOTAL: trivium.Range(1, 64)}),
        (SUM, 0, {"past_sequence_length": trivium.Range(0, 64, likely=16), "batch_size": 1}),
    ],
    ids=["that grows", "of fixed size", "of past and new rows"],
)
def test_prompts_in_chunks_fill_a_cache(total: str, rows: int, shapes: dict[str, Any]) -> None:
    peer = runtime(LLAMA)
    words = np.random.default_rng(1).integers(0, LLAMA.words, (1, 20))
    whole = {"input_ids": words, "attention_mask": np.ones((1, 20), np.int64)}
    wanted, present = next_step(peer, LLAMA, whole, LLAMA.empty())
    session = trivium.compile(decoder(LLAMA, total), shapes=shapes)
    session.bind_state(LLAMA.pairs, LLAMA.empty(1, rows))
    for first, last in ((0, 7), (7, 8), (8, 20)):
        mask = np.ones((1, last), np.int64)
        feeds = {"input_ids": words[:, first:last], "attention_mask": mask}
        got = session.run(feeds)["logits"]
        np.testing.assert_allclose(got, wanted[:, first:last], rtol=1e-4, atol=1e-5)
    for name, each in present.items():
        np.testing.assert_allclose(session.state[name][:, :, :20], each, rtol=1e-4, atol=1e-5)
    assert {step.kind for step in session.manifest.steps} == {"cpu"}
