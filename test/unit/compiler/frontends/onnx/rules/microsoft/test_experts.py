"""Mixtures of experts: those that ONNX Runtime computes here, and others by numpy."""

from typing import Any

import numpy as np
import pytest
import trivium
from microsoft_nodes import Array, check, compiled, feeds_of, floats, node_model

EXPERTS, HIDDEN, INNER, ROWS = 5, 32, 48, 7
X, ROUTER = floats(ROWS, HIDDEN), floats(ROWS, EXPERTS)


def matrices(*shape: int) -> Array:
    return floats(*shape) * np.float32(0.3)


FIRST, SECOND = matrices(EXPERTS, INNER, HIDDEN), matrices(EXPERTS, HIDDEN, INNER)
WIDE, THIRD = matrices(EXPERTS, 2 * INNER, HIDDEN), matrices(EXPERTS, INNER, HIDDEN)
BIASES = [floats(EXPERTS, n) for n in (INNER, HIDDEN, 2 * INNER, INNER)]


@pytest.mark.parametrize("activation", ["relu", "gelu", "silu", "identity"])
@pytest.mark.parametrize("normalized", [0, 1])
def test_experts_are_those_of_onnxruntime(activation: str, normalized: int) -> None:
    inputs = [X, ROUTER, FIRST, BIASES[0], SECOND, BIASES[1]]
    given = {"activation_type": activation, "normalize_routing_weights": normalized}
    check("MoE", inputs, k=2, **given)


def test_gates_by_turns_are_those_of_onnxruntime() -> None:
    inputs = [X.reshape(1, ROWS, HIDDEN), ROUTER, WIDE, BIASES[2], SECOND, None]
    check("MoE", inputs, k=3, activation_type="swiglu", swiglu_fusion=1)
    limits = {"swiglu_limit": 0.5, "activation_alpha": 1.3, "activation_beta": 0.7}
    check("MoE", inputs, k=1, activation_type="swiglu", swiglu_fusion=1, **limits)


def packed(numbers: Array, bits: int) -> Array:
    """Pack numbers of the last axis into bytes, the first one in the lowest bits."""
    count = 8 // bits
    missing = -numbers.shape[-1] % count
    filled = np.pad(numbers, [(0, 0)] * (numbers.ndim - 1) + [(0, missing)])
    apart = filled.reshape(*filled.shape[:-1], -1, count)
    return (apart << np.arange(0, 8, bits, dtype=np.uint8)).sum(-1).astype(np.uint8)


def rounded(w: Array, bits: int, block: int, zeros: Array | None) -> tuple[Array, Array, Array]:
    """Return packed numbers, scales, and what they stand for."""
    apart = w.reshape(*w.shape[:2], -1, block or w.shape[2])
    half = 2 ** (bits - 1)
    scales = np.abs(apart).max(-1, keepdims=True) / (half - 1)
    zero = half if zeros is None else zeros.reshape(*apart.shape[:3], 1)
    numbers = np.clip(np.rint(apart / scales) + zero, 0, 2 * half - 1).astype(np.uint8)
    exact = ((numbers.astype(np.float32) - zero) * scales).reshape(w.shape)
    return (
        packed(numbers.reshape(w.shape), bits),
        scales[..., 0] if block else scales[..., 0, 0],
        exact,
    )


@pytest.mark.parametrize(("bits", "block"), [(4, 0), (4, 16), (8, 0)])
def test_experts_of_few_bits_are_those_of_onnxruntime(bits: int, block: int) -> None:
    (a, a_scales, _), (b, b_scales, _) = (rounded(w, bits, block, None) for w in (WIDE, SECOND))
    inputs = [X, ROUTER, a, a_scales, BIASES[2], b, b_scales, BIASES[1]]
    given = {"block_size": block} if block else {}
    given |= {"k": 2, "expert_weight_bits": bits, "normalize_routing_weights": 1}
    check("QMoE", inputs, activation_type="swiglu", swiglu_fusion=1, **given)


def mixture(first: Array, second: Array, third: Array | None, fusion: int = 2) -> Array:
    """Compute two experts with a silu for each row, by numpy in f64."""
    x = X.astype(np.float64)
    chances = np.exp(ROUTER - ROUTER.max(-1, keepdims=True).astype(np.float64))
    chances /= chances.sum(-1, keepdims=True)
    y = np.zeros_like(x)
    for row, chance in enumerate(chances):
        for expert in np.argsort(-chance)[:2]:
            gate = first[expert] @ x[row]
            other = third[expert] @ x[row] if third is not None else 1
            if third is None and fusion:
                gate, other = np.split(gate, 2)
            y[row] += chance[expert] * (second[expert] @ (gate / (1 + np.exp(-gate)) * other))
    return y


