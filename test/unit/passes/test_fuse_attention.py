"""Attention recognised in what exporters write computes what torch's own attention computes."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from ir_graphs import module_of, names, run_all
from trivium.dialects import tri
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.tensor import Array, Tensor
from trivium.passes.building import add, div, mat_mul, mul, reshape, transpose, where
from trivium.passes.eliminate import Eliminate
from trivium.passes.fold.fold_repeated_heads import FoldRepeatedHeads
from trivium.passes.fold.fold_shapes import FoldShapes
from trivium.passes.fuse.fuse_attention import FuseAttention

attend: Any = torch.nn.functional.scaled_dot_product_attention
RANDOM = np.random.default_rng(3)
Q, K, V = (RANDOM.normal(size=(2, 3, n, d)).astype(np.float32) for n, d in ((5, 4), (6, 4), (6, 7)))
KEEP = RANDOM.random((2, 1, 5, 6)) < 0.6
KEEP[0, 0, 2] = False  # a query that sees no key
BIAS = RANDOM.normal(size=(3, 5, 6)).astype(np.float32)
PASSES = (FuseAttention(), FoldShapes(), FoldRepeatedHeads(), FoldShapes(), Eliminate())
SCALE = 0.3
LOWEST = float(np.finfo(np.float32).min)

Scores = Callable[[ir.Value, ir.Value], ir.Value]


def constant(array: Array) -> ir.Value:
    return tri.Constant.build(value=array).y


def turned(k: ir.Value) -> ir.Value:
    return transpose(k, 0, 1, 3, 2)


def scaled(q: ir.Value, k: ir.Value) -> ir.Value:
    return mul(mat_mul(q, turned(k)), SCALE)


def flattened(k: ir.Value) -> ir.Value:
    """Transpose the keys as torch's newer exporter does: in three dimensions."""
    return reshape(transpose(reshape(k, 6, 6, 4), 0, 2, 1), 2, 3, 4, 6)


def attention(scores: Scores, *, guard: bool = False) -> Callable[..., ir.Value]:
    def build(q: ir.Value, k: ir.Value, v: ir.Value) -> ir.Value:
        weights = tri.Softmax.build(scores(q, k), axis=-1).y
        if guard:
            weights = where(tri.IsNan.build(weights).y, 0, weights)
        return mat_mul(weights, v)

    return build


def low(value: float) -> ir.Value:
    return constant(np.array(value, np.float32))


def expected(mask: Array | None = None, **options: Any) -> Array:
    torched = None if mask is None else torch.from_numpy(mask)
    q, k, v = map(torch.from_numpy, (Q, K, V))
    options.setdefault("scale", SCALE)
    return attend(q, k, v, attn_mask=torched, **options).numpy()


PLAIN: dict[str, Scores] = {
    "scale at the scores": scaled,
    "scale divides": lambda q, k: div(mat_mul(q, turned(k)), 1 / SCALE),
    "scale at the queries": lambda q, k: mat_mul(mul(q, SCALE), turned(k)),
    "scale at the keys": lambda q, k: mat_mul(q, mul(turned(k), SCALE)),
    "root at both": lambda q, k: mat_mul(
        mul(q, math.sqrt(SCALE)), mul(turned(k), math.sqrt(SCALE))
    ),
    "keys flattened": lambda q, k: mat_mul(
        mul(q, math.sqrt(SCALE)), mul(flattened(k), math.sqrt(SCALE))
    ),
}


@pytest.mark.usefixtures("context")
@pytest.mark.parametrize("scores", PLAIN.values(), ids=PLAIN)
def test_scales(scores: Scores) -> None:
    module = module_of(attention(scores), *map(Tensor.of, (Q, K, V)))
    assert names(run_all(module, PASSES)) == ["attention"]
    np.testing.assert_allclose(run(module, [Q, K, V])[0], expected(), rtol=1e-5, atol=1e-6)


