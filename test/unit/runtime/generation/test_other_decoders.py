"""Decoders whose caches grow, or have no rows, or that take what an encoder made; and of GGUF."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
import onnxruntime
import pytest
import torch
import trivium
from onnx import numpy_helper
from torch import Tensor, nn
from torch.nn import functional
from trivium.test.unit.generated_decoders import Family

WORDS, HIDDEN = 24, 32


class Attending(nn.Module):
    """A layer of attention to all earlier tokens, and to what an encoder has made."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(WORDS, HIDDEN)
        self.places = nn.Embedding(64, HIDDEN)
        self.qkv = nn.Linear(HIDDEN, 3 * HIDDEN)
        self.q = nn.Linear(HIDDEN, HIDDEN)
        self.kv = nn.Linear(HIDDEN, 2 * HIDDEN)
        self.head = nn.Linear(HIDDEN, WORDS)

    def forward(
        self,
        input_ids: Tensor,
        position_ids: Tensor,
        encoded: Tensor,
        past_key: Tensor,
        past_value: Tensor,
    ) -> dict[str, Tensor]:
        x = self.embed(input_ids) + self.places(position_ids)
        q, k, v = (each.unsqueeze(1) for each in self.qkv(x).chunk(3, -1))
        k, v = torch.cat((past_key, k), 2), torch.cat((past_value, v), 2)
        rows = torch.arange(k.shape[2])
        seen = rows[None, None, None] <= position_ids[:, None, :, None]
        x = x + functional.scaled_dot_product_attention(q, k, v, attn_mask=seen)[:, 0]
        others, values = self.kv(encoded).chunk(2, -1)
        x = x + functional.scaled_dot_product_attention(self.q(x), others, values)
        return {"logits": self.head(x), "present_key": k, "present_value": v}

    def example(self, count: int, rows: int) -> tuple[Tensor, ...]:
        caches = torch.zeros(2, 1, 1, rows, HIDDEN)
        ids = torch.zeros(1, count, dtype=torch.long)
        places = torch.arange(rows, rows + count)[None]
        return (ids, places, torch.zeros(1, 5, HIDDEN), caches[0], caches[1])

    def words(self, prompt: list[int], encoded: Tensor, count: int) -> list[int]:
        """Return the likeliest words that follow, each by all words before it."""
        text = list(prompt)
        with torch.no_grad():
            for _ in range(count):
                ids, places, _, *caches = self.example(len(text), 0)
                ids[0] = torch.tensor(text)
                text.append(int(self(ids, places, encoded, *caches)["logits"][0, -1].argmax()))
        return text[len(prompt) :]


@pytest.fixture(scope="module")
def attending() -> tuple[Attending, trivium.Session]:
    torch.manual_seed(0)
    model = Attending().eval()
    tokens, rows = torch.export.Dim("tokens", max=16), torch.export.Dim("rows", min=2, max=48)
    axes = ({1: tokens}, {1: tokens}, None, {2: rows}, {2: rows})
    program = torch.export.export(model, model.example(4, 8), dynamic_shapes=axes)
    return model, trivium.compile(program, generate={"capacity": 48, "chunk": 16})


def test_caches_that_grow_and_what_an_encoder_made(
    attending: tuple[Attending, trivium.Session],
) -> None:
    model, session = attending
    generator = trivium.Generator(session)
    assert (generator.capacity, generator.batch) == (48, 1)
    for seed in range(3):
        encoded = torch.randn(1, 5, HIDDEN, generator=torch.Generator().manual_seed(seed))
        prompt = [3, 7, 9, 1, 2]
        got = generator.generate(prompt, max_tokens=20, inputs={"encoded": encoded.numpy()})
        assert got == model.words(prompt, encoded, 20)
    with pytest.raises(trivium.RunError) as caught:
        generator.generate([1, 2])
    assert str(caught.value) == "the inputs of a text must be 'encoded', got none"


def test_a_cache_that_grows_has_room_for_two_tokens() -> None:
    tokens, rows = torch.export.Dim("tokens", max=16), torch.export.Dim("rows", min=2, max=48)
    axes = ({1: tokens}, {1: tokens}, None, {2: rows}, {2: rows})
    model = Attending().eval()
    program = torch.export.export(model, model.example(4, 8), dynamic_shapes=axes)
    with pytest.raises(trivium.CompileError) as caught:
        trivium.compile(program, generate={"capacity": 1})
    fault = "error: capacity is 1, must be at least 2: 'present_key' grows"
    assert str(caught.value) == fault


