"""Transpositions that deal a few lines out, such as the channels of a picture, against numpy's."""

import ml_dtypes
import numpy as np
import pytest
from cpu_kernels import compile_cases, on_every_machine
from groups import Case
from trivium.dialects import tri
from trivium.dialects.core.machine import Machine
from trivium.dialects.core.tensor import Tensor

SHAPES = [(1, 3, 224), (2, 3, 70), (3, 2, 65), (1, 4, 131), (2, 5, 64), (1, 3, 5), (1, 3, 16)]
"""The fifth has more lines than are dealt out, and the sixth less than a vector of each."""


@on_every_machine
@pytest.mark.parametrize("dtype", [np.float32, np.float64, ml_dtypes.bfloat16, np.uint8, np.int16])
def test_lines_are_dealt_out(dtype: type, machine: Machine) -> None:
    random = np.random.default_rng(3)
    images = [random.integers(0, 200, shape).astype(dtype) for shape in SHAPES]
    cases = [Case(str(x.shape), tri.Transpose, (x,), {"permutation": (0, 2, 1)}) for x in images]
    compiled = compile_cases(cases, machine)
    for index, x in enumerate(images):
        want = x.transpose(0, 2, 1)
        (made,) = compiled.run(index, [x], [Tensor(want.shape, Tensor.of(x).dtype)])
        np.testing.assert_array_equal(made, want)
