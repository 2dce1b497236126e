"""Convolutions, products and attention of halves, which are multiplied in f32: against sums in f64.

A result is off by half a step of its type, and by what sums in f32 lose.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

import ml_dtypes
import numpy as np
import pytest
from cpu_kernels import SHARE, compile_cases, on_every_machine, runs_here, share
from groups import Case
from test_lower_products import blocked, case, far_taps, half_panels, normal
from test_pair_attention import cases as attentions
from test_pair_attention import largest_loss
from trivium.dialects import cpu, tri
from trivium.dialects.core.machine import LEVELS, Machine, host_machine
from trivium.dialects.core.tensor import Array, Tensor
from trivium.dialects.cpu.packing import pack_columns
from trivium.targets.cpu.lower.convolution.blocked_bands import Bands

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


def test_pools_whose_lines_are_read_again_find_the_same_maxima() -> None:
    image = cpu.Block(lanes=16).reference(normal(2, 32, 9, 7, dtype=np.float16))
    window = {"kernel": (3, 3, 1), "strides": (1, 1, 1), "dilations": (1, 1, 1)}
    made = case(tri.MaxPool, image, pads=(1, 1, 0) * 2, **window)
    around = np.pad(image, [(0, 0), (0, 0), (1, 1), (1, 1), (0, 0)], constant_values=-np.inf)
    seen = np.lib.stride_tricks.sliding_window_view(around, (3, 3), (2, 3))
    compiled = compile_cases([made], host_machine())
    (got,) = compiled.run(0, made.inputs, [Tensor(image.shape, "f16")])
    np.testing.assert_array_equal(got, seen.max((-2, -1)))


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


def large_images() -> list[Case]:
    """Images that outgrow the nearest caches: windows, groups, lines that are no whole tiles."""
    image = cpu.Block(lanes=16).reference(normal(2, 64, 47, 61))
    made: list[Case] = []
    for size, stride, dilation, group, outputs in (
        *((1, 1, 1, 1, 80), (3, 2, 1, 2, 64), (2, 3, 2, 1, 16)),
    ):
        w = cpu.pack_group_columns(normal(outputs, 64 // group, size, size) / 64, group, 16)
        axes = {"kernel": size, "strides": stride, "dilations": dilation}
        more = {name: (number, number) for name, number in axes.items()}
        more |= {"outputs": outputs, "lanes": 16, "group": group}
        made.append(case(cpu.BlockedConv, image, w, normal(outputs), **more))
    return made


AVX2 = next(m for m in LEVELS if m.name == "x86-64-v3")


@contextmanager
def observed_bands() -> Generator[list[bool]]:
    """Note, for each convolution that is lowered, whether it has bands."""
    found: list[bool] = []
    choose = Bands.of

    def observed(*args: Any) -> Bands | None:
        bands = choose(*args)
        found.append(bands is not None)
        return bands

    with patch.object(Bands, "of", observed):
        yield found


def test_bands_of_large_images_give_the_same_bits() -> None:
    if not runs_here(AVX2):
        pytest.skip("this CPU lacks AVX2 or F16C")
    cases = [converted(each, partial(np.asarray, dtype=np.float16)) for each in large_images()]
    with observed_bands() as found:
        banded = compile_cases(cases, AVX2)
    assert found == [True] * len(cases)
    with patch.object(Bands, "of", lambda *_: None):
        whole = compile_cases(cases, AVX2)
    for index, each in enumerate(cases):
        (want,) = converted(each, partial(np.asarray, dtype=np.float32)).reference()
        result = Tensor(want.shape, "f16")
        (got,), (same,) = (made.run(index, each.inputs, [result]) for made in (banded, whole))
        np.testing.assert_array_equal(got, same)
        np.testing.assert_allclose(got, want, rtol=2**-10, atol=1e-3)


@pytest.mark.parametrize(
    ("channels", "side", "outputs", "dtype", "has_bands"),
    [
        (512, 20, 16, np.float16, True),
        (512, 20, 16, np.float32, False),
        (512, 20, 1024, np.float16, False),  # kernels would be read again for each band
        (32, 9, 32, np.float16, False),
    ],
)
def test_bands_are_for_large_images_of_halves(
    channels: int, side: int, outputs: int, dtype: Any, has_bands: bool
) -> None:
    image = cpu.Block(lanes=16).reference(np.ones((1, channels, side, side), dtype))
    w = cpu.pack_group_columns(np.ones((outputs, channels, 1, 1), dtype), 1, 16)
    more = {"kernel": (1, 1), "strides": (1, 1), "dilations": (1, 1)}
    made = case(cpu.BlockedConv, image, w, None, outputs=outputs, lanes=16, **more)
    with observed_bands() as found:
        compile_cases([made], AVX2)
    assert found == [has_bands]


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
