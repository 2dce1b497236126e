"""An encoder and its decoder, as exporters write models such as Whisper: three files of ONNX."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx.parser
import onnxruntime
import pytest
import trivium
from onnx import numpy_helper
from trivium.runtime.generation.part import GenerationPart

BANDS, FRAMES, HEADS, SIZE, WORDS, LAYERS, LONGEST = 6, 10, 2, 8, 20, 2, 32
HIDDEN = HEADS * SIZE
KINDS = ("key", "value")
DECODER = [f"{i}.decoder.{kind}" for i in range(LAYERS) for kind in KINDS]
ENCODER = [f"{i}.encoder.{kind}" for i in range(LAYERS) for kind in KINDS]

DOTTED = re.compile(r"(present|past_key_values)\.(\d+)\.(decoder|encoder)\.")
"""Names that the text of a model cannot have, where a dot before a digit is no letter."""


def model(text: str) -> onnx.ModelProto:
    """Parse a model, with the same random weights of each name in all files."""
    head = '<ir_version: 10, opset_import: ["" : 21]>'
    made: onnx.ModelProto = onnx.parser.parse_model(head + re.sub(DOTTED, r"\1__\2__\3__", text))
    for port in (*made.graph.input, *made.graph.output):
        port.name = port.name.replace("__", ".")
    for node in made.graph.node:
        for names in (node.input, node.output):
            names[:] = [name.replace("__", ".") for name in names]
    shapes: dict[str, tuple[int, ...]] = {"table": (WORDS, HIDDEN), "head": (HIDDEN, WORDS)}
    shapes |= {"places": (LONGEST, HIDDEN), "filters": (HIDDEN, BANDS, 3)}
    for i in range(LAYERS):
        names = ("q", "k", "v", "out", "cross_q", "cross_k", "cross_v", "cross_out")
        shapes |= {f"{name}_{i}": (HIDDEN, HIDDEN) for name in names}
    used = {name for node in made.graph.node for name in node.input}
    for name in sorted(used & shapes.keys()):
        drawn = np.random.default_rng(list(name.encode())).standard_normal(shapes[name])
        array = (drawn * HIDDEN**-0.35).astype(np.float32)
        made.graph.initializer.append(numpy_helper.from_array(array, name))
    heads = np.array([0, -1, HEADS, SIZE])
    for name, value in {"apart": heads, "joined": np.array([0, -1, HIDDEN])}.items():
        made.graph.initializer.append(numpy_helper.from_array(value, name))
    return made


def encoder() -> onnx.ModelProto:
    return model(f"""
        encoder (float[B, {BANDS}, {FRAMES}] input_features)
            => (float[B, T, {HIDDEN}] last_hidden_state) {{
            filtered = Conv <strides = [2], pads = [1, 1]> (input_features, filters)
            positive = Relu (filtered)
            last_hidden_state = Transpose <perm = [0, 2, 1]> (positive)
        }}
    """)


def split(source: str, name: str) -> str:
    return f"""
        {name}_apart = Reshape ({source}, apart)
        {name} = Transpose <perm = [0, 2, 1, 3]> ({name}_apart)
    """


def attended(name: str, key: str, value: str, seen: str) -> str:
    masked = f"Where ({seen}, {name}_scaled, low)" if seen else f"Identity ({name}_scaled)"
    return f"""
        {name}_turned = Transpose <perm = [0, 1, 3, 2]> ({key})
        {name}_scores = MatMul ({name}_q, {name}_turned)
        {name}_scaled = Mul ({name}_scores, scale)
        {name}_masked = {masked}
        {name}_weights = Softmax ({name}_masked)
        {name}_heads = MatMul ({name}_weights, {value})
        {name}_back = Transpose <perm = [0, 2, 1, 3]> ({name}_heads)
        {name}_joined = Reshape ({name}_back, joined)
    """


def layer(i: int, has_past: bool) -> str:
    body = f"s{i}_qx = MatMul (x_{i}, q_{i})\n" + split(f"s{i}_qx", f"s{i}_q")
    body += f"c{i}_kx = MatMul (encoder_hidden_states, cross_k_{i})\n" if not has_past else ""
    body += f"c{i}_vx = MatMul (encoder_hidden_states, cross_v_{i})\n" if not has_past else ""
    for kind, short in zip(KINDS, "kv", strict=True):
        body += f"s{i}_{short}x = MatMul (x_{i}, {short}_{i})\n"
        body += split(f"s{i}_{short}x", f"s{i}_{short}")
        own, cross = f"present.{i}.decoder.{kind}", f"present.{i}.encoder.{kind}"
        if has_past:
            body += (
                f"{own} = Concat <axis = 2> (past_key_values.{i}.decoder.{kind}, s{i}_{short})\n"
            )
        else:
            body += f"{own} = Identity (s{i}_{short})\n"
            body += split(f"c{i}_{short}x", cross)
    body += attended(f"s{i}", f"present.{i}.decoder.key", f"present.{i}.decoder.value", "seen")
    body += f"s{i}_out = MatMul (s{i}_joined, out_{i})\n s{i}_y = Add (x_{i}, s{i}_out)\n"
    body += f"c{i}_qx = MatMul (s{i}_y, cross_q_{i})\n" + split(f"c{i}_qx", f"c{i}_q")
    cross = f"{'past_key_values' if has_past else 'present'}.{i}.encoder."
    body += attended(f"c{i}", f"{cross}key", f"{cross}value", "")
    body += f"c{i}_out = MatMul (c{i}_joined, cross_out_{i})\n x_{i + 1} = Add (s{i}_y, c{i}_out)\n"
    return body


def decoder(has_past: bool, length: int | str = "S", returns_cross: bool = False) -> Any:
    """Return the decoder of the first step, which makes the caches of the encoder, or of others."""
    cache = f"float[B, {HEADS}"
    given = f"float[B, T, {HIDDEN}] encoder_hidden_states"
    made = [f"{cache}, R, {SIZE}] present.{name}" for name in DECODER]
    if has_past:
        past = [f"{cache}, P, {SIZE}] past_key_values.{name}" for name in DECODER]
        past += [f"{cache}, T, {SIZE}] past_key_values.{name}" for name in ENCODER]
        given = ", ".join(past)
    if not has_past or returns_cross:
        made += [f"{cache}, T, {SIZE}] present.{name}" for name in ENCODER]
    body = "sizes = Shape (input_ids)\n length = Gather (sizes, second)\n"
    if has_past:
        body += "past_sizes = Shape (past_key_values.0.decoder.key)\n"
        body += "begin = Gather (past_sizes, third)\n"
    else:
        body += "begin = Identity (nothing)\n"
    body += "".join(layer(i, has_past) for i in range(LAYERS))
    if returns_cross:
        names = (f"present.{n} = Identity (past_key_values.{n})\n" for n in ENCODER)
        body += "".join(names)
    return model(f"""
        decoder (int64[B, {length}] input_ids, {given})
            => (float[B, {length}, {WORDS}] logits, {", ".join(made)})
        <int64[1] second = {{1}}, int64[1] third = {{2}}, int64[1] nothing = {{0}},
            int64[1] zero = {{0}}, int64 first = {{0}}, int64 one = {{1}}, float low = {{-1e9}},
            float scale = {{{SIZE**-0.5}}}> {{
            {body.split("s0_qx", 1)[0]}
            total = Add (begin, length)
            place = Slice (places, begin, total, zero)
            words = Gather (table, input_ids)
            x_0 = Add (words, place)
            from = Squeeze (begin)
            to = Squeeze (total)
            columns = Range (first, to, one)
            rows = Range (from, to, one)
            column = Unsqueeze (rows, second)
            seen = LessOrEqual (columns, column)
            s0_qx{body.split("s0_qx", 1)[1]}
            logits = MatMul (x_{LAYERS}, head)
        }}
    """)


class Peer:
    """Goes on with a text by ONNX Runtime, as exporters' own loops do."""

    def __init__(self) -> None:
        files = (encoder(), decoder(False), decoder(True))
        self.encode, self.first, self.later = (
            onnxruntime.InferenceSession(each.SerializeToString()) for each in files
        )

    def words(self, features: Any, prompt: Sequence[int], count: int) -> list[int]:
        (hidden,) = self.encode.run(None, {"input_features": features})
        names = ["logits", *(f"present.{name}" for name in (*DECODER, *ENCODER))]
        feeds = {"input_ids": np.array([prompt]), "encoder_hidden_states": hidden}
        state = dict(zip(names, self.first.run(names, feeds), strict=True))
        found = [int(state["logits"][0, -1].argmax())]
        while len(found) < count:
            feeds = {f"past_key_values.{n}": state[f"present.{n}"] for n in (*DECODER, *ENCODER)}
            names = ["logits", *(f"present.{name}" for name in DECODER)]
            feeds["input_ids"] = np.array([found[-1:]])
            state |= dict(zip(names, self.later.run(names, feeds), strict=True))
            found.append(int(state["logits"][0, -1].argmax()))
        return found


