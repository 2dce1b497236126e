"""Depthwise convolution of blocked images of bf16, by pairs of taps, against sums in f64."""

import ml_dtypes
import numpy as np
import pytest
from cpu_kernels import compile_cases
from groups import Case
from trivium.dialects import cpu
from trivium.dialects.core.machine import Machine, host_machine
from trivium.dialects.core.tensor import Array, Tensor
from word_machines import MACHINES, runs_here, spell

BF16 = ml_dtypes.bfloat16
LANES = 16
HALF_STEP = 2.0**-8

# kernel, strides, dilations, sizes of the image
WINDOWS = [
    ((3, 3), (1, 1), (1, 1), (5, 21)),
    ((3, 3), (2, 2), (1, 1), (7, 33)),
    ((5, 5), (1, 1), (1, 1), (6, 9)),
    ((5, 5), (2, 2), (1, 1), (9, 31)),
    ((1, 4), (1, 3), (1, 1), (2, 40)),
    ((3, 2), (1, 1), (2, 1), (7, 5)),
    ((2, 7), (1, 2), (1, 1), (4, 30)),
    ((3, 3), (1, 1), (1, 2), (3, 12)),  # taps that are no neighbours
    ((3, 1), (1, 1), (1, 1), (5, 6)),  # no second tap
]


def case(window: tuple[tuple[int, ...], ...], bias: bool) -> tuple[Case, Array]:
    """Return a case, and its exact results."""
    kernel, strides, dilations, sizes = window
    random = np.random.default_rng(23)
    x = random.standard_normal((2, 2 * LANES, *sizes)).astype(BF16)
    w = random.standard_normal((2 * LANES, 1, *kernel)).astype(BF16)
    b = random.standard_normal(2 * LANES).astype(BF16)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    views = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), reach, (2, 3))
    views = views[:, :, :: strides[0], :: strides[1], :: dilations[0], :: dilations[1]]
    want = np.einsum("nchwij,cij->nchw", views, w[:, 0].astype(np.float64))
    if bias:
        want += b.astype(np.float64).reshape(-1, 1, 1)
    attributes = {"kernel": kernel, "strides": strides, "dilations": dilations}
    operands = cpu.Block(lanes=LANES).reference(x), cpu.pack_lanes(w, LANES), b if bias else None
    return Case(f"{kernel}", cpu.LaneConv, operands, attributes), want


@pytest.mark.parametrize("machine", [MACHINES[4], MACHINES[-1], host_machine()], ids=spell)
def test_sums_are_rounded_once(machine: Machine) -> None:
    if not runs_here(machine):
        pytest.skip("this machine lacks the instructions")
    made = [case(window, bias) for window in WINDOWS for bias in (True, False)]
    compiled = compile_cases([each for each, _ in made], machine)
    for index, (each, want) in enumerate(made):
        result = Tensor.of(cpu.Block(lanes=LANES).reference(want.astype(BF16)))
        (got,) = compiled.run(index, each.inputs, [result])
        plain = cpu.Unblock().reference(got).astype(np.float64)
        np.testing.assert_allclose(plain, want, rtol=HALF_STEP, atol=1e-5)


def test_numbers_beside_a_window_do_not_count() -> None:
    """A NaN or an infinite number right of a window leaves its sum as it is."""
    (each, want), (plain, *others) = case(WINDOWS[0], True), case(WINDOWS[0], True)[0].inputs
    image = plain.copy()
    image[:, :, :, -1] = np.array([np.nan, np.inf] * (LANES // 2), BF16)
    result = Tensor.of(cpu.Block(lanes=LANES).reference(want.astype(BF16)))
    compiled = compile_cases([each])
    (before,) = compiled.run(0, [plain, *others], [result])
    (after,) = compiled.run(0, [image, *others], [result])
    np.testing.assert_array_equal(
        after[:, :, :, :-1].astype(np.float32), before[:, :, :, :-1].astype(np.float32)
    )
    assert not np.isfinite(after[:, :, :, -1].astype(np.float32)).any()