MASKED: dict[str, tuple[Scores, Array]] = {
    "added": (lambda q, k: add(scaled(q, k), constant(BIAS)), BIAS),
    "added before a scale": (
        lambda q, k: mul(add(mul(mat_mul(q, turned(k)), SCALE / 2), constant(BIAS)), 2),
        BIAS * 2,
    ),
    "added twice": (
        lambda q, k: add(add(scaled(q, k), constant(BIAS)), constant(BIAS)),
        BIAS * 2,
    ),
    "selects": (lambda q, k: where(constant(KEEP), scaled(q, k), -math.inf), KEEP),
    "selects the others": (lambda q, k: where(constant(~KEEP), -math.inf, scaled(q, k)), KEEP),
    "adds a selection": (
        lambda q, k: add(scaled(q, k), where(constant(KEEP), 0, low(-math.inf))),
        KEEP,
    ),
    "adds and selects": (
        lambda q, k: where(constant(KEEP), add(scaled(q, k), constant(BIAS)), -math.inf),
        np.where(KEEP, BIAS, np.float32(-np.inf)),
    ),
}


@pytest.mark.usefixtures("context")
@pytest.mark.parametrize(("scores", "mask"), MASKED.values(), ids=MASKED)
def test_masks(scores: Scores, mask: Array) -> None:
    module = module_of(attention(scores, guard=True), *map(Tensor.of, (Q, K, V)))
    run_all(module, PASSES)
    assert names(module).count("attention") == 1
    assert "softmax" not in names(module)
    want = np.nan_to_num(expected(mask))  # torch gives NaN or zeros, by version and by mask
    np.testing.assert_allclose(run(module, [Q, K, V])[0], want, rtol=1e-5, atol=1e-6)


