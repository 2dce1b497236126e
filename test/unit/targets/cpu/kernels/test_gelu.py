"""GELU of f32 against f64: with AVX-512 its tail keeps five digits where others cancel."""

from collections.abc import Callable

import numpy as np
import pytest
from cpu_kernels import compile_cases, on_every_machine
from exact_functions import gelu, gelu_tanh
from fit import tables
from groups import Case
from trivium.dialects import tri
from trivium.dialects.core.machine import Machine, host_machine
from trivium.dialects.core.tensor import Array, Tensor
from trivium.targets.kernels import coefficients
from trivium.targets.options import DEFAULT, CompileOptions

SWEEP = np.concatenate(
    [
        np.linspace(-bound, bound, size).astype(np.float32)
        for bound, size in ((7, 40_000), (0.5, 20_000), (1e-3, 5_000), (200, 5_000))
    ]
)


KINDS: list[tuple[str, Callable[[Array], Array]]] = [("none", gelu), ("tanh", gelu_tanh)]
each_kind = pytest.mark.parametrize("index", range(len(KINDS)), ids=[kind for kind, _ in KINDS])
CASES = [Case(kind, tri.Gelu, (SWEEP,), {"approximate": kind}) for kind, _ in KINDS]


def errors_of(
    machine: Machine, index: int, options: CompileOptions = DEFAULT
) -> tuple[Array, Array]:
    """Return results less exact ones, and these."""
    compiled = compile_cases(CASES, machine, options)
    (made,) = compiled.run(index, [SWEEP], [Tensor(SWEEP.shape, "f32")])
    with np.errstate(over="ignore"):
        want = KINDS[index][1](SWEEP.astype(np.float64))
    return made.astype(np.float64) - want, want


@each_kind
@on_every_machine
def test_errors_are_as_the_docstrings_say(machine: Machine, index: int) -> None:
    error, _ = errors_of(machine, index)
    assert (np.abs(error) <= 3e-7 * np.maximum(1, np.abs(SWEEP))).all()


@each_kind
def test_the_tail_does_not_cancel(index: int) -> None:
    """Half of 1 + erf has lost all but three digits at -4."""
    if "avx512dq" not in host_machine().features:
        pytest.skip("this machine lacks the instructions")
    error, want = errors_of(host_machine(), index)
    tail = (SWEEP < 0) & (SWEEP > -4)
    assert (np.abs(error[tail]) <= 1e-5 * np.abs(want[tail])).all()


@each_kind
def test_strict_kernels_round_once(index: int) -> None:
    error, want = errors_of(host_machine(), index, CompileOptions(math="strict"))
    unit = np.spacing(np.maximum(np.abs(want), 2.0**-126).astype(np.float32))
    assert (np.abs(error) <= 0.5001 * unit).all()


def test_tables_are_those_of_remez_exchange() -> None:
    made = tables()
    np.testing.assert_allclose(coefficients.NORMAL_TAIL, made["normal_tail"], rtol=1e-3)
    np.testing.assert_allclose(coefficients.TANH_TAIL, made["tanh_tail"], rtol=1e-3)
