"""Rounding to bf16 in printed code."""

from pathlib import Path

from bf16_rounding import WANTED, case, compare
from c_kernels import compile_c, lower_cases, needs_cc
from trivium.dialects.core.machine import host_machine


@needs_cc
def test_printed_code_rounds_to_the_nearest(tmp_path: Path) -> None:
    machine = host_machine()
    lowered = lower_cases([case()], machine)
    (made,) = compile_c(lowered, machine, tmp_path).run(0, case().inputs, [WANTED])
    compare(made, exact=False)
