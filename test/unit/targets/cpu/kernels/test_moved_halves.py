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
