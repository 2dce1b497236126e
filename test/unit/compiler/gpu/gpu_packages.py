"""Run packages for a GPU on the stand-in for a driver, their kernels in Triton's interpreter."""

import re

import numpy as np
from trivium.dialects.core.tensor import dtype_of
from trivium.dialects.tile.types import Memory
from trivium.runtime.dtypes import resolve
from trivium.runtime.gpu.code import GpuKernel, GpuParameter
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.targets.gpu.emit.source import Parameter, SizeParameter, Source
from trivium.test.unit.runtime.gpu.stand_in import Run, StandIn
from trivium.test.unit.targets.gpu.interpreter import run_source


def opened(package: Package, stand_in: StandIn) -> Session:
    """Return a session that runs a package on the stand-in."""

    def execute(run: Run) -> None:
        buffers = [parameter.buffer for parameter in run.kernel.parameters]
        flat: dict[int, np.ndarray] = {}
        for buffer, array in zip(buffers, run.arrays, strict=True):
            found = _flat(array)
            if buffer not in flat or flat[buffer].size < found.size:
                flat[buffer] = found
        arrays = [flat[buffer] for buffer in sorted(flat)]
        computed = run_source(_source(package, run.kernel), arrays)
        for array, made in zip(arrays, computed, strict=True):
            array[...] = made

    stand_in.execute(package, execute)
    return Session(package, device=stand_in.device())


def _flat(array: np.ndarray) -> np.ndarray:
    steps = zip(array.shape, array.strides, strict=True)
    extent = 1 + sum((size - 1) * (step // array.itemsize) for size, step in steps)
    return np.lib.stride_tricks.as_strided(array, (extent,), (array.itemsize,))


def _source(package: Package, kernel: GpuKernel) -> Source:
    """Make a source of what a package says about a kernel, and of its text."""
    text = bytes(package.entries[kernel.source]).decode()
    blocks = tuple((name, int(size)) for name, size in (b.split("=") for b in kernel.blocks))
    # The comment above the kernel has a line for each parameter, with its type; sizes follow.
    declared = re.findall(r"^#     (\w+): (.+),$", text, re.MULTILINE)
    parameters = [
        _parameter(*names, parameter)
        for names, parameter in zip(declared, kernel.parameters, strict=True)
    ]
    named = re.findall(r"^#     (\w+)=", text, re.MULTILINE)[: len(kernel.sizes)]
    sizes = tuple(map(SizeParameter, named, kernel.sizes))
    x, y, z = kernel.grid
    return Source(text, kernel.symbol, tuple(parameters), blocks, (x, y, z), sizes=sizes)


def _parameter(name: str, type_: str, parameter: GpuParameter) -> Parameter:
    dtype = dtype_of(resolve(parameter.dtype))
    memory = Memory(parameter.shape, parameter.strides, dtype)
    found = Parameter(name, type_, parameter.buffer, memory)
    assert found.is_descriptor == (parameter.kind == "tensor_map")
    return found
