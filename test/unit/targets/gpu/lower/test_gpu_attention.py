"""Kernels of attention: masks, causality, shared heads, few queries, types and orders of dims."""

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from closeness import assert_close
from compiling import assemblies
from gpu_kernels import run_group
from groups import Case
from ordered import Order, build_ordered, check, drawn
from printed import run_printed
from sources import AMPERE, HOPPER, needs_triton
from trivium.dialects import tri
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.tensor import Array
from trivium.targets.gpu import TARGET
from trivium.targets.gpu.emit.compile_kernels import kernel_passes
from trivium.targets.gpu.schedule.architecture import Architecture
from trivium.targets.gpu.schedule.attention_plan import AttentionSizes, attention_plan

FLOATS = ("float32", "float16", ml_dtypes.bfloat16, "float64")
LOWEST = float(np.finfo(np.float32).min)
Shape = tuple[int, ...]


def attention(
    q: Shape,
    k: Shape,
    values: int = 0,
    mask: Array | Sequence[Array] | None = None,
    causal: bool = False,
    dtype: Any = "float32",
    scale: float = 0.3,
    fills: tuple[float, ...] = (),
) -> Case:
    v = (*k[:-1], values or k[-1])
    numbers = [(drawn(shape) * shape[-1] ** 0.5).astype(dtype) for shape in (q, k, v)]
    masks = [] if mask is None else [mask] if isinstance(mask, np.ndarray) else list(mask)
    attributes = {"scale": scale, "causal": causal, "fills": fills}
    return Case("attention", tri.Attention, (*numbers, masks), attributes)


def run(case: Case, printed: bool = False) -> Array:
    execute = {"execute": run_printed} if printed else {}
    (made,) = run_group(
        lambda: build_ordered(case, []), case.inputs, kernel_passes(HOPPER), **execute
    )
    return made


def agree(case: Case, printed: bool = False) -> None:
    assert_close(case, run(case, printed), case.reference()[0], case.inputs)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("keys", [1, 17, 64, 150])
@pytest.mark.parametrize("queries", [1, 17, 150])
def test_lengths_need_not_be_multiples_of_blocks(queries: int, keys: int, causal: bool) -> None:
    agree(attention((2, queries, 24), (2, keys, 24), values=20, causal=causal))


@pytest.mark.parametrize("causal", [False, True])
def test_whole_blocks_of_keys_need_no_check(causal: bool) -> None:
    agree(attention((1, 3, 128, 16), (1, 3, 256, 16), causal=causal))


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("size", [1, 16, 65])
def test_all_types_are_mixed(dtype: Any, size: int) -> None:
    agree(attention((2, 40, size), (2, 70, size), causal=True, dtype=dtype))
    agree(attention((2, 1, size), (2, 600, size), dtype=dtype))


MASKS = [(20, 35), (1, 35), (20, 1), (35,), (4, 1, 35), (1, 20, 35), (2, 1, 20, 35), (2, 4, 1, 1)]


@pytest.mark.parametrize("shape", MASKS, ids=str)
def test_masks_broadcast(shape: Shape) -> None:
    for mask in (drawn(shape) * np.float32(4), drawn(shape) > 0):
        agree(attention((2, 4, 20, 8), (2, 4, 35, 8), mask=mask, causal=len(shape) == 3))


@pytest.mark.parametrize("printed", [False, pytest.param(True, marks=needs_triton)])
@pytest.mark.parametrize("keys", [40, 600])
def test_queries_that_see_no_key_give_zeros(keys: int, printed: bool) -> None:
    mask = np.ones((3, keys), bool)
    mask[1] = False
    added = np.where(mask, 0, -np.inf).astype(np.float32)
    for each in (mask, added):
        case = attention((2, 3, 16), (2, keys, 16), mask=each)
        assert not run(case, printed)[:, 1].any()
        agree(case, printed)


