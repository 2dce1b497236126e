"""Attention with masks computes what ONNX Runtime makes of its ops one by one, for every mask.

Scores are sums of whole numbers times a power of two: no order of summation changes them, so that
what a mask makes of them is seen to the last digit.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import trivium
from trivium.compiler.frontends.onnx import import_onnx
from trivium.dialects import tri
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import ops
from trivium.dialects.core.tensor import Array
from trivium.passes.default import default_pipeline
from trivium.passes.pipeline import Pipeline
from trivium.test.unit.compiler.frontends.onnx.graphs import info, model, node

QUERIES, KEYS, WIDTH, VALUES = 5, 7, 4, 3
HEADS = (2, 2)
LOWEST = float(np.finfo(np.float32).min)
FILLS = (-np.inf, LOWEST, -1e9, -1e4, -5.0)
MAGNITUDES = (2.0**-10, 1.0, 2.0**7, 2.0**28)

Feeds = dict[str, Array]
TRIANGLE = np.tri(QUERIES, KEYS, dtype=bool)


def where(condition: str, a: str, b: str, y: str = "m") -> list[onnx.NodeProto]:
    return [node("Where", f"{condition} {a} {b}", y)]


def added(mask: str, x: str = "s", y: str = "m") -> list[onnx.NodeProto]:
    """Add the fill where a mask is true."""
    return [*where(mask, "fill", "zero", f"{y}_"), node("Add", f"{x} {y}_", y)]


def times(number: str, x: str = "c", y: str = "m") -> list[onnx.NodeProto]:
    return [node("Mul", f"{x} {number}", y)]


STYLES: dict[str, list[onnx.NodeProto]] = {
    "selects others": where("drop", "fill", "s"),
    "selects": [node("Not", "drop", "keep"), *where("keep", "s", "fill")],
    "selects, then scales": [*where("drop", "fill", "s", "c"), *times("third")],
    "selects, then divides": [*where("drop", "fill", "s", "c"), node("Div", "c third", "m")],
    "selects twice": [*where("pad", "fill", "s", "c"), *where("drop", "fill", "c")],
    "selects twice, by two numbers": [
        *where("pad", "other", "s", "c"),
        *where("drop", "fill", "c"),
    ],
    "adds": added("drop"),
    "adds, then scales": [*added("drop", y="c"), *times("quarter")],
    "adds twice": [*added("pad", y="c"), *added("drop", "c")],
    "adds a bias, then a mask": [node("Add", "s bias", "c"), *added("drop", "c")],
    "adds a bias, then selects": [node("Add", "s bias", "c"), *where("drop", "fill", "c")],
    "selects, then adds": [*where("pad", "fill", "s", "c"), *added("drop", "c")],
    "drops by -inf, then selects": [*where("pad", "never", "s", "c"), *where("drop", "fill", "c")],
    "is causal": where("triangle", "s", "fill"),
    "is causal by addition": [node("Add", "s triangle_added", "m")],
    "is causal, then selects": [*where("triangle", "s", "fill", "c"), *where("drop", "fill", "c")],
    "is causal, then adds": [*where("triangle", "s", "fill", "c"), *added("pad", "c")],
    "selects, then is causal": [*where("drop", "fill", "s", "c"), *where("triangle", "c", "never")],
    "is causal by -inf, then selects": [
        *where("triangle", "s", "never", "c"),
        *where("drop", "fill", "c"),
    ],
}
"""Nodes that make masked scores `m` from scores `s`."""


@functools.cache
def attention(style: str, fill: float) -> onnx.ModelProto:
    nodes = [node("MatMul", "q k", "p"), *times("half", "p", "s"), *STYLES[style]]
    nodes += [node("Softmax", "m", "w", axis=-1), node("MatMul", "w v", "y")]
    inputs = {
        "q": info("q", (*HEADS, QUERIES, WIDTH)),
        "k": info("k", (*HEADS, WIDTH, KEYS)),
        "v": info("v", (*HEADS, KEYS, VALUES)),
        "drop": info("drop", (HEADS[0], 1, QUERIES, KEYS), onnx.TensorProto.BOOL),
        "pad": info("pad", (HEADS[0], 1, 1, KEYS), onnx.TensorProto.BOOL),
        "bias": info("bias", (HEADS[1], QUERIES, KEYS)),
    }
    numbers = {"fill": fill, "other": -1e5, "never": -np.inf, "zero": 0, "half": 0.5}
    numbers |= {"quarter": 0.25, "third": 1 / 3}
    constants: Feeds = {name: np.float32(number) for name, number in numbers.items()}
    constants |= {
        "triangle": TRIANGLE,
        "triangle_added": np.where(TRIANGLE, 0, np.float32(fill)).astype(np.float32),
    }
    read = {name for each in nodes for name in each.input}
    return model(
        nodes,
        {name: value for name, value in inputs.items() if name in read},
        initializers={name: value for name, value in constants.items() if name in read},
        opset=13,
    )


def feeds(made: onnx.ModelProto) -> Iterator[Feeds]:
    """Draw inputs: all keys dropped, none, some, all of some queries; scores of all sizes."""
    random = np.random.default_rng(0)
    drop, pad = (HEADS[0], 1, QUERIES, KEYS), (HEADS[0], 1, 1, KEYS)
    some = random.random(drop) < 0.4
    rows = some | (np.arange(QUERIES) % 2 == 0)[:, None]
    names = {each.name for each in made.graph.input}
    for number, magnitude in enumerate(MAGNITUDES):
        q = random.integers(-9, 10, (*HEADS, QUERIES, WIDTH)) * magnitude
        drops = (np.ones(drop, bool), np.zeros(drop, bool), some, rows)
        for index, dropped in enumerate(drops):
            padded = np.ones(pad, bool) if (index + number) % 3 == 0 else random.random(pad) < 0.4
            drawn = {
                "q": q.astype(np.float32),
                "k": random.integers(-9, 10, (*HEADS, WIDTH, KEYS)).astype(np.float32),
                "v": random.normal(size=(*HEADS, KEYS, VALUES)).astype(np.float32),
                "drop": dropped,
                "pad": padded,
                "bias": random.integers(-99, 99, (HEADS[1], QUERIES, KEYS)).astype(np.float32),
            }
            yield {name: array for name, array in drawn.items() if name in names}


def expected(made: onnx.ModelProto) -> Callable[[Feeds], Array]:
    """Return what runs the ops as they are; queries that see nothing give zeros, as documented."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(made.SerializeToString(), options)

    def compute(fed: Feeds) -> Array:
        (y,) = session.run(None, fed)
        return np.where(np.isnan(y), 0, y)

    return compute


