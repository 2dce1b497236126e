"""Time each distinct kernel of a model alone."""

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ...compiler.build import Progress
from ...compiler.frontends.onnx import Bindings, import_onnx
from ...compiler.stages import pipeline_for
from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.machine import NATIVE, find_machines
from ...dialects.core.mlir import ir, new_context
from ...dialects.core.module import ops
from ...dialects.core.tensor import Array, Tensor, is_float, numpy_dtype
from ...runtime.elf import NativeLibrary, load_objects
from ...runtime.memory import allocate
from ...targets.cpu.compile import CpuCode, compile_kernels
from .flops import flops
from .prepare import ignore
from .stopwatch import least_time

_APART = 4096 + 64  # not on equal places of their pages, which caches would mix up


@dataclass(frozen=True)
class KernelTime:
    """Hold what a kernel does and how long one call takes.

    `size_bytes` counts each input and each output once, scratch memory not at all; of a table that
    is gathered from, only as much as is taken.
    """

    symbol: str
    ops: tuple[str, ...]
    tensors: tuple[Tensor, ...]
    flops: int
    size_bytes: int
    seconds: float
    calls: int = 1

    @property
    def total(self) -> float:
        """Return the seconds of all calls in one run of the model."""
        return self.seconds * self.calls


def time_kernels(
    path: str,
    progress: Progress | None = None,
    *,
    target: str = "cpu",
    shapes: Bindings | None = None,
    opt_level: int = 2,
    machine: str | Sequence[str] = NATIVE,
) -> tuple[list[KernelTime], int]:
    """Compile a model and time its native kernels; return also how many groups are not native.

    Errors are those of `compile`.
    """
    best = find_machines(machine)[0]
    with new_context():
        module = import_onnx(path, shapes=shapes)
        pipeline_for(target, opt_level, best.name).run(module)
        groups = [op for op in ops(module.operation) if isinstance(op, tri.Group)]
        native = [group for group in groups if group.target == "cpu"]
        code = compile_kernels(native, best, progress or ignore)
        return _time_all(native, code), len(groups) - len(native)


def _time_all(groups: list[tri.Group], code: CpuCode) -> list[KernelTime]:
    library = load_objects({name: memoryview(data) for name, data in code.objects.items()})
    times: dict[str, KernelTime] = {}
    for group in groups:
        symbol = code.kernels[group].symbol
        if symbol in times:
            times[symbol] = replace(times[symbol], calls=times[symbol].calls + 1)
        else:
            times[symbol] = _time(group, code, library)
    return sorted(times.values(), key=lambda k: (-k.total, k.symbol))


def _time(group: tri.Group, code: CpuCode, library: NativeLibrary) -> KernelTime:
    kernel = code.kernels[group]
    inputs = [tensor_of(v.type) for v in group.operation.operands]
    outputs = [tensor_of(v.type) for v in group.results]
    arrays = _lay_out([*inputs, *outputs, *(s.tensor for s in kernel.scratch)])
    types = [*[ctypes.c_int64] * 3, *[ctypes.c_void_p] * len(arrays)]
    function = ctypes.CFUNCTYPE(None, *types)(library.address(kernel.symbol))
    pointers = [array.ctypes.data for array in arrays]
    phases = [
        partial(function, number, 0, phase.iterations, *pointers)
        for number, phase in enumerate(kernel.phases)
    ]
    members = [op for op in ops(group.block) if not op.terminator]
    return KernelTime(
        kernel.symbol,
        tuple(op.op_name for op in members if not isinstance(op, tri.Constant)),
        (*inputs, *outputs),
        sum(map(flops, members)),
        _traffic(group, [*inputs, *outputs]),
        least_time(phases[0] if len(phases) == 1 else partial(_in_turn, phases)),
    )


def _in_turn(actions: Sequence[Callable[[], None]]) -> None:
    for action in actions:
        action()


def _lay_out(tensors: Sequence[Tensor]) -> list[Array]:
    """Make a buffer for each tensor, all in one block of memory as they are in a session.

    Floats are normal; all else is zero, which any kernel takes for an index.
    """
    ends = [0]
    for tensor in tensors:
        ends.append(ends[-1] + (-(-tensor.size_bytes // _APART) + 1) * _APART)
    block = allocate(ends[-1] + _APART)
    buffers = [
        np.ndarray(tensor.shape, numpy_dtype(tensor.dtype), block.data, _APART + start)
        for tensor, start in zip(tensors, ends, strict=False)
    ]
    generator = np.random.default_rng(0)
    for tensor, buffer in zip(tensors, buffers, strict=True):
        if is_float(tensor.dtype):
            buffer[...] = generator.standard_normal(buffer.shape, np.float32)
    return buffers


def _traffic(group: tri.Group, tensors: Sequence[Tensor]) -> int:
    """Count the bytes of each input and output once; of what is gathered from, what is taken."""
    sizes = [tensor.size_bytes for tensor in tensors]
    arguments: dict[ir.Value, int] = {v: i for i, v in enumerate(group.block.arguments)}
    for op in ops(group.block):
        if isinstance(op, tri.Gather) and op.x in arguments:
            place = arguments[op.x]
            sizes[place] = min(sizes[place], tensor_of(op.y.type).size_bytes)
    return sum(sizes)
