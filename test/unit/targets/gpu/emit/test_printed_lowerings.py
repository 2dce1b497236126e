"""Every op with a kernel, printed and run in Triton's interpreter, against its reference."""

import pytest
from closeness import assert_close, defined
from gpu_cases import CASES
from gpu_kernels import run_group
from groups import build_group
from printed import run_printed
from sources import needs_triton
from trivium.dialects.core.op import Op
from trivium.targets.gpu.emit.compile_kernels import kernel_passes
from trivium.targets.gpu.schedule.architecture import find_architecture

COUNT = 3


@needs_triton
@pytest.mark.parametrize("op", [pytest.param(op, id=op.op_name) for op in CASES.examples])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_printed_kernels_compute_what_the_reference_does(op: type[Op]) -> None:
    for case in CASES.of(op, COUNT):
        made = run_group(
            lambda c=case: build_group(c),
            case.inputs,
            kernel_passes(find_architecture("sm_80")),
            run_printed,
        )
        for got, want in zip(made, case.reference(), strict=True):
            where = defined(case, want)
            assert_close(case, got[where], want[where], case.inputs)
