"""Build groups of one op, compile many of them into one object, and run them on numpy arrays."""

import ctypes
import mmap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from groups import Case, build_group, release
from trivium.dialects import tri
from trivium.dialects.core.machine import LEVELS, NATIVE, Machine, host_machine
from trivium.dialects.core.mlir import code_context, ir, new_context
from trivium.dialects.core.module import Module
from trivium.dialects.core.tensor import Array, Tensor, numpy_dtype
from trivium.dialects.core.verification import Verify
from trivium.passes.pipeline import Pipeline
from trivium.runtime.cpu.choose_code import cpu_features
from trivium.runtime.cpu.elf import NativeLibrary, load_objects
from trivium.targets.cpu.emit.kernel_pipeline import kernel_pipeline, module_of
from trivium.targets.cpu.emit.name_kernels import NameKernels
from trivium.targets.cpu.emit.split_phases import SplitPhases
from trivium.targets.cpu.emit.to_llvm import to_object
from trivium.targets.cpu.kernels.builder import KernelBuilder
from trivium.targets.cpu.kernels.kernel_module import Kernel, kernel_modules
from trivium.targets.cpu.kernels.record import bind_record
from trivium.targets.cpu.lower import to_kernels
from trivium.targets.options import DEFAULT, CompileOptions

GUARD_BYTE = 0xA5
POISON = 0xFF  # makes NaN of any float
PAGE = mmap.PAGESIZE
LIBC = ctypes.CDLL(None, use_errno=True)


def runs_here(machine: Machine) -> bool:
    return cpu_features().issuperset(machine.features)


_WIDTHS = {m.vector_bytes: m for m in (*reversed(LEVELS), host_machine()) if runs_here(m)}
MACHINES = list(_WIDTHS.values())
"""One machine for each width of vectors that this CPU has: this CPU, and the least levels."""

on_every_machine = pytest.mark.parametrize(
    "machine", MACHINES, ids=[machine.name for machine in MACHINES]
)

SHARE = 10


def share(cases: Sequence[Any], machine: Machine) -> Sequence[Any]:
    """Return all cases for the CPU at hand, and every tenth for another machine."""
    return cases if machine.name == NATIVE else cases[::SHARE]


@dataclass(frozen=True)
class Compiled:
    """Hold kernels whose code is loaded."""

    library: NativeLibrary
    kernels: list[Kernel]

    def run(
        self,
        index: int,
        inputs: Sequence[Array],
        outputs: Sequence[Tensor],
        record: Sequence[int] = (),
    ) -> list[Array]:
        """Run one kernel with pages out of bounds behind its buffers, then before them.

        It runs in one go first, then in chunks, of which the later ones come earlier. `record` are
        the words of its record.

        Raises AssertionError when it writes outside of its buffers or to its inputs.
        """
        whole = self._run(index, inputs, outputs, record, low=True)
        cut = self._run(index, inputs, outputs, record, low=False)
        for one, other in zip(whole, cut, strict=True):
            assert one.tobytes() == other.tobytes(), "results depend on how a phase is cut"
        return cut

    def _run(
        self,
        index: int,
        inputs: Sequence[Array],
        outputs: Sequence[Tensor],
        record: Sequence[int],
        low: bool,
    ) -> list[Array]:
        kernel = self.kernels[index]
        assert len(record) == kernel.words
        memory = [_Guarded(Tensor.of(np.asarray(x)), low) for x in inputs]
        for guarded, array in zip(memory, inputs, strict=True):
            guarded.array[...] = array
        memory += [_Guarded(t, low) for t in outputs]
        first = len(memory)
        memory += [_Guarded(bound(s.tensor, record), low) for s in kernel.scratch]
        private = [m for m, s in zip(memory[first:], kernel.scratch, strict=True) if s.private]
        if record:
            memory.append(_Guarded(Tensor((len(record),), "i64"), low))
            memory[-1].array[...] = record
        types = [*[ctypes.c_int64] * 3, *[ctypes.c_void_p] * len(memory)]
        function = ctypes.CFUNCTYPE(None, *types)(self.library.address(kernel.symbol))
        addresses = [m.address for m in memory]
        for number, phase in enumerate(kernel.phases):
            iterations, _, steps = (bind_record(size, record) for size in phase)
            for step, (begin, end) in product(range(steps), _chunks(iterations, whole=low)):
                for own in private:  # what another thread would find in its own
                    own.bytes()[:] = POISON
                first = step * iterations
                function(number, first + begin, first + end, *addresses)
        for position, guarded in enumerate(memory):
            guarded.check(position)
        for guarded, array in zip(memory, inputs, strict=False):
            np.testing.assert_array_equal(
                guarded.bytes(), np.ascontiguousarray(array).reshape(-1).view(np.uint8)
            )
        return [m.array for m in memory[len(inputs) : len(inputs) + len(outputs)]]


