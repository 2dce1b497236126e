"""Formulas of functions that the tile dialect lacks, against numpy in wider floats."""

from collections.abc import Callable

import numpy as np
import pytest
from gpu_kernels import run_group
from groups import Case, build_group
from trivium.dialects import tri
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Array

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

Function = Callable[[Array], Array]
WIDER = {"float32": np.float64, "float64": np.longdouble}
FUNCTIONS: dict[type[Op], tuple[Function, float]] = {
    tri.Expm1: (np.expm1, 8),
    tri.Log1p: (np.log1p, 3),
    tri.Tanh: (np.tanh, 4),
    tri.Tan: (np.tan, 3),
    tri.Asin: (np.arcsin, 3),
    tri.Acos: (np.arccos, 3),
    tri.Atan: (np.arctan, 3),
    tri.Sinh: (np.sinh, 6),
    tri.Cosh: (np.cosh, 4),
    tri.Asinh: (np.arcsinh, 3),
    tri.Acosh: (np.arccosh, 3),
    tri.Atanh: (np.arctanh, 3),
    tri.Sigmoid: (lambda x: 1 / (1 + np.exp(-x)), 3),
    tri.Softplus: (lambda x: np.logaddexp(x, x.dtype.type(0)), 4),
}
"""What is computed, and how many units in the last place it may be off."""

MOST_RADIANS = 1e4
"""Beyond this, numpy's wider tangent is not good to all digits of an f64."""


def sweep(dtype: str) -> Array:
    """Return normal numbers of all sizes, many near 0 and 1, of both signs, and special ones."""
    info = np.finfo(dtype)
    powers = 2.0 ** np.linspace(info.minexp + 2, info.maxexp - 1, 2000)
    near_one = 2.0 ** -np.arange(1.0, info.nmant + 1)
    parts = [powers, 1 - near_one, 1 + near_one, np.linspace(0, 2, 1999), np.linspace(2, 800, 1999)]
    positive = np.concatenate(parts).astype(dtype)
    special = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0], dtype)
    return np.concatenate([positive, -positive, special])


def computed(op: type[Op], *xs: Array) -> Array:
    case = Case("", op, xs)
    return run_group(lambda: build_group(case), xs)[0]


@pytest.mark.parametrize("dtype", WIDER)
@pytest.mark.parametrize("op", FUNCTIONS, ids=lambda op: op.op_name)
def test_formulas_are_good_to_few_units_in_the_last_place(op: type[Op], dtype: str) -> None:
    function, most = FUNCTIONS[op]
    x = sweep(dtype)
    x = x[np.abs(x) < MOST_RADIANS] if op is tri.Tan else x
    exact = function(x.astype(WIDER[dtype]))
    rounded = exact.astype(dtype)
    y = computed(op, x)
    np.testing.assert_array_equal(np.isnan(y), np.isnan(rounded))
    infinite = np.isinf(rounded)
    np.testing.assert_array_equal(y[infinite], rounded[infinite])
    seen = np.isfinite(rounded) & (np.abs(rounded) >= np.finfo(dtype).tiny)
    errors = np.abs(y[seen] - exact[seen]) / np.spacing(np.abs(rounded[seen]))
    worst = int(np.argmax(errors))
    assert errors[worst] <= most, f"{errors[worst]} at {x[seen][worst]}"


@pytest.mark.parametrize("dtype", WIDER)
@pytest.mark.parametrize(
    ("op", "function"),
    [(tri.Round, np.rint), (tri.Trunc, np.trunc)],
    ids=["round", "trunc"],
)
def test_whole_numbers_are_exact(op: type[Op], function: Function, dtype: str) -> None:
    halves = np.arange(-9, 9.5, 0.5, dtype)
    near = np.concatenate([np.nextafter(halves, 99), np.nextafter(halves, -99)])
    large = 2.0 ** np.arange(20, 60, dtype=dtype)
    x = np.concatenate([sweep(dtype), halves, near, large, large + 0.5, -large - 0.5]).astype(dtype)
    y = computed(op, x)
    np.testing.assert_array_equal(y, function(x))
    np.testing.assert_array_equal(np.signbit(y[y == 0]), np.signbit(function(x)[y == 0]))


@pytest.mark.parametrize("dtype", WIDER)
def test_an_angle_knows_its_quadrant(dtype: str) -> None:
    numbers = [0.0, -0.0, 1e-30, -1e-30, 0.5, 1.0, -1.0, 3.0, -7.0, 1e30, np.inf, -np.inf, np.nan]
    a, b = np.meshgrid(np.array(numbers, dtype), np.array(numbers, dtype))
    limit = 4 * np.finfo(dtype).eps
    np.testing.assert_allclose(computed(tri.Atan2, a, b), np.arctan2(a, b), rtol=limit)
    signs = np.signbit(computed(tri.Atan2, a, b)), np.signbit(np.arctan2(a, b))
    np.testing.assert_array_equal(*(sign[~np.isnan(a + b)] for sign in signs))
