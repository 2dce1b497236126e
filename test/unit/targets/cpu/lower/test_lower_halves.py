"""Convolutions, products and attention of halves, which are multiplied in f32: against sums in f64.

A result is off by half a step of its type, and by what sums in f32 lose.
"""

from collections.abc import Callable
from functools import partial

import ml_dtypes
import numpy as np
import pytest
from cpu_kernels import SHARE, compile_cases, on_every_machine, runs_here, share
from groups import Case
from test_lower_products import blocked, case, far_taps, half_panels, normal
from test_pair_attention import cases as attentions
from test_pair_attention import largest_loss
from trivium.dialects import cpu, tri
from trivium.dialects.core.machine import LEVELS, Machine
from trivium.dialects.core.tensor import Array, Tensor
from trivium.dialects.cpu.packing import pack_columns

LOST = 2.0**-18
"""What sums in f32 lose, as a part of the sum of the sizes of their terms."""

HALF_STEP = {"f16": 2.0**-11, "bf16": 2.0**-8}
TYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}

on_both_types = pytest.mark.parametrize("dtype", TYPES)


def converted(made: Case, to: Callable[[Array], Array]) -> Case:
    """Return a case whose floats were converted."""
    operands = [x if x is None or x.dtype.kind in "biu" else to(x) for x in made.operands]
    return Case(made.name, made.cls, tuple(operands), made.attributes)


def convolutions() -> list[Case]:
    """Blocked and plain images, groups, taps beyond the border; whole lines and parts of them."""
    kinds = cpu.BlockedConv, cpu.LaneConv
    made = [each for each in blocked() if each.cls in kinds][::7]
    made += far_taps()[1::4]
    assert {each.cls for each in made} == {*kinds}
    made += half_panels()[2:3]
    image = cpu.Block(lanes=16).reference(normal(2, 32, 6, 7))
    w = cpu.pack_phases(normal(32, 48, 3, 3) / 16, (2, 2), (0, 0), 16)
    sizes = {"outputs": 48, "kernel": (2, 2), "strides": (2, 2), "crops": (0, 0), "sizes": (10, 12)}
    return [*made, case(cpu.BlockedConvTranspose, image, w, normal(48), **sizes)]


def products() -> list[Case]:
    """One row and many, packed and not, rows that would alias, matrices along other axes."""
    made: list[Case] = []
    for rows, depth, columns in ((1, 7, 130), (3, 512, 33), (70, 1024, 40), (29, 9, 32)):
        a, b = normal(rows, depth) / 16, normal(depth, columns) / 16
        w = pack_columns(b, 48)
        made.append(case(cpu.PackedMatMul, a, w, columns=columns, rows=min(rows, 7)))
        made.append(case(tri.MatMul, np.stack([a, -a]), b))
        made.append(case(tri.Gemm, a.T.copy(), b, normal(columns), trans_a=True, alpha=0.5))
    index = np.sort(np.random.default_rng(1).integers(-1, 3, 41))
    made.append(case(tri.IndexedMatMul, normal(41, 24) / 16, normal(3, 24, 70), index))
    made.append(case(tri.MatMul, normal(1, 30, 9), normal(4, 9, 17)))  # broadcast
    return made


@on_both_types
@on_every_machine
@pytest.mark.parametrize("family", [convolutions, products])
def test_halves_are_multiplied_in_f32(
    family: Callable[[], list[Case]], dtype: str, machine: Machine
) -> None:
    shared = share(family(), machine) if dtype == "f16" else family()[::SHARE]
    cases = [converted(each, partial(np.asarray, dtype=TYPES[dtype])) for each in shared]
    compiled = compile_cases(cases, machine)
    for index, made in enumerate(cases):
        (want,) = converted(made, partial(np.asarray, dtype=np.float64)).reference()
        (size,) = converted(made, lambda x: np.abs(x.astype(np.float64))).reference()
        (got,) = compiled.run(index, made.inputs, [Tensor(want.shape, dtype)])
        error = np.abs(got.astype(np.float64) - want)
        # Below the least normal number of f16, steps do not get smaller.
        assert (error <= HALF_STEP[dtype] * np.abs(want) + LOST * size + 2.0**-25).all(), str(made)


@on_every_machine
def test_attention_of_f16_is_computed_in_f32(machine: Machine) -> None:
    made = share([converted_attention(each) for each in attentions()], machine)
    compiled = compile_cases(made, machine)
    for index, each in enumerate(made):
        shape = each.operands[0].shape[:-1] + each.operands[2].shape[-1:]
        (got,) = compiled.run(index, each.inputs, [Tensor(shape, "f16")])
        assert largest_loss(each, got) < HALF_STEP["f16"] + LOST, f"case {index}"


def converted_attention(made: Case) -> Case:
    *factors, masks = made.operands
    halves = [x.astype(np.float16) for x in factors]
    masks = [x.astype(np.float16) if x.dtype == ml_dtypes.bfloat16 else x for x in masks]
    return Case(made.name, made.cls, (*halves, masks), made.attributes)


def test_a_machine_without_conversions_computes_the_same() -> None:
    baseline = LEVELS[0]
    assert "f16c" not in baseline.features
    native = LEVELS[2]
    if not runs_here(native):
        pytest.skip("this CPU lacks AVX2 or F16C")
    # Small whole numbers: sums are exact, in any order.
    a, b = (np.round(normal(*shape)).astype(np.float16) for shape in ((9, 21), (21, 40)))
    made = case(cpu.PackedMatMul, a, pack_columns(b, 32), columns=40)
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    for machine in (baseline, native):
        (got,) = compile_cases([made], machine).run(0, made.inputs, [Tensor((9, 40), "f16")])
        np.testing.assert_array_equal(got, wanted.astype(np.float16))
