"""The greatest and the least of numbers: NaN at any place, the two zeros, windows of nothing."""

import numpy as np
import pytest
import torch
from cpu_kernels import compile_cases
from groups import Case
from trivium.dialects import tri
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Array, Tensor
from trivium.targets.options import DEFAULT, CompileOptions

STRICT = CompileOptions(math="strict")
BOTH = pytest.mark.parametrize("options", [DEFAULT, STRICT], ids=["fast", "strict"])


def run(case: Case, options: CompileOptions) -> Array:
    outputs = [Tensor.of(y) for y in case.reference()]
    return compile_cases([case], options=options).run(0, case.inputs, outputs)[0]


@BOTH
@pytest.mark.parametrize("dilation", [1, 2])
def test_a_pool_keeps_nan_from_each_place_of_an_image(
    options: CompileOptions, dilation: int
) -> None:
    height, width = 7, 37
    x = np.random.default_rng(0).normal(size=(height * width, 1, height, width))
    x = x.astype(np.float32)
    x.reshape(len(x), -1)[range(len(x)), range(len(x))] = np.nan
    window = {"kernel": (3, 3), "strides": (2, 2), "pads": (1,) * 4, "dilations": (dilation,) * 2}
    want = torch.max_pool2d(torch.from_numpy(x), 3, 2, 1, dilation).numpy()
    assert np.isnan(want).any()
    assert not np.isnan(want).all()
    np.testing.assert_array_equal(run(Case("", tri.MaxPool, (x,), window), options), want)


@BOTH
def test_windows_between_which_there_is_nothing(options: CompileOptions) -> None:
    x = np.array([[[[4, -2, 3], [1, 7, -5]]]], np.float32)
    window = {"kernel": (2, 1), "strides": (1, 1), "pads": (1, 0, 2, 0), "dilations": (3, 1)}
    got = run(Case("", tri.MaxPool, (x,), window), options)
    # The first windows see rows -1 and 2, which are not there, the others rows 0 and 3.
    np.testing.assert_array_equal(got, [[[[-np.inf] * 3, [4, -2, 3]]]])


@pytest.mark.parametrize(("op", "want"), [(tri.Maximum, False), (tri.Minimum, True)])
def test_strict_kernels_put_the_zeros_in_order(op: type[Op], want: bool) -> None:
    zeros = np.array([0.0, -0.0] * 16, np.float32)
    got = run(Case("", op, (zeros, -zeros)), STRICT)
    assert (np.signbit(got) == want).all()
