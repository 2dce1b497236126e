"""Kernels printed as C, compiled by the system's compiler, against the objects of the same IR."""

from pathlib import Path

import numpy as np
import pytest
from c_kernels import compile_c, lower_cases, needs_cc, source_of
from cases import CASES
from cpu_kernels import MACHINES, Compiled, object_of
from trivium.dialects.core.machine import find_machine, host_machine
from trivium.dialects.core.tensor import Array, Tensor
from trivium.runtime.cpu.elf import load_objects
from trivium.targets.options import CompileOptions

OPS = [*CASES.examples]
PLAIN = find_machine("generic")
OUTSIDE = ("tri.cast", "tri.append", "tri.tensor_scatter", "tri.eigh", "cpu.winograd_conv")
"""Ops whose results are any number somewhere, or of either sign, or less exact than the others."""


def assert_same(got: Array, expected: Array, name: str) -> None:
    """Compare with the object: the same bits, but for sums across lanes."""
    if got.tobytes() == expected.tobytes() or np.array_equal(got, expected, equal_nan=True):
        return
    assert got.dtype.kind in "fc", name
    size = np.abs(expected[np.isfinite(expected)]).max(initial=0)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-6 * size, err_msg=name)


@needs_cc
@pytest.mark.parametrize("machine", MACHINES, ids=[machine.name for machine in MACHINES])
def test_code_in_c_gives_the_results_of_the_object(machine, tmp_path: Path) -> None:
    every = 2 if machine == host_machine() else 12
    cases = [case for op in OPS[::every] for case in CASES.of(op, 1)]
    kernels = lower_cases(cases, machine)
    known = {kernel.symbol: kernel for kernel in kernels}
    code = object_of([*known.values()], machine)
    objects = Compiled(load_objects({"kernels": memoryview(code)}), kernels)
    printed = compile_c(kernels, machine, tmp_path)
    for number, case in enumerate(cases):
        types = [Tensor.of(y) for y in case.reference()]
        expected = objects.run(number, case.inputs, types)
        for x, y in zip(printed.run(number, case.inputs, types), expected, strict=True):
            assert_same(x, y, str(case))


@needs_cc
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_plain_c_computes_what_ops_say(tmp_path: Path) -> None:
    chosen = [op for op in OPS[::8] if op.op_name not in OUTSIDE]
    cases = [case for op in chosen for case in CASES.of(op, 1)]
    kernels = lower_cases(cases, PLAIN)
    printed = compile_c(kernels, PLAIN, tmp_path)
    for number, case in enumerate(cases):
        expected = case.reference()
        made = printed.run(number, case.inputs, [Tensor.of(y) for y in expected])
        for x, y in zip(made, expected, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5, err_msg=str(case))


def test_plain_c_has_no_vectors() -> None:
    cases = [case for op in OPS[::20] for case in CASES.of(op, 1)]
    text = source_of(lower_cases(cases, PLAIN), PLAIN)
    assert "vector_size" not in text
    assert "shufflevector" not in text


@needs_cc
def test_strict_sums_are_in_order(tmp_path: Path) -> None:
    op = next(op for op in OPS if op.op_name == "tri.reduce_sum")
    cases = CASES.of(op, 6)
    options = CompileOptions(math="strict")
    machine = host_machine()
    kernels = lower_cases(cases, machine, options)
    known = {kernel.symbol: kernel for kernel in kernels}
    code = object_of([*known.values()], machine, options)
    objects = Compiled(load_objects({"kernels": memoryview(code)}), kernels)
    printed = compile_c(kernels, machine, tmp_path, strict=True)
    for number, case in enumerate(cases):
        types = [Tensor.of(y) for y in case.reference()]
        (expected,) = objects.run(number, case.inputs, types)
        (made,) = printed.run(number, case.inputs, types)
        np.testing.assert_array_equal(made, expected, err_msg=str(case))
