"""Every op with a kernel: examples of it, alone and with ops fused to it, against its reference."""

from collections.abc import Sequence

import numpy as np
import pytest
from closeness import assert_close, defined
from gpu_cases import CASES
from gpu_kernels import run_group
from groups import Case, build_group
from trivium.dialects import tri
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Array
from trivium.targets.gpu import TARGET

COUNT = 6


def test_every_lowering_is_tested_here() -> None:
    assert set(CASES.examples) == set(TARGET.lowerings)


@pytest.mark.parametrize("op", [pytest.param(op, id=op.op_name) for op in CASES.examples])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_kernels_compute_what_the_reference_does(op: type[Op]) -> None:
    cases = CASES.of(op, COUNT)
    assert cases, "the target refuses all examples"
    for seed, case in enumerate(cases):
        extra = _extra(case, seed)
        wanted = case.reference()
        seen = [defined(case, y) for y in wanted]
        wanted = [np.maximum(wanted[0] + extra[0], 0).astype(wanted[0].dtype)] if extra else wanted
        inputs = [*case.inputs, *extra]
        build = lambda c=case, e=extra: build_group(c, e, _epilogue if e else None)  # noqa: E731
        made = run_group(build, inputs)
        for got, want, where in zip(made, wanted, seen, strict=True):
            assert_close(case, got[where], want[where], inputs)


def _extra(case: Case, seed: int) -> list[Array]:
    """Return the other operand of a fused sum, for every second case that can have one."""
    results = case.reference()
    if seed % 2 or len(results) != 1 or results[0].dtype == np.bool_:
        return []
    shape = tuple(1 if axis % 2 else size for axis, size in enumerate(results[0].shape))
    random = np.random.default_rng(seed)
    return [random.integers(0, 5, shape).astype(results[0].dtype)]


def _epilogue(values: Sequence[ir.Value]) -> list[Op]:
    total = tri.Add.build(*values)
    return [total, tri.Relu.build(total.y)]
