"""Attention of bf16 by pairs: against numpy in f64, with the instructions of every machine."""

import math

import ml_dtypes
import numpy as np
import pytest
from cpu_kernels import compile_cases, compile_groups
from groups import Case, build_group
from trivium.dialects import tri
from trivium.dialects.core.machine import Machine, host_machine
from trivium.dialects.core.tensor import Array, Tensor
from trivium.targets.cpu.kernels.products.dot import find_instruction
from trivium.targets.options import CompileOptions
from word_machines import MACHINES, runs_here, spell

RANDOM = np.random.default_rng(29)
BF16 = ml_dtypes.bfloat16


def numbers(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(BF16)


def attention(
    queries: tuple[int, int, int], keys: tuple[int, int, int], size: int, **others: object
) -> Case:
    """Return a case of some heads, queries and their depth, and of heads, keys and a size."""
    (heads, length, depth), (groups, count, _) = queries, keys
    masks = others.pop("masks", [])
    operands = numbers(2, heads, length, depth), numbers(2, groups, count, depth)
    values = numbers(2, groups, count, size)
    attributes = {"scale": depth**-0.5, **others}
    return Case("attention", tri.Attention, (*operands, values, masks), attributes)


def cases() -> list[Case]:
    """Blocks and rests of queries, odd counts of keys, depths and sizes that fill no vector."""
    shapes = [
        *((1, 1, 2, 1, 1), (2, 43, 64, 2, 64), (1, 86, 32, 129, 40)),
        *((1, 17, 40, 31, 5), (2, 4, 7, 9, 8)),
    ]
    made = [attention((h, q, d), (h, k, d), e) for h, q, d, k, e in shapes]
    keep = RANDOM.random((2, 4, 9, 21)) < 0.6
    keep[0, 1, 3] = False  # a query that sees nothing
    added = np.where(keep, RANDOM.standard_normal(keep.shape), -math.inf).astype(np.float32)
    shared = (4, 9, 16), (2, 21, 16), 16
    made += [attention(*shared, masks=[mask]) for mask in (added, added.astype(BF16))]
    for queries, keys in ((45, 45), (130, 131), (97, 33)):
        made.append(attention((2, queries, 16), (2, keys, 16), 16, causal=True))
    made.append(attention(*shared, masks=[keep, added], fills=(-2.5,)))
    return made


def exact(case: Case) -> tuple[Array, Array]:
    """Return the result in f64, and the sum of the sizes of what is summed up."""
    q, k, v, *masks = (np.asarray(x) for x in case.inputs)
    attributes = dict(case.attributes)
    shared = q.shape[1] // k.shape[1]
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    k, v = (np.repeat(x, shared, 1) for x in (k, v))
    scores = q @ k.swapaxes(-1, -2) * attributes["scale"]
    fills = (*attributes.get("fills", ()), -math.inf, -math.inf)
    for mask, fill in zip(masks, fills, strict=False):
        is_choice = mask.dtype == bool
        scores = np.where(mask, scores, fill) if is_choice else scores + mask.astype(np.float64)
    if attributes.get("causal"):
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -math.inf)
    top = scores.max(-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isinf(top), 0, top))
    total = powers.sum(-1, keepdims=True)
    weights = powers / np.where(total == 0, 1, total)
    return weights @ v, weights @ np.abs(v)


def largest_loss(case: Case, got: Array) -> float:
    """Return the largest error as a part of the sum of the sizes of what is summed up."""
    want, sizes = exact(case)
    assert (got[sizes == 0] == 0).all()
    error = np.abs(got.astype(np.float64) - want)
    return float((error[sizes > 0] / sizes[sizes > 0]).max())


ROUNDED = 2.0**-8 * 2 + 2.0**-12
"""What weights lose that are rounded to bf16, and results; exponentials and sums lose little."""


def check(machine: Machine) -> None:
    made = cases()
    compiled = compile_cases(made, machine)
    for index, case in enumerate(made):
        (reference,) = case.reference()
        (got,) = compiled.run(index, case.inputs, [Tensor.of(reference)])
        assert largest_loss(case, got) < ROUNDED, f"case {index}"


def test_results_are_those_of_numpy() -> None:
    check(host_machine())


@pytest.mark.parametrize("machine", MACHINES[3::3][:2], ids=spell)
def test_other_machines_give_them_too(machine: Machine) -> None:
    if not runs_here(machine):
        pytest.skip("this machine lacks the instructions")
    check(machine)


def text_of(case: Case, strict: bool = False) -> str:
    math_ = "strict" if strict else "fast"
    made = compile_groups([lambda: build_group(case)], options=CompileOptions(math=math_))
    return made.kernels[0].text


def test_pairs_are_for_even_depths_and_fast_numbers() -> None:
    if find_instruction(host_machine(), "bf16") is None:
        pytest.skip("this machine lacks the instruction")
    even, odd = (attention((1, 5, depth), (1, 9, depth), 8) for depth in (16, 7))
    assert "dpbf16ps" in text_of(even)
    assert "dpbf16ps" not in text_of(odd)
    assert "dpbf16ps" not in text_of(even, strict=True)


def test_a_number_that_is_none_reaches_its_queries_alone() -> None:
    case = attention((1, 3, 16), (1, 5, 16), 16)
    case.inputs[0][0, 0, 1, 3] = math.nan
    (got,) = compile_cases([case], host_machine()).run(
        0, case.inputs, [Tensor((2, 1, 3, 16), "bf16")]
    )
    assert np.isnan(got[0, 0, 1].astype(np.float32)).all()
    assert np.isfinite(np.delete(got.astype(np.float32), 1, 2)).all()
