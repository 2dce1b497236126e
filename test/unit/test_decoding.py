"""A decoder with a cache that grows: one compile runs all tokens, as onnxruntime does."""

import threading
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
import trivium
from onnx import numpy_helper
from trivium.runtime.plans.plan_cache import MOST_PLANS

onnxruntime = pytest.importorskip("onnxruntime")

LAYERS, HEADS, WIDTH, WORDS, MOST = 2, 2, 16, 24, 64
DEPTH = HEADS * WIDTH


def layer(i: int, x: str) -> str:
    """Return the nodes of a layer, whose result is `y{i}`."""
    return f"""
        a{i} = LayerNormalization ({x}, ones, zeros)
        qkv{i} = MatMul (a{i}, wqkv{i})
        q{i}, k{i}, v{i} = Split <axis = 2, num_outputs = 3> (qkv{i})
        qr{i} = Reshape (q{i}, in_heads)
        kr{i} = Reshape (k{i}, in_heads)
        vr{i} = Reshape (v{i}, in_heads)
        qt{i} = Transpose <perm = [0, 2, 1, 3]> (qr{i})
        kt{i} = Transpose <perm = [0, 2, 1, 3]> (kr{i})
        vt{i} = Transpose <perm = [0, 2, 1, 3]> (vr{i})
        present_k{i} = Concat <axis = 2> (past_k{i}, kt{i})
        present_v{i} = Concat <axis = 2> (past_v{i}, vt{i})
        turned{i} = Transpose <perm = [0, 1, 3, 2]> (present_k{i})
        scores{i} = MatMul (qt{i}, turned{i})
        scaled{i} = Mul (scores{i}, scale)
        p{i} = Softmax (scaled{i})
        o{i} = MatMul (p{i}, present_v{i})
        ot{i} = Transpose <perm = [0, 2, 1, 3]> (o{i})
        or{i} = Reshape (ot{i}, whole)
        op{i} = MatMul (or{i}, wo{i})
        r{i} = Add ({x}, op{i})
        m{i} = LayerNormalization (r{i}, ones, zeros)
        h{i} = MatMul (m{i}, w1{i})
        g{i} = Gelu (h{i})
        f{i} = MatMul (g{i}, w2{i})
        y{i} = Add (r{i}, f{i})
    """


def decoder() -> onnx.ModelProto:
    names = [f"{kind}{i}" for i in range(LAYERS) for kind in "kv"]
    cache = f"float[1, {HEADS}, past, {WIDTH}]"
    pasts = ", ".join(f"{cache} past_{name}" for name in names)
    presents = ", ".join(f"float[1, {HEADS}, total, {WIDTH}] present_{name}" for name in names)
    model = onnx.parser.parse_model(f"""
        <ir_version: 10, opset_import: ["" : 21]>
        decoder (int64[1, 1] ids, {pasts}) => (float[1, 1, {WORDS}] logits, {presents})
        <int64[1] two = {{2}}, int64[4] in_heads = {{1, 1, {HEADS}, {WIDTH}}},
         int64[3] whole = {{1, 1, {DEPTH}}}, float scale = {{{WIDTH**-0.5}}}>
        {{
        shape = Shape (past_k0)
        position = Gather (shape, two)
        token = Gather (words, ids)
        place = Gather (places, position)
        x = Add (token, place)
        {"".join(layer(i, f"y{i - 1}" if i else "x") for i in range(LAYERS))}
        last = LayerNormalization (y{LAYERS - 1}, ones, zeros)
        logits = MatMul (last, head)
        }}
    """)
    shapes = {"words": (WORDS, DEPTH), "places": (MOST, DEPTH), "head": (DEPTH, WORDS)}
    for i in range(LAYERS):
        shapes |= {f"wqkv{i}": (DEPTH, 3 * DEPTH), f"wo{i}": (DEPTH, DEPTH)}
        shapes |= {f"w1{i}": (DEPTH, 4 * DEPTH), f"w2{i}": (4 * DEPTH, DEPTH)}
    rng = np.random.default_rng(0)
    weights = {name: rng.standard_normal(s) * DEPTH**-0.5 for name, s in shapes.items()}
    weights |= {"ones": np.ones(DEPTH), "zeros": np.zeros(DEPTH)}
    for name, array in weights.items():
        tensor = numpy_helper.from_array(array.astype(np.float32), name)
        model.graph.initializer.append(tensor)
    return model


PAIRS = {f"present_{k}{i}": f"past_{k}{i}" for i in range(LAYERS) for k in "kv"}
EMPTY: dict[str, Any] = {
    past: np.zeros((1, HEADS, 0, WIDTH), np.float32) for past in PAIRS.values()
}


@pytest.fixture(scope="module")
def session() -> trivium.Session:
    return trivium.compile(decoder(), shapes={"past": trivium.Range(0, MOST, likely=16)})


def words(session: Any, count: int, first: int) -> list[int]:
    """Return the words that a session with an empty cache finds likeliest, one after the other."""
    session.bind_state(PAIRS, EMPTY)
    found = [first]
    for _ in range(count):
        logits = session.run({"ids": np.array([found[-1:]])})["logits"]
        found.append(int(logits.argmax()))
    return found


def test_tokens_are_those_of_onnxruntime(session: trivium.Session):
    theirs = onnxruntime.InferenceSession(
        decoder().SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in theirs.get_outputs()]
    ours, past, word = session.clone(), EMPTY, 3
    ours.bind_state(PAIRS, EMPTY)
    for _ in range(40):
        ids = np.array([[word]])
        wanted = dict(zip(names, theirs.run(None, {"ids": ids, **past}), strict=True))
        logits = ours.run({"ids": ids})["logits"]
        np.testing.assert_allclose(logits, wanted["logits"], rtol=1e-4, atol=1e-5)
        past = {to: wanted[name] for name, to in PAIRS.items()}
        word = int(wanted["logits"].argmax())
    for name, array in past.items():
        np.testing.assert_allclose(ours.state[name], array, rtol=1e-4, atol=1e-5)


def test_a_step_equals_that_of_the_model_with_exact_sizes(session: trivium.Session):
    exact = trivium.compile(decoder(), shapes={"past": 16})
    rng = np.random.default_rng(1)
    shape = (1, HEADS, 16, WIDTH)
    past = {name: rng.standard_normal(shape).astype(np.float32) for name in EMPTY}
    feeds = {"ids": np.array([[5]]), **past}
    wanted, got = exact.run(feeds), session.clone().run(feeds)
    assert wanted.keys() == got.keys()
    for name, array in wanted.items():
        np.testing.assert_allclose(got[name], array, rtol=1e-6, atol=1e-6)


def test_clones_in_threads_decode_as_one_alone(session: trivium.Session):
    wanted = [words(session.clone(), 30, first) for first in range(6)]
    clones = [session.clone() for _ in wanted]
    found: dict[int, list[int]] = {}

    def work(first: int) -> None:
        for _ in range(3):
            found[first] = words(clones[first], 30, first)
            clones[first].unbind_state()

    threads = [threading.Thread(target=work, args=(first,)) for first in range(len(wanted))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[first] for first in range(len(wanted))] == wanted
    assert all(len(clone._plans._kept) == MOST_PLANS for clone in clones if clone._plans)