def test_a_module_of_torch_is_exported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    model = Attending().eval()
    tokens, rows = torch.export.Dim("tokens", max=16), torch.export.Dim("rows", min=2, max=48)
    exports: list[Any] = []
    export = torch.export.export

    def counted(*given: Any, **named: Any) -> Any:
        exports.append(given)
        return export(*given, **named)

    monkeypatch.setattr(torch.export, "export", counted)
    session = trivium.compile(
        model,
        model.example(4, 8),
        dynamic_shapes=({1: tokens}, {1: tokens}, None, {2: rows}, {2: rows}),
        generate={"capacity": 32},
    )
    assert len(exports) == 1
    generator = trivium.Generator(session)
    assert generator.capacity == 32
    encoded = torch.randn(1, 5, HIDDEN)
    got = generator.generate([3, 7], max_tokens=9, inputs={"encoded": encoded.numpy()})
    assert got == model.words([3, 7], encoded, 9)


def recurrent() -> onnx.ModelProto:
    """Return a GRU whose state has an axis of layers before that of the batch."""
    model = onnx.parser.parse_model(f"""
        <ir_version: 10, opset_import: ["" : 21]>
        recurrent (int64[B, S] input_ids, float[1, B, {HIDDEN}] past_state)
            => (float[B, S, {WORDS}] logits, float[1, B, {HIDDEN}] present_state)
        <int64[1] one = {{1}}> {{
            x = Gather (table, input_ids)
            turned = Transpose <perm = [1, 0, 2]> (x)
            rows, present_state = GRU <hidden_size = {HIDDEN}> (turned, w, r, , , past_state)
            squeezed = Squeeze (rows, one)
            y = Transpose <perm = [1, 0, 2]> (squeezed)
            logits = MatMul (y, head)
        }}
    """)
    drawn = np.random.default_rng(0).standard_normal
    shapes = {"table": (WORDS, HIDDEN), "head": (HIDDEN, WORDS)}
    shapes |= {"w": (1, 3 * HIDDEN, HIDDEN), "r": (1, 3 * HIDDEN, HIDDEN)}
    for name, shape in shapes.items():
        array = (drawn(shape) * HIDDEN**-0.25).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    return model


def test_state_without_rows() -> None:
    model = recurrent()
    peer = onnxruntime.InferenceSession(model.SerializeToString())

    def words(prompt: list[int], count: int) -> list[int]:
        text, state = list(prompt), np.zeros((1, 1, HIDDEN), np.float32)
        fresh = list(prompt)
        for _ in range(count):
            feeds = {"input_ids": np.array([fresh]), "past_state": state}
            logits, state = peer.run(["logits", "present_state"], feeds)
            fresh = [int(logits[0, -1].argmax())]
            text += fresh
        return text[len(prompt) :]

    generator = trivium.Generator(
        trivium.compile(model, generate={"chunk": 4, "batch": 3}), lookup=True
    )
    assert (generator.capacity, generator.batch) == (None, 3)
    prompts = [[3, 7, 9, 1, 2, 8], [5], [4, 4], [11, 2, 3]]
    wanted = [words(prompt, 30) for prompt in prompts]
    assert [generator.generate(prompt, max_tokens=30) for prompt in prompts] == wanted
    assert generator.generate_batch(prompts, max_tokens=30) == wanted
    with generator.sequence() as text:
        text.append(prompts[0])
        twin = text.fork()
        assert list(twin.generate(max_tokens=30)) == wanted[0]
        with pytest.raises(trivium.RunError, match="the decoder has state without rows: a text"):
            text.truncate(3)
        text.truncate(0)
        text.append(prompts[1])
        assert list(text.generate(max_tokens=30)) == wanted[1]


