"""Kernels printed as C, compiled by the system's compiler, against the objects of the same IR."""

from pathlib import Path
from shutil import which

import numpy as np
import pytest
from c_kernels import compile_c, lower_cases, needs_cc, source_of
from cases import CASES
from cpu_kernels import MACHINES, Compiled, LoweredKernel, object_of
from groups import Case
from trivium.dialects import tri
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.machine import find_machine, host_machine
from trivium.dialects.core.mlir import code_context, ir
from trivium.dialects.core.tensor import Array, Tensor
from trivium.runtime.cpu.elf import load_objects
from trivium.targets.cpu.c.print_kernel import print_kernel
from trivium.targets.cpu.kernels.kernel_module import Phase
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


PRODUCTS = """
module {
  func.func @kernel(%phase: index, %begin: index, %end: index,
                    %x: memref<64xf32>, %y: memref<64xf32>, %z: memref<64xf32>) {
    %c0 = arith.constant 0 : index
    %one = arith.constant dense<1.0> : vector<64xf32>
    %a = vector.load %x[%c0] : memref<64xf32>, vector<64xf32>
    %b = vector.load %y[%c0] : memref<64xf32>, vector<64xf32>
    %d = arith.divf %one, %a : vector<64xf32>
    %low = arith.mulf %a, %b fastmath<contract> : vector<64xf32>
    %e = arith.divf %d, %b : vector<64xf32>
    %high = arith.mulf %d, %e fastmath<contract> : vector<64xf32>
    %r = arith.OP fastmath<contract> : vector<64xf32>
    vector.store %r, %z[%c0] : memref<64xf32>, vector<64xf32>
    return
  }
}
"""


@needs_cc
@pytest.mark.parametrize(
    "op", ["addf %low, %high", "addf %high, %low", "subf %low, %high", "subf %high, %low"]
)
def test_of_two_products_the_one_that_llvm_fuses_is_fused(op: str, tmp_path: Path) -> None:
    machine = host_machine()
    if not machine.fuses:
        pytest.skip("this CPU fuses no products")
    kernel = LoweredKernel("kernel", (), (Phase(),), 0, PRODUCTS.replace("OP", op))
    code = object_of([kernel], machine)
    objects = Compiled(load_objects({"kernels": memoryview(code)}), [kernel])
    x, y = np.random.default_rng(1).uniform(0.5, 2, (2, 64)).astype(np.float32)
    expected = objects.run(0, [x, y], [Tensor.of(x)])
    made = compile_c([kernel], machine, tmp_path).run(0, [x, y], [Tensor.of(x)])
    np.testing.assert_array_equal(made, expected)


@needs_cc
def test_sums_of_products_have_the_same_bits_where_llvm_unrolls_their_loops(tmp_path: Path) -> None:
    machine, draw = host_machine(), np.random.default_rng(2).standard_normal
    rows = [[draw(s, np.float32) for s in ((9, n), n, n)] for n in (96, 192, 384, 400)]
    cases = [Case("", tri.LayerNorm, tuple(x), {"axis": -1, "epsilon": 1e-5}) for x in rows]
    kernels = lower_cases(cases, machine)
    objects = Compiled(load_objects({"kernels": memoryview(object_of(kernels, machine))}), kernels)
    printed = compile_c(kernels, machine, tmp_path)
    for number, case in enumerate(cases):
        types = [Tensor.of(y) for y in case.reference()]
        (expected,) = objects.run(number, case.inputs, types)
        (made,) = printed.run(number, case.inputs, types)
        np.testing.assert_array_equal(made, expected, err_msg=str(case.inputs[0].shape))


UNKNOWN = """
func.func @kernel(%phase: index, %begin: index, %end: index, %x: memref<4xi32>) {
  %c0 = arith.constant 0 : index
  %a = memref.load %x[%c0] : memref<4xi32>
  %b = math.ctlz %a : i32
  memref.store %b, %x[%c0] : memref<4xi32>
  return
}
"""


def test_an_op_without_a_form_in_c_is_refused_by_its_name_and_nodes() -> None:
    with code_context(), pytest.raises(CompileError, match=r"^conv_1: error: .*'math\.ctlz'"):
        print_kernel(ir.Module.parse(UNKNOWN), PLAIN, False, "conv_1")


