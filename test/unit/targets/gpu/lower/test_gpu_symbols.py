"""Every op with a kernel, one size of its examples as a symbol: refused, or as its reference."""

import numpy as np
import pytest
from closeness import assert_close, defined
from gpu_cases import CASES
from gpu_kernels import run_kernels
from groups import SYMBOL, Case, build_symbolic_group, op_of, release
from trivium.dialects.core.errors import Undecided
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Array
from trivium.dialects.core.verification import verify
from trivium.dialects.tile.interpret import run_kernel
from trivium.targets.gpu.lower.group import lower_group
from trivium.targets.gpu.registry import TABLE

COUNT = 3


@pytest.mark.parametrize("op", [pytest.param(op, id=op.op_name) for op in CASES.examples])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_kernels_of_a_symbol_compute_what_the_reference_does(op: type[Op]) -> None:
    ran = False
    for case in CASES.of(op, COUNT):
        for size in sorted({n for x in case.inputs for n in np.asarray(x).shape if n > 1}):
            results = _computed(case, size)
            if results is None:
                continue
            ran = True
            for got, want in zip(results, case.reference(), strict=True):
                seen = defined(case, want)
                assert_close(case, got[seen], want[seen], case.inputs)
    if not ran:
        pytest.skip("no size of the examples may be a symbol")


def _computed(case: Case, size: int) -> list[Array] | None:
    """Return the results of kernels where a size is a symbol; None if the target refuses."""
    sizes = {SYMBOL: size}
    with new_context(), ir.Location.unknown():
        group = build_symbolic_group(case, size, Module(ir.Module.create()), "gpu")
        if group is None or TABLE.broken_limit(op_of(group)) is not None:
            return None
        module = ir.Module.create()
        try:
            kernels = lower_group(group, module)
        except Undecided:  # the target tries so, too, and refuses the op
            return None
        verify(module.operation)
        try:
            return run_kernels(
                group,
                kernels,
                case.inputs,
                lambda kernel, memories: run_kernel(kernel, memories, sizes),
                sizes,
            )
        finally:
            release()
