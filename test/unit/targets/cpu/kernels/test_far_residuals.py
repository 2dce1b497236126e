"""What a product is added to is prefetched while it is computed, if it may be far away."""

from collections.abc import Sequence

import numpy as np
import pytest
from cpu_kernels import compile_groups, on_every_machine
from groups import Case, build_group
from trivium.dialects import cpu, tri
from trivium.dialects.core.machine import Machine, host_machine
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Array, Tensor
from trivium.dialects.cpu.packing import pack_columns

RANDOM = np.random.default_rng(31)


def product(rows: int, depth: int, columns: int) -> tuple[Array, Array, Case]:
    a, b = (
        RANDOM.standard_normal(shape, np.float32) for shape in ((rows, depth), (depth, columns))
    )
    return a, b, Case("", cpu.PackedMatMul, (a, pack_columns(b, 32)), {"columns": columns})


def add(values: Sequence[ir.Value]) -> list[Op]:
    return [tri.Add.build(*values)]


FAR = [(61, 5, 700), (130, 40, 300), (29, 33, 1200), (3, 1, 20000)]
"""Rows, depth and columns: a depth of fewer steps than a tile has vectors, rests of all kinds."""


@on_every_machine
def test_sums_with_far_residuals_are_those_of_numpy(machine: Machine) -> None:
    made = [product(*shape) for shape in FAR]
    others = [RANDOM.standard_normal((rows, columns), np.float32) for rows, _, columns in FAR]
    groups = [
        lambda each=case, other=other: build_group(each, [other], add)
        for (_, _, case), other in zip(made, others, strict=True)
    ]
    compiled = compile_groups(groups, machine)
    for index, ((a, b, case), other) in enumerate(zip(made, others, strict=True)):
        (got,) = compiled.run(index, [*case.inputs, other], [Tensor.of(other)])
        want = a.astype(np.float64) @ b + other
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
        assert "memref.prefetch" in compiled.kernels[index].text


@pytest.mark.parametrize("shape", [(20, 1), (1, 700), (20, 700)])
def test_near_and_repeated_ones_are_not_prefetched(shape: tuple[int, int]) -> None:
    rows = 20 if shape == (20, 700) else 400
    _, _, case = product(rows, 5, 700)
    other = np.zeros(shape if shape[0] == 1 else (rows, shape[1]), np.float32)
    compiled = compile_groups([lambda: build_group(case, [other], add)], host_machine())
    assert "memref.prefetch" not in compiled.kernels[0].text
