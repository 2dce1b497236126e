"""Run one kernel by itself, without a session: to measure it."""

import ctypes
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from ....dialects.core.tensor import Array, Tensor, is_float, numpy_dtype
from ....runtime.cpu.elf import NativeLibrary
from ....runtime.memory import allocate
from ..kernels.kernel_module import Kernel

_APART = 4096 + 64  # not on equal places of their pages, which caches would mix up


def bind(kernel: Kernel, library: NativeLibrary, arrays: Sequence[Array]) -> Callable[[], None]:
    """Return a function that runs a kernel on arrays: operands, results, then scratch memory.

    The library and the arrays must outlive the function.
    """
    types = [*[ctypes.c_int64] * 3, *[ctypes.c_void_p] * len(arrays)]
    function = ctypes.CFUNCTYPE(None, *types)(library.address(kernel.symbol))
    pointers = [array.ctypes.data for array in arrays]
    phases = [
        partial(function, number, 0, phase.iterations * phase.steps, *pointers)
        for number, phase in enumerate(kernel.phases)
    ]
    return phases[0] if len(phases) == 1 else partial(_in_turn, phases)


def _in_turn(actions: Sequence[Callable[[], None]]) -> None:
    for action in actions:
        action()


def allocate_buffers(tensors: Sequence[Tensor]) -> list[Array]:
    """Allocate a buffer for each tensor, all in one block of memory as in a session.

    Floats are normally distributed; integers are zero, which is a valid index for any kernel.
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