def lstm() -> onnx.ModelProto:
    """Return two layers of LSTM, whose states have the names that exporters give them."""
    made: onnx.ModelProto = onnx.parser.parse_model(f"""
        <ir_version: 10, opset_import: ["" : 21]>
        lstm (int64[B, S] input_ids, float[2, B, {HIDDEN}] h0, float[2, B, {HIDDEN}] c0)
            => (float[B, S, {WORDS}] logits, float[2, B, {HIDDEN}] hn, float[2, B, {HIDDEN}] cn)
        <int64[1] one = {{1}}> {{
            x = Gather (table, input_ids)
            turned = Transpose <perm = [1, 0, 2]> (x)
            ha, hb = Split <axis = 0, num_outputs = 2> (h0)
            ca, cb = Split <axis = 0, num_outputs = 2> (c0)
            rows_a, h1, c1 = LSTM <hidden_size = {HIDDEN}> (turned, w, r, , , ha, ca)
            middle = Squeeze (rows_a, one)
            rows_b, h2, c2 = LSTM <hidden_size = {HIDDEN}> (middle, r, w, , , hb, cb)
            hn = Concat <axis = 0> (h1, h2)
            cn = Concat <axis = 0> (c1, c2)
            squeezed = Squeeze (rows_b, one)
            y = Transpose <perm = [1, 0, 2]> (squeezed)
            logits = MatMul (y, head)
        }}
    """)
    drawn = np.random.default_rng(7).standard_normal
    shapes = {"table": (WORDS, HIDDEN), "head": (HIDDEN, WORDS)}
    shapes |= dict.fromkeys("wr", (1, 4 * HIDDEN, HIDDEN))
    for name, shape in shapes.items():
        array = (drawn(shape) * HIDDEN**-0.25).astype(np.float32)
        made.graph.initializer.append(numpy_helper.from_array(array, name))
    return made


def test_state_that_is_named() -> None:
    """The batch is the second axis of the states of an LSTM: several texts at once, and a fork."""
    model = lstm()
    peer = onnxruntime.InferenceSession(model.SerializeToString())

    def words(prompt: list[int], count: int) -> list[int]:
        h, c = np.zeros((2, 2, 1, HIDDEN), np.float32)
        found, fresh = [], prompt
        while len(found) < count:
            feeds = {"input_ids": np.array([fresh]), "h0": h, "c0": c}
            logits, h, c = peer.run(["logits", "hn", "cn"], feeds)
            fresh = [int(logits[0, -1].argmax())]
            found += fresh
        return found

    states = {"hn": "h0", "cn": "c0"}
    prompts = [[3, 7, 9, 1, 2, 8], [5], [4, 4], [11, 2, 3]]
    wanted = [words(prompt, 12) for prompt in prompts]
    for batch in (1, 3):
        session = trivium.compile(model, states=states, generate={"chunk": 4, "batch": batch})
        generator = trivium.Generator(session)
        assert generator.generate_batch(prompts, max_tokens=12) == wanted
        with generator.sequence() as text:
            text.append(prompts[0])
            assert list(text.fork().generate(max_tokens=12)) == wanted[0]
    with pytest.raises(trivium.CompileError, match="states make 'hn' the input 'h', which is no"):
        trivium.compile(model, states={"hn": "h", "cn": "c0"}, generate=True)


def test_a_file_of_gguf(tmp_path: Path) -> None:
    from trivium.test.unit.compiler.frontends.gguf import test_gguf_decoders as gguf
    from trivium.test.unit.runtime.generation.test_generator import Peer

    family: Family = gguf.MISTRAL_1
    gguf.write(tmp_path / "model.gguf", gguf.TWIN, gguf.as_gguf(family))
    session = trivium.compile(tmp_path / "model.gguf", generate={"capacity": family.longest})
    assert trivium.Generator(session).generate([3, 7, 9], max_tokens=40) == Peer(family).words(
        [3, 7, 9], 40
    )


def fault(text: str) -> str:
    model: Any = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> {text}')
    with pytest.raises(trivium.CompileError) as caught:
        trivium.compile(model, generate=True)
    return str(caught.value)


def test_models_that_are_no_decoders() -> None:
    assert fault("m (float[N, 3] x) => (float[N, 3] y) { y = Relu (x) }").splitlines() == [
        "error: the model has no input 'input_ids', must have it: has x",
        "error: the model has no output 'logits', must have it: has y",
        "error: no output is the cache of an input, must have outputs 'present…' of 'past…', "
        "or states that name them",
    ]
    assert fault(
        "m (float[B, S] input_ids, float[B, 3] past) => (float[B, S, 1] logits, float[B, 3] "
        "present) <int64[1] two = {2}> { logits = Unsqueeze (input_ids, two) present = Relu (past) "
        "}"
    ) == ('input_ids: error: input is tensor<?x?xf32, ["B", "S"]>, must be integers')
