"""The logarithm of the gamma function beside torch's of f64, over the range of f32."""

import math

import numpy as np
import pytest
import torch
from cpu_kernels import compile_cases
from groups import Case
from trivium.dialects import tri
from trivium.dialects.core.tensor import Array, Tensor

EDGES = [0.0, -0.0, 1.0, 2.0, 3.0, -1.0, -7.0, -1e30, 3e38, math.inf, math.nan, 2.0**-140, 1e-30]
LARGEST = {np.float32: 5e-7, np.float64: 1e-14}
"""The largest errors above zero: of f32 relative to all results, of f64 to those of at least 1."""


def _kernel(x: Array) -> Array:
    compiled = compile_cases([Case("", tri.Lgamma, (x,))])
    (y,) = compiled.run(0, [x], [Tensor.of(x)])
    return y


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_logarithm_of_gamma(dtype: type) -> None:
    ones = 1 + np.arange(-200, 200) * 2.0**-23
    above = [np.linspace(0, 40, 20001), ones, 2 * ones, np.geomspace(1e-37, 1e36, 2000), EDGES]
    below = -np.linspace(0, 30, 20002)
    x = np.concatenate([*above, below]).astype(dtype)
    want = torch.lgamma(torch.tensor(x.astype(np.float64))).numpy()
    with np.errstate(over="ignore"):
        want = want.astype(dtype)
    got = _kernel(x)
    np.testing.assert_array_equal(np.isfinite(got), np.isfinite(want))
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    some, positive = np.isfinite(want), x > 0
    error = np.abs(got[some].astype(np.float64) - want[some])
    size, positive = np.abs(want[some]), positive[some]
    least = 0 if dtype is np.float32 else 1
    assert (error[positive] <= LARGEST[dtype] * np.maximum(size[positive], least)).all()
    # Below zero, and in f64, terms are up to so large before their sum cancels out.
    terms = np.maximum(size[~positive], 8 if dtype is np.float32 else 32)
    assert (error[~positive] <= 4 * np.finfo(dtype).eps * terms).all()


def test_minus_infinity_is_a_pole() -> None:
    assert _kernel(np.array([-math.inf], np.float32)).tolist() == [math.inf]