@pytest.fixture(scope="module")
def peer() -> Peer:
    return Peer()


@pytest.fixture(scope="module")
def encoded() -> list[tuple[Any, dict[str, Any]]]:
    """Return features, and what the two files that are run once make of them."""
    encode = trivium.compile(encoder())
    first = trivium.compile(decoder(False))
    found: list[tuple[Any, dict[str, Any]]] = []
    for seed in range(3):
        drawn = np.random.default_rng(seed).standard_normal((1, BANDS, FRAMES))
        features = drawn.astype(np.float32)
        hidden = encode.run({"input_features": features})["last_hidden_state"]
        made = first.run({"input_ids": np.array([[1]]), "encoder_hidden_states": hidden})
        given = {f"past_key_values.{name}": made[f"present.{name}"] for name in ENCODER}
        found.append((features, given))
    return found


@pytest.mark.parametrize("length", ["S", 1])
def test_words_are_those_of_the_loop_of_onnxruntime(
    peer: Peer, encoded: list[tuple[Any, dict[str, Any]]], length: int | str
) -> None:
    session = trivium.compile(
        decoder(True, length), generate={"capacity": LONGEST, "chunk": 4}, shapes={"T": 5}
    )
    part = session.manifest.part(GenerationPart)
    assert [each.output for each in part.caches] == [f"present.{name}" for name in DECODER]
    generator = trivium.Generator(session)
    assert generator.capacity == LONGEST
    texts = [peer.words(features, [1, 3, 7], 20) for features, _ in encoded]
    assert len({tuple(text) for text in texts}) > 1, "the encoder would change nothing"
    for (_, given), wanted in zip(encoded, texts, strict=True):
        assert generator.generate([1, 3, 7], max_tokens=20, inputs=given) == wanted


def test_caches_that_a_step_returns_as_they_are(
    peer: Peer, encoded: list[tuple[Any, dict[str, Any]]]
) -> None:
    """Exporters that merge both decoders have the caches of the encoder as outputs, too."""
    session = trivium.compile(decoder(True, returns_cross=True), generate={"capacity": LONGEST})
    generator = trivium.Generator(session)
    for features, given in encoded:
        with generator.sequence(given) as text:
            text.append([1, 3, 7])
            got = list(text.generate(max_tokens=20))
        assert got == peer.words(features, [1, 3, 7], 20)


def test_what_an_encoder_made_is_needed(encoded: list[tuple[Any, dict[str, Any]]]) -> None:
    session = trivium.compile(decoder(True), generate={"capacity": LONGEST})
    generator = trivium.Generator(session)
    given = dict(encoded[0][1])
    name, _ = given.popitem()
    with pytest.raises(trivium.RunError, match="the inputs of a text must be 'past_key_values"):
        generator.generate([1], inputs=given)
    with pytest.raises(trivium.RunError, match=f"input '{name}' has shape"):
        generator.generate([1], inputs=given | {name: np.zeros((1, HEADS, 5, 3), np.float32)})
