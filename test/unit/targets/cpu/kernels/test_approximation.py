"""The functions of our own: their coefficients, and their largest errors against f64."""

import ctypes
import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch
from cpu_kernels import MACHINES, LoweredKernel, build_kernel, object_of
from fit import fits
from trivium.dialects.core.machine import Machine, host_machine
from trivium.dialects.core.tensor import Array, Tensor
from trivium.runtime.cpu.elf import load_objects
from trivium.targets.cpu.kernels.buffer import Buffer, Lanes
from trivium.targets.cpu.kernels.builder import KernelBuilder
from trivium.targets.cpu.kernels.epilogue import each_vector
from trivium.targets.cpu.kernels.functions import approximation, trigonometry
from trivium.targets.cpu.kernels.index import IndexExpr
from trivium.targets.cpu.kernels.value import Value, strict_numbers
from trivium.targets.kernels import coefficients

Exact = Callable[[Array], Array]


def by_torch(function: Callable[[torch.Tensor], torch.Tensor]) -> Exact:
    return lambda x: function(torch.from_numpy(x)).numpy()


# The functions, what they are, the errors that their docstrings state, and where these hold.
FUNCTIONS: dict[str, tuple[Exact, float, tuple[float, float]]] = {
    "exp": (np.exp, 1.1, (-math.inf, math.inf)),
    "exp_anywhere": (np.exp, 1.1, (-math.inf, math.inf)),
    "expm1": (np.expm1, 3.6, (-math.inf, math.inf)),
    "log": (np.log, 1.0, (-math.inf, math.inf)),
    "log1p": (np.log1p, 2.0, (-math.inf, math.inf)),
    "tanh": (np.tanh, 5.0, (-math.inf, math.inf)),
    "erf": (by_torch(torch.special.erf), 6.0, (-math.inf, math.inf)),
    "sigmoid": (by_torch(torch.sigmoid), 2.6, (-88, math.inf)),
    "sin": (np.sin, 2.0, (-math.inf, math.inf)),
    "cos": (np.cos, 2.0, (-math.inf, math.inf)),
    "softplus": (lambda x: np.logaddexp(x, 0), 2.6, (-math.inf, math.inf)),
}
UNFUSED = 1.0
"""What products that are rounded before they are added may cost, in units in the last place."""

SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e-45, -1e-45, 2.0**-126, -(2.0**-126)]
EDGES = [88.72283, 88.72284, -87.33654, -103.97, -103.98, -104, 1, -1, 3.4028235e38, -3.4028235e38]


@pytest.fixture(scope="module")
def sweep() -> Array:
    """Return every 4099th f32 of all, dense stretches around zero and one, and special values."""
    every = np.arange(0, 2**32, 4099, dtype=np.uint64).astype(np.uint32).view(np.float32)
    stretches = [np.linspace(-a, a, 60001) for a in (1e-3, 0.4, 1, 4, 10, 90, 110)]
    ones = 1 + np.arange(-2000, 2000) * 2.0**-23
    floats = [x.astype(np.float32) for x in (*stretches, ones, np.array(SPECIAL + EDGES))]
    return np.concatenate([every, *floats])


@pytest.fixture(scope="module", params=MACHINES, ids=[machine.name for machine in MACHINES])
def machine(request: pytest.FixtureRequest) -> Machine:
    return request.param


@pytest.fixture(scope="module")
def computed(sweep: Array, machine: Machine) -> dict[str, Array]:
    """Return what each function gives for the sweep, on each machine."""
    return compute(sweep, machine)


@pytest.fixture(scope="module")
def strictly_computed(sweep: Array) -> dict[str, Array]:
    with strict_numbers():
        return compute(sweep, host_machine())


def compute(sweep: Array, machine: Machine) -> dict[str, Array]:
    ours = vars(approximation) | vars(trigonometry)
    kernels = {name: kernel_of(ours[name], sweep.size, machine) for name in FUNCTIONS}
    library = load_objects({"kernels": memoryview(object_of(list(kernels.values()), machine))})
    results: dict[str, Array] = {}
    for name, kernel in kernels.items():
        results[name] = np.empty_like(sweep)
        call = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 3, *[ctypes.c_void_p] * 2)
        (phase,) = kernel.phases
        call(library.address(kernel.symbol))(
            0, 0, phase.iterations, sweep.ctypes.data, results[name].ctypes.data
        )
    return results


