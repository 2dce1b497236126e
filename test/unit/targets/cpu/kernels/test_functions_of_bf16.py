"""Functions of bf16 over all numbers of that type, against f64."""

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from cpu_kernels import compile_cases, compile_groups
from exact_functions import gelu, gelu_tanh, sigmoid
from fit import fits
from groups import Case, build_group
from trivium.dialects import tri
from trivium.dialects.core.machine import Machine, host_machine
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Array, Tensor
from trivium.targets.kernels import coefficients
from trivium.targets.options import CompileOptions
from word_machines import MACHINES, runs_here, spell

BF16 = ml_dtypes.bfloat16
EVERY = np.arange(1 << 16, dtype=np.uint16).view(BF16).reshape(64, 1024)
LEAST_NORMAL = 2.0**-126
TINY = 2.0**-118
"""Below that, a function or a factor of it may have been a denormal number, and become zero."""
HALF_STEP = 2.0**-9


FAR = 1.5e-6
"""The largest error of `gelu` below -5."""

FUNCTIONS: list[tuple[type[Op], dict[str, str], Callable[[Array], Array]]] = [
    (tri.Exp, {}, np.exp),
    (tri.Sigmoid, {}, sigmoid),
    (tri.Silu, {}, lambda x: x * sigmoid(x)),
    (tri.Gelu, {"approximate": "none"}, gelu),
    (tri.Gelu, {"approximate": "tanh"}, gelu_tanh),
]
CASES = [Case(op.op_name, op, (EVERY,), attributes) for op, attributes, _ in FUNCTIONS]


def compare(made: Array, index: int, lost: float) -> None:
    """Compare results with exact ones, which may be off by half a step and a part of it."""
    op, attributes, exact = FUNCTIONS[index]
    with np.errstate(over="ignore", invalid="ignore"):
        want = exact(EVERY.astype(np.float64))
        rounded = want.astype(BF16).astype(np.float64)
    finite = np.isfinite(rounded)
    if op is tri.Gelu:  # The formula makes NaN of -inf, whose limit is zero.
        made = np.where(EVERY.view(np.uint16) == 0xFF80, rounded, made)
    np.testing.assert_array_equal(made[~finite], rounded[~finite])
    # Half a step is between 2^-9 and 2^-8 of a number, by its bits of fraction.
    half = HALF_STEP * 2.0 ** np.floor(np.log2(np.maximum(np.abs(want[finite]), LEAST_NORMAL)) + 1)
    allowed = half + lost * np.abs(want[finite])
    allowed[np.abs(want[finite]) <= TINY] += TINY
    if op is tri.Gelu and attributes["approximate"] == "none":
        allowed[EVERY[finite].astype(np.float32) < -5] += FAR
    assert (np.abs(made[finite] - want[finite]) <= allowed).all()


@pytest.mark.parametrize("machine", [*MACHINES, host_machine()], ids=spell)
def test_results_are_the_nearest_or_beside(machine: Machine) -> None:
    if not runs_here(machine):
        pytest.skip("this machine lacks the instructions")
    compiled = compile_cases(CASES, machine)
    for index, (op, *_) in enumerate(FUNCTIONS):
        short = "avx512dq" in machine.features or op is tri.Gelu
        lost = 2.0**-11.9 if short else 2.0**-20
        (made,) = compiled.run(index, [EVERY], [Tensor(EVERY.shape, "bf16")])
        compare(made.astype(np.float64), index, lost)


def test_errors_are_as_the_docstrings_say() -> None:
    """The results before they are rounded, which a cast to f32 hands on."""
    groups = [
        lambda c=case: build_group(c, epilogue=lambda v: [tri.Cast.build(v[0], to="f32")])
        for case in CASES
    ]
    compiled = compile_groups(groups)
    limits = {0: 2.0**-13, 1: 2.0**-12, 3: 2.0**-11.9, 4: 2.0**-12}
    for index, limit in limits.items():
        (made,) = compiled.run(index, [EVERY], [Tensor(EVERY.shape, "f32")])
        with np.errstate(over="ignore", invalid="ignore"):
            want = FUNCTIONS[index][2](EVERY.astype(np.float64))
        size = np.abs(want)
        least = LEAST_NORMAL if index < 3 else TINY
        normal = (size >= least) & (size <= np.finfo(np.float32).max)
        if index == 3:
            far = (EVERY.astype(np.float32) < -5) & np.isfinite(want)
            assert (np.abs(made[far] - want[far]) <= FAR).all()
            normal &= ~far
        assert (np.abs(made[normal] / want[normal] - 1) <= limit).all()


def test_strict_kernels_have_the_functions_of_f32() -> None:
    compiled = compile_cases(CASES, options=CompileOptions(math="strict"))
    for index in range(len(CASES)):
        (made,) = compiled.run(index, [EVERY], [Tensor(EVERY.shape, "bf16")])
        compare(made.astype(np.float64), index, 2.0**-20)


def test_coefficients_are_those_of_remez_exchange() -> None:
    made = fits()
    np.testing.assert_allclose(coefficients.EXP2_SHORT, made["exp2_short"].above, rtol=1e-4)
    np.testing.assert_allclose(coefficients.NORMAL_ROOT, made["normal_root"].above, rtol=1e-4)
