"""Functions of bf16 over all numbers of that type, against f64."""

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from cpu_kernels import compile_cases, compile_groups
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


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


OPS: dict[type[Op], Callable[[Array], Array]] = {
    tri.Exp: np.exp,
    tri.Sigmoid: sigmoid,
    tri.Silu: lambda x: x * sigmoid(x),
}
CASES = [Case(op.op_name, op, (EVERY,), {}) for op in OPS]


def compare(made: Array, op: type[Op], lost: float) -> None:
    """Compare results with exact ones, which may be off by half a step and a part of it."""
    with np.errstate(over="ignore", invalid="ignore"):
        want = OPS[op](EVERY.astype(np.float64))
        rounded = want.astype(BF16).astype(np.float64)
    finite = np.isfinite(rounded)
    np.testing.assert_array_equal(made[~finite], rounded[~finite])
    # Half a step is between 2^-9 and 2^-8 of a number, by its bits of fraction.
    half = HALF_STEP * 2.0 ** np.floor(np.log2(np.maximum(np.abs(want[finite]), LEAST_NORMAL)) + 1)
    allowed = half + lost * np.abs(want[finite])
    allowed[np.abs(want[finite]) <= TINY] += TINY
    assert (np.abs(made[finite] - want[finite]) <= allowed).all()


@pytest.mark.parametrize("machine", [*MACHINES, host_machine()], ids=spell)
def test_results_are_the_nearest_or_beside(machine: Machine) -> None:
    if not runs_here(machine):
        pytest.skip("this machine lacks the instructions")
    compiled = compile_cases(CASES, machine)
    lost = 2.0**-12 if "avx512dq" in machine.features else 2.0**-20
    for index, op in enumerate(OPS):
        (made,) = compiled.run(index, [EVERY], [Tensor(EVERY.shape, "bf16")])
        compare(made.astype(np.float64), op, lost)


def test_errors_are_as_the_docstrings_say() -> None:
    """The results before they are rounded, which a cast to f32 hands on."""
    groups = [
        lambda c=case: build_group(c, epilogue=lambda v: [tri.Cast.build(v[0], to="f32")])
        for case in CASES
    ]
    compiled = compile_groups(groups)
    for index, (op, limit) in enumerate(((tri.Exp, 2.0**-13), (tri.Sigmoid, 2.0**-12))):
        (made,) = compiled.run(index, [EVERY], [Tensor(EVERY.shape, "f32")])
        with np.errstate(over="ignore", invalid="ignore"):
            want = OPS[op](EVERY.astype(np.float64))
        normal = (want >= LEAST_NORMAL) & (want <= np.finfo(np.float32).max)
        assert (np.abs(made[normal] / want[normal] - 1) <= limit).all()


def test_strict_kernels_have_the_functions_of_f32() -> None:
    compiled = compile_cases(CASES, options=CompileOptions(math="strict"))
    for index, op in enumerate(OPS):
        (made,) = compiled.run(index, [EVERY], [Tensor(EVERY.shape, "bf16")])
        compare(made.astype(np.float64), op, 2.0**-20)


def test_coefficients_are_those_of_remez_exchange() -> None:
    fit = fits()["exp2_short"]
    np.testing.assert_allclose(coefficients.EXP2_SHORT, fit.above, rtol=1e-4)
