"""What a core of this machine can do at most, measured with kernels of our own code generator."""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import log

import numpy as np

from ...dialects.core.machine import Machine
from ...dialects.core.mlir import code_context, ir
from ...runtime.elf import load_objects
from ...runtime.memory import allocate
from ...targets.cpu.to_llvm import to_object
from .stopwatch import least_time

_SUMS = 12  # enough to hide the latency of an addition, and few enough for 16 registers
_STEPS = 100_000
_COPY_BYTES = (32 << 10, 512 << 10, 8 << 20, 128 << 20)
_LARGEST = max(_COPY_BYTES) // 2 // 4


@dataclass(frozen=True)
class Peaks:
    """Hold peaks of one core: f32 operations, and bytes by how many of them a copy touches."""

    flops_per_second: float
    bytes_per_second: dict[int, float]

    def bandwidth(self, size_bytes: int) -> float:
        """Return the rate of a copy that touches about as many bytes, so is in the same cache."""
        near = min(self.bytes_per_second, key=lambda size: abs(log(size / max(1, size_bytes))))
        return self.bytes_per_second[near]


def measure_peaks(machine: Machine) -> Peaks:
    """Measure for about a second."""
    with code_context():
        objects = {
            "fma": _compile(fma_text(machine), machine),
            "copy": _compile(copy_text(machine), machine),
        }
    library = load_objects(objects)
    pointers = [ctypes.c_void_p, ctypes.c_void_p]
    fma = ctypes.CFUNCTYPE(None, *pointers)(library.address("fma"))
    copy = ctypes.CFUNCTYPE(None, *pointers, ctypes.c_int64)(library.address("copy"))

    factors = np.zeros(2 * machine.lanes(32), np.float32)
    sums = np.zeros(_SUMS * machine.lanes(32), np.float32)
    work = 2 * sums.size * _STEPS
    rate = work / least_time(partial(fma, factors.ctypes.data, sums.ctypes.data))

    source, target = allocate(_LARGEST * 4), allocate(_LARGEST * 4)
    source[:] = 1  # pages that nobody wrote are all the same page
    rates = {
        size: size / least_time(_copying(copy, source, target, size // 8)) for size in _COPY_BYTES
    }
    return Peaks(rate, rates)


def _copying(
    copy: Callable[[int, int, int], None], source: np.ndarray, target: np.ndarray, count: int
) -> Callable[[], None]:
    return partial(copy, source.ctypes.data, target.ctypes.data, count)


def _compile(text: str, machine: Machine) -> memoryview:
    return memoryview(to_object(ir.Module.parse(text), machine))


def fma_text(machine: Machine) -> str:
    """Return a kernel of nothing but `sum = x * y + sum`, on sums that do not need one another."""
    lanes = machine.lanes(32)
    vector = f"vector<{lanes}xf32>"
    sums = range(_SUMS)
    memory = f"memref<{_SUMS * lanes}xf32>"
    reads = [
        _at(i, lanes) + f"%r{i} = vector.load %sums[%at{i}] : {memory}, {vector}" for i in sums
    ]
    steps = [_multiply_add(machine, i, vector) for i in sums]
    writes = [f"vector.store %y#{i}, %sums[%at{i}] : {memory}, {vector}" for i in sums]
    carried = ", ".join(f"%s{i} = %r{i}" for i in sums)
    types = ", ".join([vector] * _SUMS)
    return "\n".join(
        [
            f"func.func @fma(%factors: memref<{2 * lanes}xf32>, %sums: {memory}) {{",
            "%zero = arith.constant 0 : index",
            "%one = arith.constant 1 : index",
            f"%lanes = arith.constant {lanes} : index",
            f"%steps = arith.constant {_STEPS} : index",
            f"%a = vector.load %factors[%zero] : memref<{2 * lanes}xf32>, {vector}",
            f"%b = vector.load %factors[%lanes] : memref<{2 * lanes}xf32>, {vector}",
            *reads,
            f"%y:{_SUMS} = scf.for %i = %zero to %steps step %one "
            f"iter_args({carried}) -> ({types}) {{",
            *steps,
            f"scf.yield {', '.join(f'%n{i}' for i in sums)} : {types}",
            "}",
            *writes,
            "return",
            "}",
        ]
    )


def _at(number: int, lanes: int) -> str:
    return f"%at{number} = arith.constant {number * lanes} : index\n"


def _multiply_add(machine: Machine, number: int, vector: str) -> str:
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
