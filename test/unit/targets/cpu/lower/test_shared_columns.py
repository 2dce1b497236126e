"""Pools of blocked images, whose windows share columns, against numpy's maximum of each window."""

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from cpu_kernels import compile_cases, on_every_machine
from groups import Case
from trivium.dialects import tri
from trivium.dialects.core.machine import Machine
from trivium.dialects.core.tensor import Array, Tensor

BF16 = ml_dtypes.bfloat16

# size, kernel, strides, begins, ends, dilations of the two axes of pixels; lanes
WINDOWS = [
    ((9, 13), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1), 16),
    ((11, 30), (3, 3), (2, 2), (0, 0), (1, 1), (1, 1), 16),
    ((7, 9), (5, 4), (1, 3), (2, 0), (2, 3), (1, 1), 8),
    ((5, 40), (2, 16), (1, 1), (0, 15), (1, 8), (3, 1), 4),
    ((6, 8), (3, 3), (1, 1), (2, 2), (2, 2), (1, 2), 16),  # taps apart share no columns
    ((6, 8), (2, 2), (2, 2), (0, 0), (0, 0), (1, 1), 16),  # neither do windows side by side
    ((6, 8), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1), 50),  # no block, but an axis of pixels
]


def image(dtype: type, shape: tuple[int, ...]) -> Array:
    random = np.random.default_rng(5)
    if np.issubdtype(dtype, np.integer):
        return random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, shape).astype(dtype)
    x = random.standard_normal(shape).astype(dtype)
    x[random.random(shape) < 0.02] = np.nan
    x[random.random(shape) < 0.02] = -np.float32(np.nan)
    x[random.random(shape) < 0.3] = -np.inf
    return x


def maximum(x: Array, window: dict[str, tuple[int, ...]]) -> Array:
    least = np.iinfo(x.dtype).min if x.dtype.kind in "iu" else -np.inf
    wide = x.astype(np.float64)
    begins, ends = window["pads"][:3], window["pads"][3:]
    around = [(0, 0), (0, 0), *zip(begins, ends, strict=True)]
    padded = np.pad(wide, around, constant_values=least)
    reach = [(k - 1) * d + 1 for k, d in zip(window["kernel"], window["dilations"], strict=True)]
    views = np.lib.stride_tricks.sliding_window_view(padded, reach, (2, 3, 4))
    by, apart = window["strides"], window["dilations"]
    seen = views[:, :, :: by[0], :: by[1], :: by[2], :: apart[0], :: apart[1], :: apart[2]]
    return seen.max((5, 6, 7)).astype(x.dtype)


def check(machine: Machine, draw: Callable[[tuple[int, ...]], Array]) -> None:
    """Compare the maxima of all windows, exactly; the sign of a zero does not count."""
    cases: list[Case] = []
    for size, kernel, strides, begins, ends, dilations, lanes in WINDOWS:
        window = {
            "kernel": (*kernel, 1),
            "strides": (*strides, 1),
            "pads": (*begins, 0, *ends, 0),
            "dilations": (*dilations, 1),
        }
        cases.append(Case(str(size), tri.MaxPool, (draw((2, 3, *size, lanes)),), window))
    compiled = compile_cases(cases, machine)
    for index, case in enumerate(cases):
        want = maximum(case.inputs[0], case.attributes)
        (got,) = compiled.run(index, case.inputs, [Tensor.of(want)])
        np.testing.assert_array_equal(got.astype(np.float64), want.astype(np.float64))


@on_every_machine
@pytest.mark.parametrize("dtype", [np.float32, BF16, np.float16, np.int8, np.uint8])
def test_maxima_are_those_of_numpy(dtype: type, machine: Machine) -> None:
    check(machine, lambda shape: image(dtype, shape))


def without_sign(dtype: type, shape: tuple[int, ...]) -> Array:
    """Draw halves without a sign, NaN and infinities among them, but for some numbers of one image.

    Zeros and NaN have one there.
    """
    random = np.random.default_rng(6)
    x = np.abs(image(dtype, shape))
    x[random.random(shape) < 0.1] = 0
    x[1][random.random(shape[1:]) < 0.01] = -0.0
    x[1, 0][random.random(shape[2:]) < 0.01] = -np.float32(np.nan)
    return x


@on_every_machine
@pytest.mark.parametrize("dtype", [BF16, np.float16])
def test_maxima_of_halves_without_sign_are_those_of_numpy(dtype: type, machine: Machine) -> None:
    """Of these the bits are compared, in tiles in which none has a sign."""
    check(machine, lambda shape: without_sign(dtype, shape))