@pytest.mark.parametrize("printed", [False, pytest.param(True, marks=needs_triton)])
@pytest.mark.parametrize("keys", [40, 600])
@pytest.mark.parametrize("low", [-1e9, LOWEST])
def test_queries_of_which_all_keys_have_one_number_mix_all_values(
    low: float, keys: int, printed: bool
) -> None:
    mask = np.ones((3, keys), bool)
    mask[1] = False
    added = np.where(mask, 0, low).astype(np.float32)
    for each, fills in ((mask, (low,)), (added, ())):
        case = attention((2, 3, 16), (2, keys, 16), mask=each, fills=fills)
        mean = case.operands[2].mean(1)
        np.testing.assert_allclose(run(case, printed)[:, 1], mean, atol=1e-5)
        agree(case, printed)


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize(("queries", "causal"), [(1, False), (30, False), (30, True)])
def test_masks_change_scores_one_after_another(queries: int, causal: bool, dtype: Any) -> None:
    kept, seen = drawn((2, 1, queries, 600)) > 0, drawn((600,)) > -1
    added = (drawn((3, queries, 600)) * 4).astype(np.float32 if dtype != "float64" else dtype)
    masks, fills = [kept, added, seen], (2.0, 0.0)
    shapes = (2, 3, queries, 16), (2, 3, 600, 16)
    agree(attention(*shapes, mask=masks, fills=fills, causal=causal, dtype=dtype))


@needs_triton
def test_printed_kernels_have_several_masks() -> None:
    masks, fills = [drawn((30, 40)) > 0, drawn((2, 30, 40)), drawn((40,)) > -1], (2.0,)
    agree(attention((2, 30, 16), (2, 40, 16), mask=masks, fills=fills), printed=True)


@pytest.mark.parametrize("keys", [40, 600])
def test_a_query_of_nan_gives_nan_and_no_other_does(keys: int) -> None:
    case = attention((2, 3, 16), (2, keys, 16))
    case.operands[0][1, 2, 3] = np.nan
    made = run(case)
    assert np.isnan(made[1, 2]).all()
    assert np.isnan(made).sum() == 16
    agree(case)


@pytest.mark.parametrize(("heads", "shared", "causal"), [(8, 2, True), (6, 3, False)])
@pytest.mark.parametrize(("queries", "keys"), [(1, 600), (3, 50), (100, 130)])
def test_query_heads_share_keys(
    heads: int, shared: int, queries: int, keys: int, causal: bool
) -> None:
    mask = drawn((2, 1, queries, keys))
    for each in (None, mask, drawn((2, heads, 1, keys)) > -1):
        q, k = (2, heads, queries, 16), (2, shared, keys, 16)
        agree(attention(q, k, values=20, mask=each, causal=causal))


def test_few_programs_split_the_keys_and_many_do_not() -> None:
    few = attention_plan(AttentionSizes(8, 4, 1, 4096, 128, 128, "bf16"))
    assert few.packed
    assert few.parts > 1
    assert few.queries == 16
    many = attention_plan(AttentionSizes(128, 1, 2048, 2048, 64, 64, "f16"))
    assert not many.packed
    assert many.parts == 1


def test_keys_in_parts_give_the_same_each_time() -> None:
    case = attention((1, 2, 1, 16), (1, 2, 900, 16))
    assert len({run(case).tobytes() for _ in range(2)}) == 1


ROWS_OF_HEADS = (0, 2, 1, 3)
"""Tokens outside of heads: what a projection of all heads at once leaves."""


@pytest.mark.parametrize(
    ("order", "result"),
    [(ROWS_OF_HEADS, ROWS_OF_HEADS), ((1, 0, 3, 2), ()), ((3, 2, 1, 0), (1, 3, 0, 2))],
    ids=str,
)
@pytest.mark.parametrize(("queries", "keys", "heads"), [(20, 35, 4), (1, 600, 8)])
def test_operands_lie_in_any_order(
    queries: int, keys: int, heads: int, order: Order, result: Order
) -> None:
    case = attention((2, heads, queries, 16), (2, 4, keys, 16), mask=drawn((2, 1, queries, keys)))
    check(case, [order, order, order], result, kernel_passes(HOPPER))
    check(case, [order, (), (0, 1, 3, 2)], result, kernel_passes(HOPPER))


