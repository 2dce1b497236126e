"""Halves that are only moved keep their bits: denormals, and NaN of any kind."""

import ml_dtypes
import numpy as np
import pytest
from cpu_kernels import compile_cases, on_every_machine
from groups import Case
from trivium.dialects import tri
from trivium.dialects.core.machine import Machine
from trivium.dialects.core.tensor import Tensor


@on_every_machine
@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16])
def test_concatenation_keeps_all_bits(dtype: type, machine: Machine) -> None:
    every = np.arange(1 << 16, dtype=np.uint16).reshape(16, 4096)
    parts = [every[:, :4091].copy().view(dtype), every[:, 4091:].copy().view(dtype)]
    compiled = compile_cases([Case("halves", tri.Concat, (parts,), {"axis": 1})], machine)
    (made,) = compiled.run(0, parts, [Tensor(every.shape, Tensor.of(parts[0]).dtype)])
    np.testing.assert_array_equal(made.view(np.uint16), every)


@on_every_machine
@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16])
@pytest.mark.parametrize("rows", [3, 64])
def test_transposition_keeps_all_bits(dtype: type, rows: int, machine: Machine) -> None:
    every = np.arange(1 << 16, dtype=np.uint16)[: (1 << 16) // rows * rows].reshape(rows, -1)
    x = every.view(dtype)
    case = Case("halves", tri.Transpose, (x,), {"permutation": (1, 0)})
    (made,) = compile_cases([case], machine).run(
        0, [x], [Tensor(every.T.shape, Tensor.of(x).dtype)]
    )
    np.testing.assert_array_equal(made.view(np.uint16), every.T)
