"""The exponential that softmax uses: its error, and what it makes of numbers that are none."""

import ctypes
import math

import numpy as np
import pytest
from cpu_kernels import MACHINES, build_kernel, object_of
from trivium.dialects.core.machine import Machine
from trivium.dialects.core.tensor import Array, Tensor
from trivium.runtime.cpu.elf import load_objects
from trivium.targets.cpu.kernels.buffer import Buffer, Lanes
from trivium.targets.cpu.kernels.builder import KernelBuilder
from trivium.targets.cpu.kernels.epilogue import each_vector
from trivium.targets.cpu.kernels.functions.falling_exp import falling_exp
from trivium.targets.cpu.kernels.index import IndexExpr
from trivium.targets.cpu.kernels.value import strict_numbers

EDGES = [
    0.0,
    -0.0,
    -1e-45,
    -(2.0**-126),
    -math.log(2),
    -87.33654,
    -103.97,
    -104,
    -1e30,
    -3.4028235e38,
]
ROUNDING = 1.0
"""What a machine that rounds products before it adds may lose more, in units in the last place."""


@pytest.fixture(scope="module")
def falling() -> Array:
    """Return every 8191st f32 that is not positive, stretches near zero and edges."""
    every = np.arange(2**31, 2**32, 8191, dtype=np.uint64).astype(np.uint32).view(np.float32)
    stretches = [np.linspace(-a, 0, 30001) for a in (1e-3, 1, 10, 110)]
    numbers = [x.astype(np.float32) for x in (*stretches, np.array(EDGES))]
    return np.concatenate([every[every <= 0], *numbers])


def compute(x: Array, machine: Machine) -> Array:
    def body(kernel: KernelBuilder, x: Buffer, y: Buffer) -> None:
        def element(at: list[IndexExpr], lanes: Lanes | None) -> None:
            y.store(falling_exp(x.load(at, lanes)), at, lanes)

        each_vector(x.shape, kernel.lanes("f32"), element)

    kernel = build_kernel(machine, [Tensor(x.shape, "f32")] * 2, body)
    library = load_objects({"kernel": memoryview(object_of([kernel], machine))})
    y = np.empty_like(x)
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 3, *[ctypes.c_void_p] * 2)
    (phase,) = kernel.phases
    call(library.address(kernel.symbol))(0, 0, phase.iterations, x.ctypes.data, y.ctypes.data)
    return y


@pytest.mark.parametrize("machine", MACHINES, ids=[machine.name for machine in MACHINES])
def test_the_error_is_small_where_the_result_is_large(machine: Machine, falling: Array) -> None:
    got, want = compute(falling, machine), np.exp(falling.astype(np.float64))
    units = 1.5 if machine.fuses else 1.5 + ROUNDING
    allowed = units * np.spacing(np.maximum(want, 2.0**-126).astype(np.float32))
    distance = np.where(want > 0, np.abs(falling.astype(np.float64)), 0)
    assert (np.abs(got - want) <= allowed + want * distance * 2.0**-23).all()
    assert (got[falling == 0] == 1).all()
    assert (got[falling <= -104.5] == 0).all()


@pytest.mark.parametrize("machine", MACHINES, ids=[machine.name for machine in MACHINES])
def test_minus_infinity_gives_zero_and_nan_gives_nan(machine: Machine) -> None:
    x = np.tile(np.array([-math.inf, math.nan, -1.0], np.float32), 11)
    y = compute(x, machine)
    np.testing.assert_array_equal(y[0::3], 0)
    assert np.isnan(y[1::3]).all()
    np.testing.assert_allclose(y[2::3], np.exp(np.float32(-1)), rtol=3e-7)


def test_strict_kernels_round_once(falling: Array) -> None:
    with strict_numbers():
        got = compute(falling, MACHINES[0])
    want = np.exp(falling.astype(np.float64))
    unit = np.spacing(np.maximum(want, 2.0**-149).astype(np.float32))
    assert (np.abs(got - want) <= (0.5 + 1e-6) * unit).all()