def bound(tensor: Tensor, record: Sequence[int]) -> Tensor:
    """Return the type of memory of a kernel when it runs with a record."""
    return Tensor(tuple(bind_record(size, record) for size in tensor.shape), tensor.dtype)


def _chunks(iterations: int, whole: bool) -> list[tuple[int, int]]:
    """Cut a phase into pieces of one, two and three iterations and so on, in no order."""
    if whole:
        return [(0, iterations)]
    ends = [0]
    while ends[-1] < iterations:
        ends.append(min(ends[-1] + len(ends), iterations))
    chunks = list(pairwise(ends))
    return [*chunks[::-2], *chunks[-2::-2]]


class _Guarded:
    """Own an array between bytes that nobody may write and pages that nobody may touch.

    The array lies against the page after it, or, with `low`, against the page before it; a read
    beyond that end ends the process.
    """

    def __init__(self, tensor: Tensor, low: bool) -> None:
        dtype = numpy_dtype(tensor.dtype)
        self.size = tensor.size * dtype.itemsize
        room = -(-max(self.size, 1) // PAGE) * PAGE
        self.memory = mmap.mmap(-1, room + 2 * PAGE)
        self.raw = np.frombuffer(self.memory, np.uint8)[PAGE : PAGE + room]
        self.raw[:] = GUARD_BYTE
        for page in (self.raw.ctypes.data - PAGE, self.raw.ctypes.data + room):
            assert LIBC.mprotect(ctypes.c_void_p(page), PAGE, 0) == 0
        self.start = 0 if low else room - self.size
        self.array = self.bytes().view(dtype).reshape(tensor.shape)

    def bytes(self) -> Array:
        return self.raw[self.start : self.start + self.size]

    @property
    def address(self) -> int:
        return self.raw.ctypes.data + self.start

    def check(self, position: int) -> None:
        before, after = self.raw[: self.start], self.raw[self.start + self.size :]
        assert (before == GUARD_BYTE).all(), f"wrote before buffer {position}"
        assert (after == GUARD_BYTE).all(), f"wrote after buffer {position}"


def compile_groups(
    make: Sequence[Callable[[], tri.Group]],
    machine: Machine | None = None,
    options: CompileOptions = DEFAULT,
) -> Compiled:
    """Lower groups for a machine, the CPU at hand unless given, and compile all into one object."""
    machine = machine or host_machine()
    kernels: list[LoweredKernel] = []
    for build in make:
        with new_context(), ir.Location.unknown():
            kernels.append(lower(build(), machine, options))
            release()
    made = memoryview(object_of(kernels, machine, options))
    return Compiled(load_objects({"kernels": made}), kernels)


@dataclass(frozen=True)
class LoweredKernel(Kernel):
    """A kernel and its code as text, which outlives its context."""

    text: str = ""


def lower(group: tri.Group, machine: Machine, options: CompileOptions = DEFAULT) -> LoweredKernel:
    """Place a group on the CPU; lower it to kernel IR that is named and split into phases.

    Passes find machines by name, which one of fewer features than this CPU lacks.
    """
    group.operation.attributes["target"] = ir.StringAttr.get("cpu")
    module = module_of(group)
    with patch.object(to_kernels, "find_machine", lambda _: machine):
        kernel_pipeline(machine, options.strict_math).run(module, verify=Verify.NONE)
    return _lowered(module)


def build_kernel(
    machine: Machine, arguments: Sequence[Tensor], body: Callable[..., object]
) -> LoweredKernel:
    """Build a kernel by a function of the builder and the buffers of the arguments."""
    with new_context(), ir.Location.unknown():
        module = Module(ir.Module.create())
        with ir.InsertionPoint(module.ir.body):
            kernel = KernelBuilder(machine)
        buffers = [kernel.argument(tensor) for tensor in arguments]
        with ir.InsertionPoint(kernel.block), kernel.current():
            body(kernel, *buffers)
        kernel.finish()
        Pipeline((SplitPhases(), NameKernels())).run(module)
        return _lowered(module)


def _lowered(module: Module) -> LoweredKernel:
    (made,) = kernel_modules(module)
    kernel = made.kernel
    text = str(made.alone())
    return LoweredKernel(kernel.symbol, kernel.scratch, kernel.phases, kernel.words, text)


def object_of(
    kernels: Sequence[LoweredKernel], machine: Machine, options: CompileOptions = DEFAULT
) -> bytes:
    """Compile kernels to one object."""
    # Tables are private to a kernel: in one module their names must differ.
    texts = {
        k.symbol: k.text.replace("@table_", f"@{k.symbol}_table_")
        .split("{", 1)[1]
        .rsplit("}", 1)[0]
        for k in kernels
    }
    with code_context():
        module = ir.Module.parse("module {" + "\n".join(texts.values()) + "}")
        return to_object(module, machine, options.strict_math)


def compile_cases(
    cases: Sequence[Case], machine: Machine | None = None, options: CompileOptions = DEFAULT
) -> Compiled:
    return compile_groups([lambda c=c: build_group(c) for c in cases], machine, options)