MASKS = """
func.func @kernel(%phase: index, %begin: index, %end: index,
                  %x: memref<8xf32>, %n: memref<8xi8>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %a = vector.load %x[%c0] : memref<8xf32>, vector<8xf32>
  %b = vector.load %n[%c0] : memref<8xi8>, vector<8xi8>
  %zero = arith.constant dense<0> : vector<8xi8>
  %one = arith.constant 1.0 : f32
  %large = arith.constant dense<1.0> : vector<8xf32>
  %wide = arith.cmpf ogt, %a, %large : vector<8xf32>
  %narrow = arith.cmpi ne, %b, %zero : vector<8xi8>
  %both = arith.andi %wide, %narrow : vector<8xi1>
  %first = memref.load %x[%c0] : memref<8xf32>
  %some = arith.cmpf olt, %first, %one : f32
  %all = vector.broadcast %some : i1 to vector<8xi1>
  %m = arith.andi %both, %all : vector<8xi1>
  %r = arith.select %m, %a, %large : vector<8xi1>, vector<8xf32>
  vector.store %r, %y[%c0] : memref<8xf32>, vector<8xf32>
  return
}
"""


@needs_cc
@pytest.mark.parametrize("name", ["x86-64", "generic"])
def test_masks_of_bytes_and_of_one_condition_meet_those_of_floats(name, tmp_path: Path) -> None:
    machine = find_machine(name)
    tensors = (Tensor((8,), "f32"), Tensor((8,), "i8"), Tensor((8,), "f32"))
    kernel = LoweredKernel("kernel", (), (Phase(),), 0, MASKS)
    compiled = compile_c([kernel], machine, tmp_path)
    x = np.array([0.5, 2, 3, -1, 4, 5, 1, 9], np.float32)
    n = np.array([1, 1, 0, 1, -1, 0, 1, 1], np.int8)
    for first in (0.5, 1.5):
        x[0] = first
        (made,) = compiled.run(0, [x, n], tensors[2:])
        expected = np.where((x > 1) & (n != 0) & (first < 1), x, 1)
        np.testing.assert_array_equal(made, expected)


EXTREMES = """
module {
  func.func @kernel(%phase: index, %begin: index, %end: index,
                    %x: memref<32xf32>, %y: memref<32xf32>, %z: memref<33xf32>) {
    %c0 = arith.constant 0 : index
    %last = arith.constant 32 : index
    %a = vector.load %x[%c0] : memref<32xf32>, vector<32xf32>
    %b = vector.load %y[%c0] : memref<32xf32>, vector<32xf32>
    %r = arith.NAMEf %a, %b : vector<32xf32>
    vector.store %r, %z[%c0] : memref<33xf32>, vector<32xf32>
    %s = memref.load %x[%c0] : memref<32xf32>
    %t = memref.load %y[%c0] : memref<32xf32>
    %u = arith.NAMEf %s, %t : f32
    memref.store %u, %z[%last] : memref<33xf32>
    return
  }
}
"""
COMPILERS = [
    pytest.param(c, marks=pytest.mark.skipif(which(c) is None, reason=f"there is no {c}"))
    for c in ("gcc", "clang")
]


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", ["maximum", "minimum"])
@pytest.mark.parametrize("machine", ["native", "generic"])
def test_zeros_are_ordered_by_their_signs(compiler, name, machine, tmp_path, monkeypatch) -> None:
    kernel = LoweredKernel("kernel", (), (Phase(),), 0, EXTREMES.replace("NAME", name))
    monkeypatch.setattr("c_kernels.CC", compiler)
    compiled = compile_c([kernel], find_machine(machine), tmp_path, strict=True)
    numbers = np.array([0.0, -0.0, np.nan, -np.nan, 1, -1, np.inf, -np.inf], np.float32)
    host = host_machine()
    objects = Compiled(load_objects({"kernels": memoryview(object_of([kernel], host))}), [kernel])
    for shift in range(8):
        x, y = np.tile(numbers, 4), np.tile(np.roll(numbers, shift), 4)
        (made,) = compiled.run(0, [x, y], [Tensor((33,), "f32")])
        (expected,) = objects.run(0, [x, y], [Tensor((33,), "f32")])
        np.testing.assert_array_equal(made, expected)
        numbers_only = ~np.isnan(expected)
        np.testing.assert_array_equal(
            np.signbit(made)[numbers_only], np.signbit(expected)[numbers_only]
        )
        if shift == 1:  # of -0 and +0
            assert np.signbit(made[1]) == (name == "minimum")
