"""Decoders whose caches belong to the caller: runs update them in place, in any slot of a batch."""

from functools import cache
from typing import Any

import numpy as np
import pytest
import trivium
from generated_decoders import LLAMA, MISTRAL, QWEN_3, Family, decoder

onnxruntime = pytest.importorskip("onnxruntime")

Arrays = dict[str, Any]
STATES = {f"present.%d.{kind}": f"past_key_values.%d.{kind}" for kind in ("key", "value")}
MOST = 48


@cache
def compiled(family: Family, capacity: Any, precision: str = "f32") -> trivium.Session:
    shapes = {
        "past_sequence_length": capacity,
        "total_sequence_length": trivium.Range(1, MOST),
        "batch_size": trivium.Range(1, 4),
        "sequence_length": trivium.Range(1, 16),
    }
    model = decoder(family)
    return trivium.compile(model, shapes=shapes, states=STATES, state_precision=precision)


class Peer:
    """Decode one sequence by onnxruntime, whose caches are joined anew in each step."""

    def __init__(self, session: Any, family: Family) -> None:
        self.session, self.family, self.past = session, family, family.empty()
        self.names = [output.name for output in session.get_outputs()]
        self.rows = 0

    def step(self, ids: Any) -> Any:
        self.rows += ids.shape[1]
        feeds = {"input_ids": ids, "attention_mask": np.ones((1, self.rows), np.int64)}
        found = dict(zip(self.names, self.session.run(None, feeds | self.past), strict=True))
        self.past = {to: found[name] for name, to in self.family.pairs.items()}
        return found["logits"]


@pytest.mark.parametrize(
    ("family", "capacity"),
    [(LLAMA, MOST), (QWEN_3, trivium.Range(1, MOST)), (MISTRAL, trivium.Range(1, MOST))],
    ids=["llama", "qwen3", "mistral"],
)
def test_slots_of_a_cache_decode_as_by_onnxruntime(family: Family, capacity: Any):
    session = compiled(family, capacity)
    assert all(pair.in_place for pair in session.manifest.carried)
    theirs = onnxruntime.InferenceSession(
        decoder(family).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    rows = MOST if isinstance(capacity, int) else 40
    caches = {name: array.astype(np.float32) for name, array in family.empty(4, rows).items()}
    peers = {slot: Peer(theirs, family) for slot in (0, 2)}
    rng = np.random.default_rng(0)
    for length in (5, 1, 1, 3, 1, 16, 1):
        for slot, peer in peers.items():
            ids = rng.integers(0, family.words, (1, length))
            wanted = peer.step(ids)
            mask = np.ones((1, peer.rows), np.int64)
            parts = {name: array[slot : slot + 1] for name, array in caches.items()}
            got = session.run({"input_ids": ids, "attention_mask": mask, **parts})
            assert list(got) == ["logits"]
            np.testing.assert_allclose(got["logits"], wanted, rtol=1e-4, atol=1e-5)
    for name, array in caches.items():
        for slot, peer in peers.items():
            kept = array[slot, :, : peer.rows]
            np.testing.assert_allclose(kept, peer.past[name][0], rtol=1e-4, atol=1e-5)
            assert not array[slot, :, peer.rows :].any()
        assert not array[1::2].any()


def test_entries_of_a_batch_decode_as_each_alone():
    """Entries have prompts of other lengths, padded on the right, and go on together."""
    session = compiled(LLAMA, MOST)
    rng = np.random.default_rng(1)
    lengths = np.array([7, 2, 4])
    alone = {name: array.astype(np.float32) for name, array in LLAMA.empty(3, MOST).items()}
    together = {name: array.copy() for name, array in alone.items()}
    ids = rng.integers(0, LLAMA.words, (3, 7))
    mask = (np.arange(7) < lengths[:, None]).astype(np.int64)
    for step in range(4):
        got = session.run({"input_ids": ids, "attention_mask": mask, **together})["logits"]
        for entry in range(3):
            count = lengths[entry] if step == 0 else 1
            total = int(mask[entry].sum())
            parts = {name: array[entry : entry + 1] for name, array in alone.items()}
            feeds = {
                "input_ids": ids[entry : entry + 1, :count],
                "attention_mask": np.ones((1, total), np.int64),
            }
            wanted = session.run({**feeds, **parts})["logits"]
            np.testing.assert_allclose(got[entry, :count], wanted[0], rtol=1e-5, atol=1e-6)
        for name in alone:
            np.testing.assert_allclose(together[name], alone[name], rtol=1e-5, atol=1e-6)
        ids = rng.integers(0, LLAMA.words, (3, 1))
        total = int(mask.sum(1).max()) + 1
        mask = (np.arange(total) < mask.sum(1, keepdims=True) + 1).astype(np.int64)


def test_more_rows_than_the_cache_has_are_refused():
    session = compiled(QWEN_3, trivium.Range(1, MOST))
    caches = QWEN_3.empty(1, 8)
    feeds = {"input_ids": np.array([[1]]), "attention_mask": np.ones((1, 9), np.int64)}
    with pytest.raises(trivium.RunError, match=r"must be at most .*, the rows of the cache"):
        session.run(feeds | caches)
    assert not any(array.any() for array in caches.values())


def decoded(precision: str, less: Arrays, atol: float) -> tuple[Arrays, int]:
    """Decode a text with caches of f32, and with `less`; returns the first ones, and their rows."""
    sessions = [compiled(LLAMA, MOST), compiled(LLAMA, MOST, precision)]
    full = LLAMA.empty(1, MOST)
    assert all(pair.in_place for pair in sessions[1].manifest.carried)
    rng = np.random.default_rng(2)
    rows = 0
    for length in (6, 1, 1, 9, 1):
        rows += length
        ids = rng.integers(0, LLAMA.words, (1, length))
        feeds = {"input_ids": ids, "attention_mask": np.ones((1, rows), np.int64)}
        runs = zip(sessions, (full, less), strict=True)
        wanted, got = (session.run(feeds | caches)["logits"] for session, caches in runs)
        np.testing.assert_allclose(got, wanted, atol=atol)
    return full, rows


# What the first layer caches depends on words alone: it is what f32 has, rounded.
FIRST_LAYER = ("past_key_values.0.key", "past_key_values.0.value")


def test_caches_in_bytes_have_rounded_rows_with_scales():
    empty = LLAMA.empty(1, MOST)
    scales = {f"{name}.scales": np.zeros(x.shape[:-1], np.float32) for name, x in empty.items()}
    less = {name: array.astype(np.int8) for name, array in empty.items()} | scales
    full, rows = decoded("int8", less, 2e-1)
    for name in FIRST_LAYER:
        largest = np.abs(full[name]).max(-1)
        np.testing.assert_allclose(less[f"{name}.scales"], largest / 127, rtol=1e-6)
        wide = less[name] * less[f"{name}.scales"][..., None]
        assert (np.abs(wide - full[name]).max(-1) <= largest / 127 * 0.501).all()
        assert (np.abs(less[name][:, :, :rows].astype(int)).max(-1) == 127).all()
        assert not less[name][:, :, rows:].any()


def test_caches_in_half_precision_have_rounded_rows():
    half = {name: array.astype(np.float16) for name, array in LLAMA.empty(1, MOST).items()}
    full, _ = decoded("fp16", half, 2e-2)
    for name in FIRST_LAYER:
        np.testing.assert_array_equal(half[name], full[name].astype(np.float16))
