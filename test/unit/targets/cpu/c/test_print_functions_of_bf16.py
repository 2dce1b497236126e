"""Functions of bf16 in printed code."""

from pathlib import Path

import ml_dtypes
import numpy as np
from c_kernels import compile_c, lower_cases, needs_cc
from cpu_kernels import compile_cases
from groups import Case
from trivium.dialects import tri
from trivium.dialects.core.machine import host_machine
from trivium.dialects.core.tensor import Tensor


@needs_cc
def test_printed_functions_are_those_of_objects(tmp_path: Path) -> None:
    every = np.arange(1 << 16, dtype=np.uint16).view(ml_dtypes.bfloat16).reshape(64, 1024)
    cases = [
        Case(op.op_name, op, (every,), {}) for op in (tri.Exp, tri.Sigmoid, tri.Silu, tri.Gelu)
    ]
    machine = host_machine()
    printed = compile_c(lower_cases(cases, machine), machine, tmp_path)
    objects = compile_cases(cases, machine)
    for index in range(len(cases)):
        (made,), (want,) = (
            kernels.run(index, [every], [Tensor(every.shape, "bf16")])
            for kernels in (printed, objects)
        )
        np.testing.assert_array_equal(made.astype(np.float32), want.astype(np.float32))
