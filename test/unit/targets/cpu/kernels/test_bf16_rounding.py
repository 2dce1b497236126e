"""Rounding to bf16, by instructions and in integer arithmetic."""

import pytest
from bf16_rounding import WANTED, case, compare
from cpu_kernels import compile_cases
from trivium.dialects.core.machine import Machine
from trivium.targets.options import CompileOptions
from word_machines import MACHINES, runs_here, spell


@pytest.mark.parametrize("machine", MACHINES, ids=spell)
def test_all_machines_round_to_the_nearest(machine: Machine) -> None:
    if not runs_here(machine):
        pytest.skip("this machine lacks the instructions")
    (made,) = compile_cases([case()], machine).run(0, case().inputs, [WANTED])
    compare(made, exact="avx512_bf16" not in machine.features)


def test_strict_kernels_keep_denormals() -> None:
    options = CompileOptions(math="strict")
    (made,) = compile_cases([case()], options=options).run(0, case().inputs, [WANTED])
    compare(made, exact=True)
