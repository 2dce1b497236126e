"""Branches and loops in one another, drawn at random, against ONNX Runtime."""

from collections.abc import Sequence

import numpy as np
import onnx
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from trivium.test.unit.compiler.frontends.onnx.control_flow.control_flow_models import (
    I64,
    check,
    graph,
)
from trivium.test.unit.compiler.frontends.onnx.graphs import array, info, model, node

BOOL = onnx.TensorProto.BOOL
SHAPE = (2, 3)


class Drawn:
    """Draw graphs whose values are all tensors of one shape; names are used once."""

    def __init__(self, draw: DrawFn) -> None:
        self.draw = draw
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def pick(self, seen: Sequence[str], count: int) -> list[str]:
        return [self.draw(st.sampled_from(seen)) for _ in range(count)]

    def nodes(self, seen: Sequence[str], depth: int) -> tuple[list[onnx.NodeProto], list[str]]:
        """Return nodes on some of the values that are seen, and all that is seen behind them."""
        made: list[onnx.NodeProto] = []
        known = list(seen)
        for _ in range(self.draw(st.integers(1, 4))):
            kinds = ["Add", "Mul", "Tanh", "Identity", *(["If", "Loop"] * (depth > 0))]
            kind = self.draw(st.sampled_from(kinds))
            if kind == "If":
                made.append(self.branch(known, depth))
            elif kind == "Loop":
                made.append(self.loop(known, depth))
            else:
                operands = self.pick(known, 2 if kind in ("Add", "Mul") else 1)
                made.append(node(kind, " ".join(operands), self.name()))
            known += made[-1].output
        return made, known

    def branch(self, seen: Sequence[str], depth: int) -> onnx.NodeProto:
        count = self.draw(st.integers(1, 2))
        bodies: list[onnx.GraphProto] = []
        for _ in range(2):
            nodes, known = self.nodes(seen, depth - 1)
            bodies.append(self.body(nodes, [], self.pick(known, count)))
        outputs = " ".join(self.name() for _ in range(count))
        condition = self.draw(st.sampled_from(["b_0", "b_1"]))
        return node("If", condition, outputs, then_branch=bodies[0], else_branch=bodies[1])

    def loop(self, seen: Sequence[str], depth: int) -> onnx.NodeProto:
        count = self.draw(st.integers(1, 3))
        carried = [self.name() for _ in range(count)]
        number, going, again = "i_" + self.name(), "b_" + self.name(), "b_" + self.name()
        nodes, known = self.nodes([*seen, *carried], depth - 1)
        nodes.append(node("Identity", going, again))
        results = self.pick(known, count)
        body = self.body(nodes, [number, going, *carried], results, first=[again])
        outputs = " ".join(self.name() for _ in range(count))
        trips = self.draw(st.sampled_from(["i_0", "i_1"]))
        return node("Loop", f"{trips} _ {' '.join(self.pick(seen, count))}", outputs, body=body)

    def body(
        self,
        nodes: list[onnx.NodeProto],
        inputs: Sequence[str],
        results: Sequence[str],
        first: Sequence[str] = (),
    ) -> onnx.GraphProto:
        """Return a subgraph whose outputs are copies, since ONNX wants a name for each."""
        names = [self.name() for _ in results]
        copies = [node("Identity", a, b) for a, b in zip(results, names, strict=True)]
        return graph([*nodes, *copies], inputs, [*first, *names])


@st.composite
def models(draw: DrawFn) -> onnx.ModelProto:
    drawn = Drawn(draw)
    nodes, known = drawn.nodes(["x", "z"], 3)
    outputs = list(dict.fromkeys(drawn.pick(known, 3)))
    nodes += [node("Identity", value, f"out_{value}") for value in outputs]
    inputs = {"x": SHAPE, "z": SHAPE}
    scalars = {n: info(n, [], I64 if n[0] == "i" else BOOL) for n in ("i_0", "i_1", "b_0", "b_1")}
    return model(nodes, {**inputs, **scalars}, [f"out_{value}" for value in outputs], opset=17)


@settings(max_examples=12)
@given(models(), st.lists(st.integers(0, 3), min_size=2, max_size=2), st.integers(0, 3))
def test_bodies_in_bodies(made: onnx.ModelProto, trips: list[int], choices: int) -> None:
    feeds = {
        "x": array(*SHAPE),
        "z": array(*SHAPE, seed=1),
        "i_0": np.array(trips[0]),
        "i_1": np.array(trips[1]),
        "b_0": np.array(bool(choices & 1)),
        "b_1": np.array(bool(choices & 2)),
    }
    check(made, feeds, compiled=True)