def test_attention_without_a_batch_and_with_several() -> None:
    agree(attention((3, 20, 16), (3, 20, 16), causal=True))
    agree(attention((2, 3, 2, 20, 16), (2, 3, 1, 20, 16), mask=drawn((2, 20, 20))))


@pytest.mark.parametrize(("q", "k"), [((1, 2, 0, 8), (1, 2, 3, 8)), ((1, 2, 3, 8), (1, 2, 0, 8))])
def test_no_queries_and_no_keys(q: Shape, k: Shape) -> None:
    made = run(attention(q, k))
    assert made.shape == q
    assert not made.any()


def test_large_heads_run_elsewhere() -> None:
    with new_context(), ir.Location.unknown():
        large = build_ordered(attention((1, 4, 257), (1, 4, 257)), [])
        op = large.block.operations[0].operation
        assert TARGET.refusal(tri.Attention(op)) == (
            "gpu takes queries and values of at most 256 elements"
        )
        small = build_ordered(attention((1, 4, 256), (1, 4, 256)), [])
        assert TARGET.refusal(tri.Attention(small.block.operations[0].operation)) is None


@needs_triton
@pytest.mark.parametrize("dtype", ["float32", ml_dtypes.bfloat16])
@pytest.mark.parametrize(
    ("q", "k", "causal"),
    [
        ((1, 2, 150, 24), (1, 2, 150, 24), True),
        ((1, 2, 70, 16), (1, 1, 128, 16), False),
        ((1, 4, 1, 16), (1, 2, 600, 16), False),
    ],
)
def test_printed_kernels_attend(q: Shape, k: Shape, causal: bool, dtype: Any) -> None:
    mask = None if causal else drawn((q[-2], k[-2])).astype(dtype)
    agree(attention(q, k, mask=mask, causal=causal, dtype=dtype), printed=True)


@needs_triton
@pytest.mark.parametrize("architecture", [AMPERE, HOPPER], ids=lambda a: a.name)
def test_halves_are_multiplied_by_matrix_units(architecture: Architecture) -> None:
    def zeros(*shape: int) -> Array:
        return np.broadcast_to(np.zeros((), np.float16), shape)

    attributes = {"scale": 0.125, "causal": True}
    full, wide = zeros(8, 16, 2048, 64), zeros(2, 16, 2048, 128)
    unit, move = "mma.sync.aligned.m16n8k16", "cp.async.cg.shared.global"
    if architecture is HOPPER:
        unit, move = "wgmma.mma_async", "cp.async.bulk.tensor"
    for x in (full, wide):
        case = Case("causal", tri.Attention, (x, x, x), attributes)
        (text,) = assemblies(case, architecture)
        assert unit in text
        assert move in text
    decode = (zeros(4, 32, 1, 128), zeros(4, 8, 4096, 128), zeros(4, 8, 4096, 128))
    case = Case("decode", tri.Attention, decode, {"scale": 0.125})
    assert "mma.sync.aligned.m16n8k16" in assemblies(case, architecture)[0]


@needs_triton
@pytest.mark.parametrize("size", [64])
def test_floats_are_multiplied_exactly_unless_told_otherwise(size: int) -> None:
    x = np.broadcast_to(np.zeros((), np.float32), (2, 12, 512, size))
    case = Case("floats", tri.Attention, (x, x, x), {"scale": 0.125})
    assert "tf32" not in assemblies(case, HOPPER)[0]
    assert "tf32" in assemblies(case, HOPPER, precision="tf32")[0]
