"""Normalisations of ONNX Runtime, against ONNX Runtime."""

import numpy as np
import pytest
import trivium
from trivium.dialects.core.errors import CompileError
from trivium.test.unit.compiler.frontends.onnx.rules.microsoft.microsoft_nodes import (
    Array,
    agree,
    by_onnxruntime,
    check,
    feeds_of,
    floats,
    node_model,
    refused,
    run_both,
    same,
)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("op", ["SkipLayerNormalization", "SkipSimplifiedLayerNormalization"])
def test_norms_of_sums(op: str, bias: bool) -> None:
    inputs: list[Array | None] = [floats(2, 3, 16), floats(2, 3, 16), floats(16)]
    inputs += [floats(16)] if op == "SkipLayerNormalization" else []
    check(op, [*inputs, floats(16)] if bias else inputs, 4, epsilon=1e-5)


def test_simplified_norm() -> None:
    check("SimplifiedLayerNormalization", [floats(2, 3, 16), floats(16)], domain="", axis=-1)


@pytest.mark.parametrize("activation", ["silu", "swish", "sigmoid"])
@pytest.mark.parametrize("size", [8, 4, 1])
def test_groups_with_gates(activation: str, size: int) -> None:
    inputs = [floats(2, 3, 8), floats(size), floats(2, 3, 8)]
    agree("GatedRMSNorm", inputs, activation=activation, epsilon=1e-3)


@pytest.mark.parametrize(
    ("shape", "scale", "branches"),
    [
        ((2, 3, 4), None, 0),
        ((3, 4), (4,), 0),
        ((2, 3, 4), (3, 4), 0),
        ((2, 3, 4), (12,), 0),
        ((2, 12), None, 3),
        ((12,), (4,), 3),
        ((2, 3, 12), (12,), 3),
    ],
)
def test_branches(shape: tuple[int, ...], scale: tuple[int, ...] | None, branches: int) -> None:
    inputs = [floats(*shape), None if scale is None else floats(*scale)]
    given = {"num_branches": branches} if branches else {}
    agree("BranchwiseRMSNorm", inputs, **given)


def test_groups_and_branches_as_native_code() -> None:
    check("GatedRMSNorm", [floats(2, 3, 12), floats(4), floats(2, 3, 12)])
    check("BranchwiseRMSNorm", [floats(2, 3, 12), floats(12)], num_branches=3)


def test_groups_and_branches_of_halves_are_normalised_in_f32() -> None:
    x, scale = (40 * floats(5, 16)).astype(np.float16), floats(8)
    halves = [x, scale.astype(np.float16), floats(5, 16).astype(np.float16)]
    for pairs in (
        run_both("GatedRMSNorm", halves),
        run_both("BranchwiseRMSNorm", [x, scale], num_branches=2),
    ):
        ((got, wanted),) = pairs
        assert got.dtype == wanted.dtype == np.float16
        np.testing.assert_allclose(got, wanted, rtol=2e-3, atol=1e-6)


@pytest.mark.parametrize("op", ["GatedRMSNorm", "BranchwiseRMSNorm"])
def test_any_number_of_rows(op: str) -> None:
    gated = op == "GatedRMSNorm"

    def inputs(rows: int) -> list[Array]:
        return [floats(rows, 6), floats(3), *([floats(rows, 6)] if gated else [])]

    names = {0: ("N", None)} | ({2: ("N", None)} if gated else {})
    given = {} if gated else {"num_branches": 2}
    model = node_model(op, inputs(2), ["o"], names=names, **given)
    session = trivium.compile(model)
    for rows in (5, 1):
        feeds = feeds_of(inputs(rows))
        same([session.run(feeds)["o"]], by_onnxruntime(model, feeds))


def test_gates_of_another_shape_are_refused() -> None:
    message = "node has input tensor<2x4xf32>, scale tensor<4xf32> and gates tensor<2x1xf32>, must"
    refused(message, "GatedRMSNorm", [floats(2, 4), floats(4), floats(2, 1)])


@pytest.mark.parametrize(
    ("scale", "message"),
    [((1, 4), "has scale tensor<1x4xf32>, must have rank 1"), ((3,), "must have groups of 3")],
)
def test_scales_of_no_group_are_refused(scale: tuple[int, ...], message: str) -> None:
    with pytest.raises(CompileError, match=f"node: error: 'GatedRMSNorm' node .*{message}"):
        run_both("GatedRMSNorm", [floats(2, 4), floats(*scale), floats(2, 4)])


def test_other_gates_are_refused() -> None:
    message = "node activation is 'tanh', must be one of silu, swish, sigmoid"
    refused(message, "GatedRMSNorm", [floats(4), floats(4), floats(4)], activation="tanh")


@pytest.mark.parametrize(
    ("shape", "scale", "branches", "message"),
    [
        ((4,), 4, 0, "must have an axis of branches"),
        ((2, 4), 4, 3, "must have 3 branches in its last axis"),
        ((2, 4), 4, -1, "must have -1 branches in its last axis"),
        ((2, 4), 3, 0, "has scale tensor<3xf32>, must be for one or all of 2 branches of 4"),
    ],
)
def test_what_are_no_branches_is_refused(
    shape: tuple[int, ...], scale: int, branches: int, message: str
) -> None:
    given = {"num_branches": branches} if branches else {}
    with pytest.raises(CompileError, match=f"node: error: 'BranchwiseRMSNorm' node .*{message}"):
        run_both("BranchwiseRMSNorm", [floats(*shape), floats(scale)], **given)
