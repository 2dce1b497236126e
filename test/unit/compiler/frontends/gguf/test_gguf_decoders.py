"""Decoders of GGUF files: the logits of prompts and of words after them."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import trivium
from gguf import GGMLQuantizationType as Type
from onnx import numpy_helper
from trivium.compiler.export import export
from trivium.compiler.frontends.gguf import import_gguf
from trivium.dialects import tri
from trivium.dialects.core.interpret import run
from trivium.dialects.core.location import describe
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import ops
from trivium.dialects.core.symbol_table import symbols_of_function
from trivium.passes.quantize.round_activations import RoundActivations
from trivium.test.unit.compiler.frontends.gguf.gguf_models import (
    Model,
    Weights,
    logits,
    plain_frequencies,
    read_in_pieces,
    weights,
    write,
)
from trivium.test.unit.generated_decoders import Family, decoder

SHAPES = {"past_sequence_length": trivium.Range(0, 600, likely=16)}
TEXT = np.random.default_rng(7).integers(0, 40, 14)

Step = Callable[[dict[str, Any]], Any]


def empty(model: Model, rows: int = 0) -> dict[str, Any]:
    shape = (1, model.shared, rows, model.size)
    parts = [(i, part) for i in range(model.layers) for part in ("key", "value")]
    return {f"past_key_values.{i}.{part}": np.zeros(shape, np.float32) for i, part in parts}


@contextmanager
def interpreted(path: Path, model: Model, rows: int = 0, **shapes: Any) -> Iterator[Step]:
    """Give a function that takes words and a mask, and keeps the cache from call to call.

    Activations are not rounded.
    """
    with new_context():
        module = import_gguf(path, shapes={**SHAPES, **shapes})
        RoundActivations("").run(module)
        past = [*empty(model, rows).values()]

        def step(feeds: dict[str, Any]) -> Any:
            made = run(module, [feeds["input_ids"], feeds["attention_mask"], *past])
            past[:] = made[1:]
            return made[0]

        yield step


def read_in_chunks(step: Step, text: Any, chunks: tuple[int, ...] = (5, 1, 6, 1, 1)) -> Any:
    """Return the logits of a text of which some words are given at once, then others."""
    found, at = [], 0
    for size in chunks:
        mask = np.ones((1, at + size), np.int64)
        feeds = {"input_ids": text[None, at : at + size], "attention_mask": mask}
        found.append(step(feeds)[0])
        at += size
    assert at == len(text)
    return np.concatenate(found)


MODELS = {
    "llama": (Model(bias=True), {}),
    "llama tied": (Model(tied=True), {}),
    "mistral": (Model(window=5), {}),
    "qwen 2": (Model("qwen2", bias=True), {}),
    "qwen 3": (Model("qwen3", heads=4, size=24), {}),
    "phi 2": (Model("phi2", shared=4, bias=True, joined=True, rotated=8), {}),
    "phi 3": (Model("phi3", joined=True, rotated=12), {}),
    "gemma": (Model("gemma", tied=True, shared=1, size=32), {}),
    "gemma 2": (
        Model(
            "gemma2",
            tied=True,
            window=4,
            period=2,
            keys={"attn_logit_softcapping": 2.0, "final_logit_softcapping": 3.0},
        ),
        {"softcap": 2.0, "last_softcap": 3.0},
    ),
    "gemma 3": (Model("gemma3", layers=3, tied=True, window=4, period=3, local_base=10000.0), {}),
    "mixtral": (Model(experts=4), {}),
    "qwen 2 moe": (
        Model("qwen2moe", bias=True, experts=5, used=3, expert_inner=32, shared_inner=64),
        {},
    ),
    "qwen 3 moe": (Model("qwen3moe", experts=4, expert_inner=32), {}),
    "a scale": (Model(layers=1, keys={"attention.scale": 0.5}), {"scale": 0.5}),
}


@pytest.mark.parametrize("name", MODELS)
def test_logits_are_those_of_numpy(name: str, tmp_path: Path) -> None:
    model, given = MODELS[name]
    kept = write(tmp_path / "model.gguf", model, weights(model))
    wanted = logits(model, kept, TEXT, **given)
    with interpreted(tmp_path / "model.gguf", model) as step:
        got = read_in_chunks(step, TEXT)
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


FEW_BITS = {
    kind.name: kind
    for kind in (
        *(Type.F16, Type.BF16, Type.Q4_0, Type.Q4_1, Type.Q5_0, Type.Q5_1, Type.Q8_0, Type.MXFP4),
        *(Type.Q2_K, Type.Q3_K, Type.Q4_K, Type.Q5_K, Type.Q6_K, Type.IQ4_NL, Type.IQ4_XS),
    )
}
WIDE = Model(layers=1, hidden=256, heads=4, shared=2, size=64, inner=256)


@pytest.mark.parametrize("kind", FEW_BITS)
@pytest.mark.parametrize("tied", [False, True], ids=["", "tied"])
def test_matrices_of_few_bits(kind: str, tied: bool, tmp_path: Path) -> None:
    model = replace(WIDE, tied=tied)
    kept = write(tmp_path / "model.gguf", model, weights(model), FEW_BITS[kind])
    wanted = logits(model, kept, TEXT[:3])
    with interpreted(tmp_path / "model.gguf", model) as step:
        got = read_in_chunks(step, TEXT[:3], (2, 1))
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=2e-5 * np.abs(wanted).max())


def test_products_of_few_bits_stay_packed(tmp_path: Path) -> None:
    kinds = {"attn": Type.Q4_0, "ffn": Type.Q4_K, "token_embd": Type.Q6_K}
    model = replace(WIDE, tied=True)
    write(tmp_path / "model.gguf", model, weights(model), kinds)
    with new_context():
        module = import_gguf(tmp_path / "model.gguf")
        found = [op for op in ops(module.operation) if isinstance(op, tri.BlockQuantizedMatMul)]
        where = {describe(op.location): (op.bits, op.block, op.zero_points is None) for op in found}
        assert not any(isinstance(op, tri.MatMul) for op in ops(module.operation))
        assert {op.activations for op in found} == {"i8"}
    four, minimums, eight = (4, 32, True), (4, 32, False), (8, 16, True)
    names = ("attn_q", "attn_k", "attn_v", "attn_output")
    assert where == {
        **{f"blk.0.{name}": four for name in names},
        **{f"blk.0.{name}": minimums for name in ("ffn_up", "ffn_gate", "ffn_down")},
        "output": eight,
    }
    table = module.weights["token_embd.weight"]
    assert table.dtype == np.uint8
    assert table.size == 40 * 256  # one copy, for words and logits


def test_compiled_experts_of_few_bits(tmp_path: Path) -> None:
    """Any chunks of a text and any threads give the same bits, near those of numpy."""
    model = Model(experts=4, inner=64, layers=1)
    kept = write(tmp_path / "model.gguf", model, weights(model), {"exps": Type.Q4_0})
    wanted = logits(model, kept, TEXT)
    exact, rounded = (
        trivium.build(
            tmp_path / "model.gguf", generate={"capacity": 20, "chunk": 14}, activations=rounding
        )
        for rounding in ("exact", "model")
    )
    got, error = read_in_pieces(exact, TEXT), read_in_pieces(rounded, TEXT) - wanted
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=2e-5)
    assert 1e-4 < np.abs(error).max() / np.abs(wanted).max() < 2e-2
    experts = sum(array.nbytes for name, array in kept.items() if "exps" in name)
    memories = [package.manifest.memory for package in (exact, rounded)]
    sizes = [memory.weight_bytes + memory.prepared_bytes for memory in memories]
    assert sizes[0] - sizes[1] > experts * 0.8


def test_compiled_code_multiplies_by_few_bits(tmp_path: Path) -> None:
    kinds = {
        **{"attn_q": Type.Q4_0, "attn_k": Type.Q8_0, "attn_v": Type.Q5_K, "attn_out": Type.Q6_K},
        **{"ffn_gate": Type.Q4_K, "ffn_up": Type.Q2_K, "ffn_down": Type.Q4_1},
        **{"token_embd": Type.Q4_K, "output": Type.MXFP4},
    }
    kept = write(tmp_path / "model.gguf", WIDE, weights(WIDE), kinds)
    wanted = logits(WIDE, kept, TEXT[:6])
    cache = {"past_sequence_length": 0, "total_sequence_length": 6}
    shapes = {"batch_size": 1, "sequence_length": 6, **cache}
    session = trivium.compile(str(tmp_path / "model.gguf"), shapes=shapes, activations="exact")
    feeds = {"input_ids": TEXT[None, :6], "attention_mask": np.ones((1, 6), np.int64)}
    feeds |= empty(WIDE)
    got = session.run(feeds)["logits"][0]
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=2e-5)
    bytes_ = trivium.compile(str(tmp_path / "model.gguf"), shapes=shapes).run(feeds)["logits"][0]
    errors = np.abs(bytes_ - wanted).max() / np.abs(wanted).max()
    assert 1e-4 < errors < 2e-2
    assert session.manifest.memory.weight_bytes < 0.4 * sum(a.nbytes for a in kept.values())


def test_export_of_minimums_needs_exact_activations(tmp_path: Path) -> None:
    write(tmp_path / "model.gguf", WIDE, weights(WIDE), {"ffn_up": Type.Q4_K})
    source, output = str(tmp_path / "model.gguf"), str(tmp_path / "model.onnx")
    with pytest.raises(trivium.CompileError, match=r"zero points of f32.*activations 'exact'"):
        export(source, output)
    export(source, output, activations="exact")
    nodes = onnx.load(output).graph.node
    (few,) = (node for node in nodes if node.op_type == "MatMulNBits")
    assert "accuracy_level" not in {attribute.name for attribute in few.attribute}


def test_ranges_of_sizes(tmp_path: Path) -> None:
    """Without any, a cache begins empty and ends at the context; the user may bind any axis."""
    model = Model(layers=1, context=48)
    write(tmp_path / "model.gguf", model, weights(model))

    def ranges(**shapes: Any) -> dict[str, tuple[int, int | None]]:
        with new_context():
            module = import_gguf(tmp_path / "model.gguf", shapes=shapes)
            found = symbols_of_function(module.main)
            return {name: (each.low, each.high) for name, each in found.items()}

    free = {"batch_size": (1, None), "sequence_length": (1, None)}
    past, total = "past_sequence_length", "total_sequence_length"
    assert ranges() == {**free, past: (0, 48), total: (1, 48)}
    assert ranges(**{past: trivium.Range(0, 9)}) == {**free, past: (0, 9), total: (1, 48)}
    assert ranges(**{past: 16}) == {**free, total: (1, 48)}
    by_axis = {"past_key_values.0.key.2": trivium.Range(0, 9)}
    assert ranges(**by_axis) == {**free, past: (0, 9), total: (1, None)}


# -- angles ---------------------------------------------------------------------------------------


def test_places_beyond_the_first_row_of_a_table(tmp_path: Path) -> None:
    """Angles are sums of two: 700 words are more than two rows of the first."""
    model = Model(layers=1, context=800)
    kept = write(tmp_path / "model.gguf", model, weights(model))
    text = np.random.default_rng(3).integers(0, model.words, 700)
    wanted = logits(model, kept, text)
    shapes = {"past_sequence_length": trivium.Range(0, 700)}
    with interpreted(tmp_path / "model.gguf", model, **shapes) as step:
        got = read_in_chunks(step, text, (250, 20, 429, 1))
    np.testing.assert_allclose(got, wanted, rtol=2e-4, atol=2e-5)


def scaled_by(factor: float, factors: Any = 1.0) -> Any:
    return lambda model, layer: plain_frequencies(model, layer) / factors / factor


def yarn(model: Model, layer: int) -> Any:
    """Return frequencies for a context 4 times that of 32, with the default betas 32 and 1."""
    plain = plain_frequencies(model, layer)
    turns = 32 * plain / (2 * math.pi)
    size, base = 2 * model.pairs, math.log(model.base)
    first, last = (size * math.log(32 / (n * 2 * math.pi)) / (2 * base) for n in (32, 1))
    start, end = max(math.floor(first), 0), min(math.ceil(last), size - 1)
    ramp = [min(max((i - start) / max(end - start, 0.001), 0), 1) for i in range(model.pairs)]
    assert len({*ramp}) > 2
    assert turns[0] > 1 > turns[-1]
    return plain * (1 - np.array(ramp)) + plain / 4 * np.array(ramp)


FACTORS = np.linspace(1, 8, 8).astype(np.float32)
SCALINGS = {
    "none": ({"rope.scaling.type": "none", "rope.scaling.factor": 4.0}, 1, scaled_by(1)),
    "linear": ({"rope.scaling.type": "linear", "rope.scaling.factor": 4.0}, 1, scaled_by(4)),
    "yarn": (
        {
            "rope.scaling.type": "yarn",
            "rope.scaling.factor": 4.0,
            "rope.scaling.original_context_length": 32,
        },
        1 + 0.1 * math.log(4),
        yarn,
    ),
}


@pytest.mark.parametrize("kind", SCALINGS)
def test_scaled_angles(kind: str, tmp_path: Path) -> None:
    keys, magnitude, frequencies = SCALINGS[kind]
    model = Model("qwen2", layers=1, keys=keys)
    kept = write(tmp_path / "model.gguf", model, weights(model))
    wanted = logits(model, kept, TEXT, frequencies=frequencies, magnitude=magnitude)
    with interpreted(tmp_path / "model.gguf", model) as step:
        got = read_in_chunks(step, TEXT)
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


def test_frequencies_have_factors(tmp_path: Path) -> None:
    """Llama 3.1 and later have them in a tensor."""
    model = Model(layers=1)
    kept = write(tmp_path / "model.gguf", model, {**weights(model), "rope_freqs.weight": FACTORS})
    wanted = logits(model, kept, TEXT, frequencies=scaled_by(1, FACTORS))
    with interpreted(tmp_path / "model.gguf", model) as step:
        got = read_in_chunks(step, TEXT)
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


def test_long_texts_have_factors_of_their_own(tmp_path: Path) -> None:
    """Phi 3 has such: the whole cache decides, and the first words are of short texts."""
    keys = {"rope.scaling.original_context_length": 9, "rope.scaling.attn_factor": 1.25}
    model = Model("phi3", layers=1, joined=True, keys=keys)
    factors = {"rope_factors_long.weight": FACTORS, "rope_factors_short.weight": FACTORS[::-1] / 4}
    kept = write(tmp_path / "model.gguf", model, {**weights(model), **factors})
    short, long = (
        logits(model, kept, TEXT, frequencies=scaled_by(1, each), magnitude=1.25)
        for each in (FACTORS[::-1] / 4, FACTORS)
    )
    for count, wanted in ((9, short), (10, long)):
        with interpreted(tmp_path / "model.gguf", model) as step:
            got = read_in_chunks(step, TEXT[:count], (count,))
        np.testing.assert_allclose(got, wanted[:count], rtol=1e-4, atol=1e-5)


# -- beside the same model in ONNX ----------------------------------------------------------------


def as_gguf(family: Family) -> Weights:
    """Return the weights of a generated decoder by GGUF's names, as llama.cpp converts them."""
    held = {t.name: numpy_helper.to_array(t) for t in decoder(family).graph.initializer}
    names = {"o": "attn_output", "gate": "ffn_gate", "up": "ffn_up", "down": "ffn_down"}
    made: Weights = {
        "token_embd.weight": held["embed_tokens.weight"],
        "output.weight": held["lm_head.weight"].T,
        "output_norm.weight": held[f"layers.{family.layers - 1}.next.weight"],
    }
    for i in range(family.layers):
        before = "layers.0.input_layernorm" if i == 0 else f"layers.{i - 1}.next"
        made[f"blk.{i}.attn_norm.weight"] = held[f"{before}.weight"]
        made[f"blk.{i}.ffn_norm.weight"] = held[f"layers.{i}.post.weight"]
        for part, heads in (("q", family.heads), ("k", family.shared), ("v", 0)):
            matrix = held[f"layers.{i}.attn.{part}.weight"].T
            if heads:  # halves of heads are interleaved
                halves = matrix.reshape(heads, 2, family.size // 2, -1)
                matrix = halves.swapaxes(1, 2).reshape(matrix.shape)
            made[f"blk.{i}.attn_{part}.weight"] = matrix
        for part, name in names.items():
            where = "attn" if part == "o" else "mlp"
            made[f"blk.{i}.{name}.weight"] = held[f"layers.{i}.{where}.{part}.weight"].T
    return {name: np.ascontiguousarray(array) for name, array in made.items()}


MISTRAL_1 = Family(packed=False, window=5, layers=1)
TWIN = Model(window=5, layers=1, context=64)


def peer_of(family: Family) -> Any:
    given = decoder(family).SerializeToString()
    return onnxruntime.InferenceSession(given, providers=["CPUExecutionProvider"])


def test_logits_and_caches_are_those_of_the_model_in_onnx(tmp_path: Path) -> None:
    write(tmp_path / "model.gguf", TWIN, as_gguf(MISTRAL_1))
    session = trivium.compile(str(tmp_path / "model.gguf"), shapes=SHAPES)
    session.bind_state(MISTRAL_1.pairs, MISTRAL_1.empty())
    peer, past, total = peer_of(MISTRAL_1), MISTRAL_1.empty(), 0
    names = [output.name for output in peer.get_outputs()]
    assert [port.name for port in session.inputs] == [port.name for port in peer.get_inputs()]
    for words in ([3, 7, 9, 11], [5], [6, 1, 2], [8]):
        total += len(words)
        feeds = {"input_ids": np.array([words]), "attention_mask": np.ones((1, total), np.int64)}
        made = dict(zip(names, peer.run(None, {**feeds, **past}), strict=True))
        past = {after: made[name] for name, after in MISTRAL_1.pairs.items()}
        got = session.run(feeds)["logits"]
        np.testing.assert_allclose(got, made["logits"], rtol=1e-4, atol=1e-5)
    for name, rows in past.items():
        np.testing.assert_allclose(session.state[name], rows, rtol=1e-4, atol=1e-5)
    assert {step.kind for step in session.manifest.steps} == {"cpu"}


def test_a_ragged_batch_in_caches_of_fixed_size(tmp_path: Path) -> None:
    write(tmp_path / "model.gguf", TWIN, as_gguf(MISTRAL_1))
    peer, past = peer_of(MISTRAL_1), MISTRAL_1.empty(2, 16)
    own = list(past.values())
    shapes = {"past_sequence_length": 16, "total_sequence_length": trivium.Range(1, 16)}
    words, lengths = np.array([[3, 7, 9, 11], [5, 6, 0, 0]]), np.array([4, 2])
    last = lengths - 1
    with new_context():
        module = import_gguf(tmp_path / "model.gguf", shapes=shapes)
        for _ in range(3):
            mask = (np.arange(lengths.max()) < lengths[:, None]).astype(np.int64)
            feeds = {"input_ids": words, "attention_mask": mask}
            wanted, *present = peer.run(None, {**feeds, **past})
            past = dict(zip(past, present, strict=True))
            got, *own = run(module, [words, mask, *own])
            np.testing.assert_allclose(
                got[[0, 1], last], wanted[[0, 1], last], rtol=1e-4, atol=1e-5
            )
            words = wanted[[0, 1], last].argmax(-1)[:, None]
            lengths, last = lengths + 1, np.zeros(2, int)