CASES = [(style, fill) for style in STYLES for fill in FILLS]


@pytest.mark.parametrize(("style", "fill"), CASES)
def test_every_mask_means_what_it_does_before_fusion(style: str, fill: float) -> None:
    made = attention(style, fill)
    compute = expected(made)
    with new_context():
        module = import_onnx(made)
        Pipeline(default_pipeline(2)).run(module)
        found = [op for op in ops(module.operation) if isinstance(op, (tri.Attention, tri.Softmax))]
        assert [op.op_name for op in found] == ["tri.attention"]
        for fed in feeds(made):
            np.testing.assert_allclose(run(module, list(fed.values()))[0], compute(fed), 1e-5, 1e-6)


BUILDS: dict[str, dict[str, Any]] = {
    "fast": {},
    "strict": {"math": "strict"},
    "host": {"target": "host"},
    "unfused": {"opt_level": 0},
}
REST = list(BUILDS)[1:]
COMPILED = [(style, -1e9, "fast") for style in STYLES]
COMPILED += [(style, LOWEST, "fast") for style in ("adds twice", "selects, then adds", "is causal")]
COMPILED += [(style, -np.inf, "fast") for style in ("selects", "adds", "is causal, then adds")]
COMPILED += [(style, -1e9, build) for style in ("selects others", "adds twice") for build in REST]


@pytest.mark.parametrize(("style", "fill", "build"), COMPILED)
def test_kernels_agree(style: str, fill: float, build: str) -> None:
    made = attention(style, fill)
    compute, session = expected(made), trivium.compile(made, **BUILDS[build])
    for fed in feeds(made):
        got = session.run(fed)["y"]
        np.testing.assert_allclose(got, compute(fed), 1e-5, 1e-6)
