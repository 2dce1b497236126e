"""Measure the peak rates of a core of this machine, with kernels of our own code generator."""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...dialects.core.machine import Machine
from ...dialects.core.mlir import code_context, ir
from ...dialects.core.tensor import DTYPES
from ...runtime.cpu.elf import load_objects
from ...runtime.memory import allocate
from ...runtime.observe.peaks import Peaks
from ...targets.cpu.emit.to_llvm import to_object
from ...targets.cpu.kernels.products.dot import find_instruction
from .stopwatch import least_time

_SUMS = 12  # enough to hide the latency of an addition, and few enough for 16 registers
_STEPS = 100_000
SUMS = {"f32": "f32", "i8": "i32", "bf16": "f32"}
"""The element types of which peaks are measured, and what their products are summed in."""

_COPY_BYTES = (32 << 10, 512 << 10, 8 << 20, 128 << 20)
_LARGEST = max(_COPY_BYTES) // 2 // 4


def measure_peaks(machine: Machine) -> Peaks:
    """Measure for about a second."""
    with code_context():
        library = load_objects({"copy": _compile(copy_text(machine), machine)})
    pointers = [ctypes.c_void_p, ctypes.c_void_p]
    copy = ctypes.CFUNCTYPE(None, *pointers, ctypes.c_int64)(library.address("copy"))
    source, target = allocate(_LARGEST * 4), allocate(_LARGEST * 4)
    source[:] = 1  # pages never written are all the same page
    rates = {
        size: size / least_time(_copying(copy, source, target, size // 8)) for size in _COPY_BYTES
    }
    found = {dtype: _measure_products(machine, dtype) for dtype in SUMS}
    return Peaks({dtype: rate for dtype, rate in found.items() if rate}, rates)


def _measure_products(machine: Machine, dtype: str) -> float:
    """Return operations in a second, on zeros; 0 where there is no instruction for them."""
    text = peak_text(machine, dtype)
    if text is None:
        return 0
    with code_context():
        library = load_objects({"peak": _compile(text, machine)})
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(library.address("peak"))
    factors = np.zeros(2 * machine.vector_bytes, np.uint8)
    sums = np.zeros(sum_count(machine) * machine.vector_bytes, np.uint8)
    products = sum_count(machine) * machine.lanes(DTYPES[dtype].bits) * _STEPS
    return 2 * products / least_time(partial(call, factors.ctypes.data, sums.ctypes.data))


def _copying(
    copy: Callable[[int, int, int], None], source: np.ndarray, target: np.ndarray, count: int
) -> Callable[[], None]:
    return partial(copy, source.ctypes.data, target.ctypes.data, count)


def _compile(text: str, machine: Machine) -> memoryview:
    return memoryview(to_object(ir.Module.parse(text), machine))


@dataclass(frozen=True)
class _Loop:
    """Describe what a loop repeats: `sum = x * y + sum`, on vectors of these elements."""

    operand: str
    operand_lanes: int
    sums: str
    lanes: int
    count: int
    step: Callable[[int], str]

    @property
    def operands(self) -> str:
        return f"vector<{self.operand_lanes}x{self.operand}>"

    @property
    def vector(self) -> str:
        return f"vector<{self.lanes}x{self.sums}>"

    def text(self) -> str:
        """Return the kernel: as many sums as hide the latency, which do not need one another."""
        sums, lanes = range(self.count), self.lanes
        memory = f"memref<{self.count * lanes}x{self.sums}>"
        factors = f"memref<{2 * self.operand_lanes}x{self.operand}>"
        reads = [
            _at(i, lanes) + f"%r{i} = vector.load %sums[%at{i}] : {memory}, {self.vector}"
            for i in sums
        ]
        writes = [f"vector.store %y#{i}, %sums[%at{i}] : {memory}, {self.vector}" for i in sums]
        carried = ", ".join(f"%s{i} = %r{i}" for i in sums)
        types = ", ".join([self.vector] * self.count)
        return "\n".join(
            [
                f"func.func @peak(%factors: {factors}, %sums: {memory}) {{",
                "%zero = arith.constant 0 : index",
                "%one = arith.constant 1 : index",
                f"%lanes = arith.constant {self.operand_lanes} : index",
                f"%steps = arith.constant {_STEPS} : index",
                f"%a = vector.load %factors[%zero] : {factors}, {self.operands}",
                f"%b = vector.load %factors[%lanes] : {factors}, {self.operands}",
                *reads,
                f"%y:{self.count} = scf.for %i = %zero to %steps step %one "
                f"iter_args({carried}) -> ({types}) {{",
                *map(self.step, sums),
                f"scf.yield {', '.join(f'%n{i}' for i in sums)} : {types}",
                "}",
                *writes,
                "return",
                "}",
            ]
        )


def _at(number: int, lanes: int) -> str:
    return f"%at{number} = arith.constant {number * lanes} : index\n"


def sum_count(machine: Machine) -> int:
    """Return how many sums are under way at a time: twice as many where there are registers."""
    return _SUMS * (2 if machine.registers == 32 else 1)


def peak_text(machine: Machine, dtype: str) -> str | None:
    """Return a kernel of nothing but products of a type; None without an instruction for them."""
    lanes, count = machine.lanes(32), sum_count(machine)
    if dtype == "f32":
        vector = f"vector<{lanes}xf32>"
        return _Loop(
            "f32", lanes, "f32", lanes, count, partial(_multiply_add, machine, vector)
        ).text()
    found = find_instruction(machine, dtype)
    if found is None:
        return None
    sums, each = SUMS[dtype], machine.lanes(DTYPES[dtype].bits)
    types = f"vector<{lanes}x{sums}>, vector<{each}x{dtype}>, vector<{each}x{dtype}>"
    return _Loop(
        dtype,
        each,
        sums,
        lanes,
        count,
        lambda i: (
            f'%n{i} = llvm.call_intrinsic "{found.name}"(%s{i}, %a, %b) '
            f": ({types}) -> vector<{lanes}x{sums}>"
        ),
    ).text()


def _multiply_add(machine: Machine, vector: str, number: int) -> str:
    if machine.fuses:
        return f"%n{number} = vector.fma %a, %b, %s{number} : {vector}"
    return (
        f"%p{number} = arith.mulf %a, %b : {vector}\n"
        f"%n{number} = arith.addf %p{number}, %s{number} : {vector}"
    )


def copy_text(machine: Machine) -> str:
    """Return a kernel that copies floats; how many is its third argument."""
    lanes = machine.lanes(32)
    vector, memory = f"vector<{lanes}xf32>", f"memref<{_LARGEST}xf32>"
    return f"""
        func.func @copy(%x: {memory}, %y: {memory}, %count: index) {{
          %zero = arith.constant 0 : index
          %lanes = arith.constant {lanes} : index
          scf.for %i = %zero to %count step %lanes {{
            %v = vector.load %x[%i] : {memory}, {vector}
            vector.store %v, %y[%i] : {memory}, {vector}
          }}
          return
        }}"""
