"""Decoders of ONNX 24 that write caches themselves, against the reference of onnx."""

from typing import Any

import numpy as np
import onnx.parser
import pytest
import trivium
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

WORDS, HEADS, SHARED, SIZE, MOST = 24, 4, 2, 8, 40
HIDDEN, KEYS = HEADS * SIZE, SHARED * SIZE


def decoder(most: int | str = "M", window: str = "", counts: bool = True) -> onnx.ModelProto:
    """Return two layers; without `counts`, the rows in use are computed from where new ones go."""
    cache = f"float[B, {SHARED}, {most}, {SIZE}]"
    ports = ", ".join(f"{cache} past_{i}_{kind}" for i in range(2) for kind in ("key", "value"))
    made = ", ".join(f"{cache} present_{i}_{kind}" for i in range(2) for kind in ("key", "value"))
    given = "int64[B] nonpad_kv_seqlen, " if counts else ""
    used = "nonpad_kv_seqlen" if counts else "computed"
    body = "" if counts else "sizes = Shape <start = 1, end = 2> (input_ids)\n"
    body += "" if counts else "computed = Add (write_indices, sizes)\n"
    x = "x_0"
    for i in range(2):
        heads = {"q": HEADS, "k": SHARED, "v": SHARED}
        for name, count in heads.items():
            body += f"{name}_{i} = MatMul ({x}, {name}{i})\n"
            if name != "v":
                body += (
                    f"{name}r_{i} = RotaryEmbedding <num_heads = {count}> "
                    f"({name}_{i}, cos, sin, position_ids)\n"
                )
        for name, kind, source in (("k", "key", f"kr_{i}"), ("v", "value", f"v_{i}")):
            body += f"{name}a_{i} = Reshape ({source}, apart)\n"
            body += f"{name}t_{i} = Transpose <perm = [0, 2, 1, 3]> ({name}a_{i})\n"
            body += (
                f"present_{i}_{kind} = TensorScatter (past_{i}_{kind}, {name}t_{i}, write_indices)"
                "\n"
            )
        body += f"qa_{i} = Reshape (qr_{i}, apart_q)\n"
        body += f"qt_{i} = Transpose <perm = [0, 2, 1, 3]> (qa_{i})\n"
        body += (
            f"y_{i} = Attention <is_causal = 1{window}> "
            f"(qt_{i}, present_{i}_key, present_{i}_value, , , , {used})\n"
        )
        body += f"yt_{i} = Transpose <perm = [0, 2, 1, 3]> (y_{i})\n"
        body += f"ya_{i} = Reshape (yt_{i}, joined)\n"
        body += f"x_{i + 1} = Add ({x}, ya_{i})\n"
        x = f"x_{i + 1}"
    model: onnx.ModelProto = onnx.parser.parse_model(f"""
        <ir_version: 12, opset_import: ["" : {25 if window else 24}]>
        decoder (int64[B, S] input_ids, int64[B, S] position_ids, int64[B] write_indices, {given}
            {ports}) => (float[B, S, {WORDS}] logits, {made})
        <int64[4] apart = {{0, 0, {SHARED}, {SIZE}}}, int64[4] apart_q = {{0, 0, {HEADS}, {SIZE}}},
            int64[3] joined = {{0, 0, {HIDDEN}}}> {{
            x_0 = Gather (table, input_ids)
            {body}
            logits = MatMul ({x}, head)
        }}
    """)
    drawn = np.random.default_rng(0).standard_normal
    shapes: dict[str, Any] = {"table": (WORDS, HIDDEN), "head": (HIDDEN, WORDS)}
    for i in range(2):
        shapes |= {f"q{i}": (HIDDEN, HIDDEN), f"k{i}": (HIDDEN, KEYS), f"v{i}": (HIDDEN, KEYS)}
    weights = {name: drawn(shape) * HIDDEN**-0.3 for name, shape in shapes.items()}
    angles = np.outer(np.arange(MOST), 50.0 ** -(np.arange(SIZE // 2) / (SIZE // 2)))
    weights |= {"cos": np.cos(angles), "sin": np.sin(angles)}
    for name, array in weights.items():
        model.graph.initializer.append(numpy_helper.from_array(array.astype(np.float32), name))
    return model


class Peer:
    """Reads one text by the reference of onnx, with caches of the capacity."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.model, self.run = model, ReferenceEvaluator(model)
        self.length = 0
        ports = [port.name for port in model.graph.input if port.name.startswith("past")]
        self.past = {p: np.zeros((1, SHARED, MOST, SIZE), np.float32) for p in ports}

    def read(self, tokens: Any) -> Any:
        places = np.arange(self.length, self.length + len(tokens))[None]
        feeds: dict[str, Any] = {"input_ids": np.array([tokens]), "position_ids": places}
        feeds["write_indices"] = np.array([self.length])
        self.length += len(tokens)
        if len(self.run.input_names) == 8:
            feeds["nonpad_kv_seqlen"] = np.array([self.length])
        logits, *made = self.run.run(None, {**feeds, **self.past})
        self.past = dict(zip(self.past, made, strict=True))
        return logits[0]

    def words(self, prompt: Any, count: int) -> list[int]:
        found = [int(self.read(prompt)[-1].argmax())]
        while len(found) < count:
            found.append(int(self.read(found[-1:])[-1].argmax()))
        return found


@pytest.mark.parametrize(
    ("given", "batch"),
    [
        ({}, 3),
        ({"most": MOST}, 1),
        ({"window": ", left_window_size = 5"}, 1),
        ({"counts": False}, 1),
    ],
    ids=["a capacity that is bound", "a fixed capacity", "a window", "counts that are computed"],
)
def test_words_are_those_of_the_reference(given: dict[str, Any], batch: int) -> None:
    model = decoder(**given)
    session = trivium.compile(model, generate={"capacity": MOST, "chunk": 8, "batch": batch})
    assert all(each.in_place for each in session.manifest.carried)
    assert len(session.manifest.carried) == 4
    generator = trivium.Generator(session)
    assert (generator.capacity, generator.batch) == (MOST, batch)
    prompts = [[3, 7, 9, 11, 2, 5, 1, 4, 4, 6, 8], [1], [5, 5, 2, 9]]
    wanted = [Peer(model).words(prompt, 12) for prompt in prompts]
    assert len({tuple(each) for each in wanted}) == 3
    assert generator.generate_batch(prompts, max_tokens=12) == wanted
    with generator.sequence() as text:
        peer = Peer(model)
        for tokens in (prompts[0], [2], [7, 9, 3], [1]):
            got = text.append_each(tokens)
            np.testing.assert_allclose(got, peer.read(tokens), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("length", "used", "attributes"),
    [
        (3, [7, 12], "is_causal = 1"),
        (3, [2, 3], "is_causal = 1"),
        (1, [1, 12], "is_causal = 0"),
        (6, [6, 9], "is_causal = 0, right_window_size = 0"),
        (3, [7, 12], "is_causal = 1, left_window_size = 4"),
        (3, [7, 12], "is_causal = 0"),
        (3, [7, 12], "is_causal = 1, softcap = 2.0"),
        (2, [7, 12], "is_causal = 0, left_window_size = 2, right_window_size = 1"),
    ],
)
def test_attention_to_rows_in_use(length: int, used: list[int], attributes: str) -> None:
    """A query before the first row sees none, and gives zeros."""
    model = onnx.parser.parse_model(f"""
        <ir_version: 12, opset_import: ["" : 25]>
        m (float[2, 4, {length}, 8] q, float[2, 2, 12, 8] k, float[2, 2, 12, 8] v, int64[2] used)
            => (float[2, 4, {length}, 8] y)
        {{ y = Attention <{attributes}> (q, k, v, , , , used) }}
    """)
    drawn = np.random.default_rng(0).standard_normal
    feeds: dict[str, Any] = {
        name: drawn(shape).astype(np.float32)
        for name, shape in {"q": (2, 4, length, 8), "k": (2, 2, 12, 8), "v": (2, 2, 12, 8)}.items()
    }
    feeds["used"] = np.array(used)
    (wanted,) = ReferenceEvaluator(model).run(None, feeds)
    for target in ("cpu", "host"):
        got = trivium.compile(model, target=target).run(feeds)["y"]
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("attributes", ["", "interleaved = 1, ", "rotary_embedding_dim = 4, "])
@pytest.mark.parametrize("shape", ["B, S, 24", "B, 3, S, 8"])
@pytest.mark.parametrize("has_positions", [True, False])
def test_rotary_embedding_of_any_length(attributes: str, shape: str, has_positions: bool) -> None:
    pairs = 2 if "dim" in attributes else 4
    table = f"float[9, {pairs}]" if has_positions else f"float[B, S, {pairs}]"
    positions, places = (", int64[B, S] places", ", places") if has_positions else ("", "")
    model = onnx.parser.parse_model(f"""
        <ir_version: 11, opset_import: ["" : 23]>
        m (float[{shape}] x, {table} cos, {table} sin{positions}) => (float[{shape}] y)
        {{ y = RotaryEmbedding <{attributes}num_heads = 3> (x, cos, sin{places}) }}
    """)
    session = trivium.compile(model)
    drawn = np.random.default_rng(0).standard_normal
    for batch, length in ((2, 5), (1, 1)):
        sizes = (batch, length, 24) if "24" in shape else (batch, 3, length, 8)
        rows = (9, pairs) if has_positions else (batch, length, pairs)
        feeds: dict[str, Any] = {
            name: drawn(each).astype(np.float32)
            for name, each in {"x": sizes, "cos": rows, "sin": rows}.items()
        }
        if has_positions:
            feeds["places"] = np.random.default_rng(1).integers(0, 9, (batch, length))
        (wanted,) = ReferenceEvaluator(model).run(None, feeds)
        np.testing.assert_allclose(session.run(feeds)["y"], wanted, rtol=1e-5, atol=1e-6)
