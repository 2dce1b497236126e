"""Words and tables of bytes printed as C: instructions where the machine has them, and plain C."""

from pathlib import Path

import numpy as np
import pytest
from c_kernels import compile_c, lower_cases, needs_cc, source_of
from groups import Case
from trivium.dialects import cpu
from trivium.dialects.core.machine import Machine, find_machine, host_machine
from trivium.dialects.core.tensor import Tensor

RANDOM = np.random.default_rng(5)
MACHINES = [host_machine(), find_machine("x86-64-v3"), find_machine("generic")]
TABLE = RANDOM.permutation(256)


def whole(dtype: type, *shape: int) -> np.ndarray:
    info = np.iinfo(dtype)
    return RANDOM.integers(info.min, info.max + 1, shape).astype(dtype)


def cases() -> list[Case]:
    more = {"table": tuple(map(int, TABLE)), "to": "ui8"}
    words = cpu.pack_lane_words(whole(np.int8, 16, 1, 3, 3), 16, 1)
    window = {"kernel": (3, 3), "strides": (1, 1), "sizes": (3, 18)}
    image = whole(np.uint8, 1, 1, 5, 20, 16)
    numbers = RANDOM.normal(0, 90, 333).astype(np.float32)
    numbers[::37] = np.array([np.inf, -np.inf, np.nan] * 3, np.float32)
    limits = {"zero": 3, "low": 0, "high": 255, "to": "ui8"}
    signed = {"zero": 3, "low": -128, "high": 100, "to": "i8"}
    return [
        Case("unsigned", cpu.Quantize, (numbers,), limits),
        Case("signed", cpu.Quantize, (numbers,), signed),
        Case("table", cpu.LookUp, (whole(np.int8, 300),), more),
        Case("lanes", cpu.LaneDotConv, (image, words, whole(np.int32, 16)), window),
    ]


@needs_cc
@pytest.mark.parametrize("machine", MACHINES, ids=[machine.name for machine in MACHINES])
def test_bytes_in_c_are_those_of_the_references(machine: Machine, tmp_path: Path) -> None:
    made = cases()
    kernels = lower_cases(made, machine)
    compiled = compile_c(kernels, machine, tmp_path)
    for number, case in enumerate(made):
        (expected,) = case.reference()
        (got,) = compiled.run(number, case.inputs, [Tensor.of(expected)])
        np.testing.assert_array_equal(got, expected)
    if "avx512vbmi" in machine.features:
        source = source_of(kernels, machine)
        assert "_mm512_permutex2var_epi8" in source
        assert "_mm512_cvtps_epi32" in source