@pytest.mark.parametrize(
    ("inputs", "given", "wanted"),
    [
        (
            [X, ROUTER, FIRST, None, SECOND, None, THIRD],
            {"activation_type": "silu"},
            mixture(FIRST, SECOND, THIRD),
        ),
        (
            [X, ROUTER, FIRST, None, SECOND, None, THIRD],
            {"activation_type": "swiglu"},
            mixture(FIRST, SECOND, THIRD),
        ),
        (
            [X, ROUTER, WIDE, None, SECOND],
            {"activation_type": "swiglu", "swiglu_fusion": 2},
            mixture(WIDE, SECOND, None),
        ),
    ],
    ids=["a third matrix", "a third matrix with swiglu", "gates side by side"],
)
def test_gates_that_onnxruntime_has_on_gpus(inputs: Any, given: Any, wanted: Array) -> None:
    (got,) = compiled("MoE", inputs, k=2, **given)
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize(("bits", "block"), [(2, 16), (4, 16), (4, 0), (8, 16)])
def test_zero_points_of_rows_and_blocks(bits: int, block: int) -> None:
    made: list[Array] = []
    exact: list[Array] = []
    zeros: list[Array] = []
    for w in (FIRST, SECOND):
        count = w.shape[2] // block if block else 1
        drawn = np.random.default_rng(3).integers(0, 1 << bits, (*w.shape[:2], count))
        numbers, scales, whole = rounded(w, bits, block, drawn.astype(np.float32))
        made += [numbers, scales, None]  # pyright: ignore[reportArgumentType]
        exact.append(whole)
        zeros.append(packed((drawn if block else drawn[..., 0]).astype(np.uint8), bits))
    inputs = [X, ROUTER, *made, None, None, None, zeros[0], zeros[1]]
    given = {"block_size": block} if block else {}
    (got,) = compiled("QMoE", inputs, k=2, activation_type="silu", expert_weight_bits=bits, **given)
    wanted = mixture(*exact, None, fusion=0)
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)


SIX = [X, ROUTER, FIRST, None, SECOND, None]
BYTES = [X, ROUTER, packed(np.zeros(FIRST.shape, np.uint8), 4), floats(EXPERTS, INNER), None]
BYTES += [packed(np.zeros(SECOND.shape, np.uint8), 4), floats(EXPERTS, HIDDEN)]


@pytest.mark.parametrize(
    ("op", "inputs", "given", "fault"),
    [
        ("MoE", SIX, {"k": 6}, "chooses 6 experts, must be at most 5"),
        ("MoE", SIX, {"use_sparse_mixer": 1}, "has use_sparse_mixer"),
        ("MoE", SIX, {"activation_type": "geglu"}, "has activation_type 'geglu', must be one of"),
        ("MoE", SIX, {"activation_type": "swiglu"}, "has swiglu_fusion 0, must have fc3"),
        ("MoE", [*SIX, THIRD], {}, "has fc3 and activation_type 'relu', must be silu or swiglu"),
        ("MoE", [X, ROUTER[:3], *SIX[2:]], {}, r"has router_probs tensor<3x5xf32>, must be \[7, "),
        ("QMoE", BYTES, {"quant_type": "fp4"}, "has quant_type 'fp4', must be 'int'"),
        ("QMoE", BYTES, {"expert_weight_bits": 3}, "has fc1 of 3 bits, must be of 2, 4, 8"),
        ("QMoE", BYTES, {"block_size": 16}, "has scales .* of fc1, must be"),
        ("QMoE", BYTES, {"weights_prepacked": 1}, "has weights_prepacked 1"),
    ],
)
def test_what_is_refused(op: str, inputs: Any, given: Any, fault: str) -> None:
    model = node_model(op, inputs, ["y"], **given)
    with pytest.raises(trivium.CompileError, match=fault):
        trivium.compile(model)


def test_matrices_of_few_bits_stay_so_in_packages() -> None:
    constants = {name: each for name, each in feeds_of(BYTES).items() if name not in ("i0", "i1")}
    model = node_model("QMoE", BYTES, ["y"], activation_type="silu")
    session = trivium.compile(model, constants=constants)
    names = [port.name for port in session.manifest.inputs]
    assert names == ["i0", "i1"]
    memory = session.manifest.memory
    assert memory.weight_bytes == sum(each.nbytes for each in constants.values())
    assert memory.prepared_bytes >= FIRST.nbytes + SECOND.nbytes  # when a session begins