@pytest.mark.usefixtures("context")
def test_very_low_numbers_stay_numbers() -> None:
    """A query that sees no key looks at all alike, as it did before."""
    build = attention(lambda q, k: where(constant(KEEP), scaled(q, k), LOWEST))
    module = module_of(build, *map(Tensor.of, (Q, K, V)))
    before = run(module, [Q, K, V])[0]
    assert "attention" in names(run_all(module, PASSES))
    np.testing.assert_allclose(run(module, [Q, K, V])[0], before, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(before[0, :, 2], V[0].mean(1), rtol=1e-5, atol=1e-6)


def attention_in(module: Module) -> tri.Attention:
    (op,) = (op for op in ops(module.operation) if isinstance(op, tri.Attention))
    return op


@pytest.mark.usefixtures("context")
@pytest.mark.parametrize("dropped", [-math.inf, LOWEST])
@pytest.mark.parametrize("adds", [False, True])
def test_constant_triangle_is_causal(dropped: float, adds: bool) -> None:
    triangle = np.tri(5, 6, dtype=bool)[None]
    added = np.where(triangle, 0, np.float32(dropped)).astype(np.float32)

    def masked(q: ir.Value, k: ir.Value) -> ir.Value:
        scores = scaled(q, k)
        return add(scores, constant(added)) if adds else where(constant(triangle), scores, dropped)

    module = module_of(attention(masked), *map(Tensor.of, (Q, K, V)))
    assert names(run_all(module, PASSES)) == ["attention"]
    op = attention_in(module)
    assert op.causal
    assert not op.masks
    want = expected(is_causal=True)
    np.testing.assert_allclose(run(module, [Q, K, V])[0], want, rtol=1e-5, atol=1e-6)


TRIANGLE = np.tri(5, 6, dtype=bool)
NOT_CAUSAL: dict[str, tuple[Scores, tuple[float, ...]]] = {
    "a number that scores may reach": (
        lambda q, k: where(constant(TRIANGLE), scaled(q, k), -1e9),
        (-1e9,),
    ),
    "the lowest number beside another mask": (
        lambda q, k: where(constant(KEEP), where(constant(TRIANGLE), scaled(q, k), LOWEST), -1e9),
        (LOWEST, -1e9),
    ),
    "a number afterwards": (
        lambda q, k: where(
            constant(KEEP), where(constant(TRIANGLE), scaled(q, k), -math.inf), LOWEST
        ),
        (-math.inf, LOWEST),
    ),
}


@pytest.mark.usefixtures("context")
@pytest.mark.parametrize(("scores", "fills"), NOT_CAUSAL.values(), ids=NOT_CAUSAL)
def test_triangle_stays_a_mask_where_that_differs(scores: Scores, fills: tuple[float, ...]) -> None:
    module = module_of(attention(scores), *map(Tensor.of, (Q, K, V)))
    run_all(module, PASSES)
    op = attention_in(module)
    assert not op.causal
    assert op.fills == fills


@pytest.mark.usefixtures("context")
def test_nothing_or_minus_infinity_may_be_added_before_any_scale() -> None:
    near = TRIANGLE & ~np.tri(5, 6, -3, dtype=bool)
    added = np.where(near, 0, np.float32(-np.inf)).astype(np.float32)
    build = attention(lambda q, k: mul(add(mat_mul(q, turned(k)), constant(added)), SCALE))
    module = module_of(build, *map(Tensor.of, (Q, K, V)))
    assert "attention" in names(run_all(module, PASSES))
    np.testing.assert_allclose(run(module, [Q, K, V])[0], expected(near), rtol=1e-5, atol=1e-6)


@pytest.mark.usefixtures("context")
@pytest.mark.filterwarnings("error")
def test_a_triangle_may_overflow_to_minus_infinity() -> None:
    added = np.where(TRIANGLE, 0, np.float32(LOWEST)).astype(np.float32)
    build = attention(lambda q, k: mul(add(mat_mul(q, turned(k)), constant(added)), 2))
    module = module_of(build, *map(Tensor.of, (Q, K, V)))
    run_all(module, PASSES)
    assert attention_in(module).causal
    want = expected(is_causal=True, scale=2)
    np.testing.assert_allclose(run(module, [Q, K, V])[0], want, rtol=1e-5, atol=1e-6)


@pytest.mark.usefixtures("context")
def test_minus_infinity_is_causal_after_a_number() -> None:
    module = module_of(
        attention(
            lambda q, k: where(
                constant(TRIANGLE), where(constant(KEEP), scaled(q, k), -1e9), -math.inf
            )
        ),
        *map(Tensor.of, (Q, K, V)),
    )
    run_all(module, PASSES)
    op = attention_in(module)
    assert op.causal
    assert op.fills == (-1e9,)


@pytest.mark.usefixtures("context")
@pytest.mark.parametrize(("scale", "fuses"), [(0.25, True), (-2, True), (0.3, False)])
def test_what_is_added_before_a_scale_must_be_scaled_exactly(scale: float, fuses: bool) -> None:
    """Sums of numbers that differ much are rounded, and so is a product, unless by a power of 2."""
    build = attention(lambda q, k: mul(add(mat_mul(q, turned(k)), constant(BIAS)), scale))
    module = module_of(build, *map(Tensor.of, (Q, K, V)))
    assert ("attention" in names(run_all(module, PASSES))) == fuses


@pytest.mark.usefixtures("context")
def test_triangle_of_a_window_stays_a_mask() -> None:
    near = np.tri(5, 6, dtype=bool) & ~np.tri(5, 6, -3, dtype=bool)
    build = attention(lambda q, k: where(constant(near), scaled(q, k), -math.inf))
    module = module_of(build, *map(Tensor.of, (Q, K, V)))
    run_all(module, PASSES)
    assert not attention_in(module).causal
    want = expected(near)
    np.testing.assert_allclose(run(module, [Q, K, V])[0], want, rtol=1e-5, atol=1e-6)


@pytest.mark.usefixtures("context")
def test_heads_that_are_repeated_are_shared() -> None:
    q = RANDOM.normal(size=(1, 6, 5, 4)).astype(np.float32)
    k, v = (RANDOM.normal(size=(1, 2, 7, 4)).astype(np.float32) for _ in range(2))

    def repeated(x: ir.Value) -> ir.Value:
        wide = tri.Expand.build(reshape(x, 1, 2, 1, 7, 4), shape=(1, 2, 3, 7, 4)).y
        return reshape(wide, 1, 6, 7, 4)

    def build(q: ir.Value, k: ir.Value, v: ir.Value) -> ir.Value:
        return attention(scaled)(q, repeated(k), repeated(v))

    module = module_of(build, *map(Tensor.of, (q, k, v)))
    assert names(run_all(module, PASSES)) == ["attention"]
    want = attend(*map(torch.from_numpy, (q, k, v)), scale=SCALE, enable_gqa=True).numpy()
    np.testing.assert_allclose(run(module, [q, k, v])[0], want, rtol=1e-5, atol=1e-6)
