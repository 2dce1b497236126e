"""Quantisation in one op: halves to even, limits, infinities and NaN, as numpy computes them."""

import numpy as np
import pytest
from cpu_kernels import compile_cases
from groups import Case
from trivium.dialects import cpu
from trivium.dialects.core.machine import find_machine
from trivium.dialects.core.tensor import Array, Tensor

INFINITE = np.array([np.inf, -np.inf, np.nan, -0.0, 3e38, -3e38, 1e-45], np.float32)


def expected(x: Array, zero: int, low: int, high: int, to: str) -> Array:
    whole = np.rint(x.astype(np.float64)) + zero
    whole = np.where(np.isnan(whole), low, np.clip(whole, low, high))
    return whole.astype({"ui8": np.uint8, "i8": np.int8}[to])


@pytest.mark.parametrize("machine", ["native", "x86-64-v3", "x86-64"])
def test_halves_are_rounded_to_even(machine: str) -> None:
    halves = np.arange(-700, 700, dtype=np.float32) / 2
    x = np.concatenate([halves, np.nextafter(halves, np.float32(1e9)), INFINITE])
    settings = [
        (zero, low, high, to)
        for to, low, high in (("ui8", 0, 255), ("ui8", 3, 77), ("i8", -128, 127), ("i8", 0, 6))
        for zero in (0, 1, 126, 127, -3, -65536, 65535)
    ]
    names = ("zero", "low", "high", "to")
    cases = [
        Case("quantize", cpu.Quantize, (x,), dict(zip(names, each, strict=True)))
        for each in settings
    ]
    compiled = compile_cases(cases, find_machine(machine))
    for number, each in enumerate(settings):
        wanted = expected(x, *each)
        (reference,) = cases[number].reference()
        (got,) = compiled.run(number, cases[number].inputs, [Tensor.of(wanted)])
        np.testing.assert_array_equal(got, wanted)
        np.testing.assert_array_equal(reference, wanted)