def kernel_of(function: Callable[[Value], Value], size: int, machine: Machine) -> LoweredKernel:
    def body(kernel: KernelBuilder, x: Buffer, y: Buffer) -> None:
        def element(at: list[IndexExpr], lanes: Lanes | None) -> None:
            y.store(function(x.load(at, lanes)), at, lanes)

        each_vector((size,), kernel.lanes("f32"), element)

    return build_kernel(machine, [Tensor((size,), "f32")] * 2, body)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_errors_are_as_the_docstrings_say(
    name: str, sweep: Array, computed: dict[str, Array], machine: Machine
) -> None:
    exact, limit, (low, high) = FUNCTIONS[name]
    limit += 0 if machine.fuses else UNFUSED
    where = ((sweep >= low) & (sweep <= high)) | np.isnan(sweep)
    want = exact(sweep[where].astype(np.float64))
    assert largest_error(computed[name][where], want, np.float32(2.0**-126)) <= limit


# Half a unit is the least there is; f64 functions of the C library add a billionth of it.
HALF = 0.5 + 1e-6


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_strict_functions_are_rounded_correctly(
    name: str, sweep: Array, strictly_computed: dict[str, Array]
) -> None:
    want = STRICTLY.get(name, FUNCTIONS[name][0])(sweep.astype(np.float64))
    assert largest_error(strictly_computed[name], want, np.float32(2.0**-149)) <= HALF


# Where the function above would itself lose a tail in f64.
STRICTLY: dict[str, Exact] = {"sigmoid": lambda x: 1 / (1 + np.exp(-x))}


def largest_error(got: Array, want: Array, smallest: np.float32) -> float:
    """Return the largest error in units in the last place; what is not finite must be equal."""
    rounded = want.astype(np.float32)
    finite = np.isfinite(rounded)
    np.testing.assert_array_equal(got[~finite], rounded[~finite])
    unit = np.spacing(np.maximum(np.abs(rounded[finite]), smallest))
    return float((np.abs(got[finite] - want[finite]) / unit).max())


def test_saturated_functions_reach_one_and_never_exceed_it(
    sweep: Array, computed: dict[str, Array], machine: Machine
) -> None:
    one = np.float32(1 if machine.fuses else 1 - 2.0**-23)
    for name, bound in (("tanh", 9.02), ("erf", 3.93)):
        y = computed[name]
        assert one <= np.nanmax(np.abs(y)) <= 1
        assert (y[sweep >= bound] >= one).all()
        assert (y[sweep <= -bound] <= -one).all()


def test_zeros_keep_their_sign(sweep: Array, computed: dict[str, Array]) -> None:
    for name in ("tanh", "erf"):
        np.testing.assert_array_equal(
            np.signbit(computed[name][sweep == 0]), np.signbit(sweep[sweep == 0])
        )


def test_coefficients_are_those_of_remez_exchange() -> None:
    made = {name: (fit.above, fit.below) for name, fit in fits().items()}
    tables: dict[str, tuple[Sequence[float], Sequence[float]]] = {
        "sin": (coefficients.SIN, (1.0,)),
        "cos": (coefficients.COS, (1.0,)),
        "exp": (coefficients.EXP, (1.0,)),
        "exp2": (coefficients.EXP2, (1.0,)),
        "exp2_fraction": (coefficients.EXP2_FRACTION, (1.0,)),
        "exp2_short": (coefficients.EXP2_SHORT, (1.0,)),
        "exp2_near": (coefficients.EXP2_NEAR, (1.0,)),
        "expm1": (coefficients.EXPM1, (1.0,)),
        "log": (coefficients.LOG, (1.0,)),
        "lgamma": (coefficients.LGAMMA, (1.0,)),
        "normal_root": (coefficients.NORMAL_ROOT, (1.0,)),
        "tanh": (coefficients.TANH_ABOVE, coefficients.TANH_BELOW),
        "erf": (coefficients.ERF_ABOVE, coefficients.ERF_BELOW),
    }
    for name, parts in tables.items():
        for table, derived in zip(parts, made[name], strict=True):
            np.testing.assert_allclose(table, derived, rtol=1e-4)
