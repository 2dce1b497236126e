"""Rules of recurrent layers against ONNX Runtime, where ONNX's own cases do not reach."""

import numpy as np
import pytest
from trivium.test.unit.compiler.frontends.onnx.graphs import array
from trivium.test.unit.compiler.frontends.onnx.single_node import agree

pytest.importorskip("onnxruntime")


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize(("op", "gates", "states"), [("RNN", 1, 1), ("GRU", 3, 1), ("LSTM", 4, 2)])
def test_recurrent_layers(op: str, gates: int, states: int, direction: str) -> None:
    count = 2 if direction == "bidirectional" else 1
    operands = [
        array(5, 3, 4),
        array(count, gates * 6, 4, seed=1),
        array(count, gates * 6, 6, seed=2),
        array(count, 2 * gates * 6, seed=3),
        np.array([5, 2, 4], np.int32),
        *(array(count, 3, 6, seed=4 + i) for i in range(states)),
    ]
    given = {"hidden_size": 6, "direction": direction}
    agree(op, operands, 7, 1 + states, tolerance=1e-4, **given)
    agree(op, operands[:3], 14, 1 + states, tolerance=1e-4, **given, clip=0.5)
    if op == "GRU":
        agree(op, operands, 14, 2, tolerance=1e-4, **given, linear_before_reset=1)
    if op == "LSTM":
        peepholes = array(count, 18, seed=9)
        agree(op, [*operands, peepholes], 14, 3, tolerance=1e-4, **given)
        agree(op, operands, 14, 3, tolerance=1e-4, **given, input_forget=1)


def test_recurrent_layers_with_other_activations() -> None:
    operands = [array(5, 3, 4), array(1, 24, 4, seed=1), array(1, 24, 6, seed=2)]
    agree(
        "LSTM",
        operands,
        14,
        3,
        tolerance=1e-4,
        hidden_size=6,
        activations=["HardSigmoid", "Affine", "LeakyRelu"],
        activation_alpha=[0.3, 0.5, 0.2],
        activation_beta=[0.4, 0.1],
    )
