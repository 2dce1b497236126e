"""Run the kernels of a package, on the stand-in driver, by Triton's interpreter."""

import re

import numpy as np
from interpreter import run_source
from trivium.dialects.core.tensor import dtype_of
from trivium.dialects.tile.types import Memory
from trivium.runtime.package import Package
from trivium.targets.gpu.emit.source import Parameter, SizeParameter, Source
from trivium.targets.gpu.emit.spelling import SIGNATURE
from trivium.test.unit.runtime.gpu.stand_in import Run


def interpreted(package: Package, run: Run) -> None:
    """Run the source that a package has of a kernel, on arrays of the device."""
    kernel = run.kernel
    text = bytes(package.entries[kernel.source]).decode()
    signature = re.search(r"^def \w+\((.*?)\):", text, re.DOTALL | re.MULTILINE)
    assert signature is not None
    names = [each.split(":")[0].strip() for each in signature[1].split(",") if each.strip()]
    count = len(kernel.parameters)
    parameters = [
        Parameter(name, _type(each.dtype), each.buffer, Memory(each.shape, each.strides, "f32"))
        for name, each in zip(names, kernel.parameters, strict=False)
    ]
    sizes = map(SizeParameter, names[count:], kernel.sizes)
    blocks = tuple((name, int(size)) for name, size in (b.split("=") for b in kernel.blocks))
    name = kernel.symbol
    grid = (run.grid[0], run.grid[1], run.grid[2])
    source = Source(text, name, tuple(parameters), blocks, grid, (), tuple(sizes))
    for array, made in zip(run.arrays, run_source(source, run.arrays), strict=True):
        array[...] = made


def _type(dtype: str) -> str:
    return f"*{SIGNATURE[dtype_of(np.dtype(dtype))]}"
