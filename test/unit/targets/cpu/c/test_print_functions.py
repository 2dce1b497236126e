"""Functions in printed code, by instructions of AVX-512 where the machine has them."""

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from c_kernels import compile_c, lower_cases, needs_cc
from cpu_kernels import compile_cases
from groups import Case
from trivium.dialects import tri
from trivium.dialects.core.machine import host_machine
from trivium.dialects.core.tensor import Tensor

BF16 = np.arange(1 << 16, dtype=np.uint16).view(ml_dtypes.bfloat16).reshape(64, 1024)


@needs_cc
@pytest.mark.parametrize("dtype", ["bf16", "f32"])
def test_printed_functions_are_those_of_objects(dtype: str, tmp_path: Path) -> None:
    every = BF16 if dtype == "bf16" else BF16.astype(np.float32)
    cases = [
        Case(op.op_name, op, (every,), {}) for op in (tri.Exp, tri.Sigmoid, tri.Silu, tri.Gelu)
    ]
    machine = host_machine()
    printed = compile_c(lower_cases(cases, machine), machine, tmp_path)
    objects = compile_cases(cases, machine)
    for index in range(len(cases)):
        (made,), (want,) = (
            kernels.run(index, [every], [Tensor(every.shape, dtype)])
            for kernels in (printed, objects)
        )
        np.testing.assert_array_equal(made.astype(np.float32), want.astype(np.float32))
