"""Print kernels of a module and run them beside the meaning of the tile dialect."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from interpreter import run_source
from trivium.dialects import tile
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.tensor import Array, numpy_dtype
from trivium.dialects.tile.interpret import run_kernel
from trivium.dialects.tile.types import Memory
from trivium.targets.gpu.emit.print_kernel import print_kernel

FOLDER = Path(__file__).resolve().parents[3] / "targets" / "gpu" / "emit"
"""The lit tests of what is printed."""


@contextmanager
def kernels(name: str) -> Iterator[list[tile.Kernel]]:
    """Parse a lit test; yield its kernels while they live."""
    with new_context():
        module = Module.parse((FOLDER / name).read_text())
        yield [op for op in ops(module.operation) if isinstance(op, tile.Kernel)]


def draw(memory: Memory, random: np.random.Generator) -> Array:
    """Draw what a buffer holds: few digits, so that products and short sums are exact."""
    numbers = random.integers(-40, 40, memory.extent)
    if memory.dtype == "i1":
        return numbers > 0
    scale = 0.25 if "f" in memory.dtype else 1
    return (numbers * scale).astype(numpy_dtype(memory.dtype))


def run_both(kernel: tile.Kernel) -> tuple[list[Array], list[Array]]:
    """Run a kernel as printed, and as the dialect defines it, on the same buffers."""
    random = np.random.default_rng(0)
    arrays = [draw(memory, random) for memory in kernel.memories]
    meant = [array.copy() for array in arrays]
    run_kernel(kernel, meant)
    return run_source(print_kernel(kernel), arrays), meant


def run_printed(kernel: tile.Kernel, arrays: Sequence[Array]) -> None:
    """Run a kernel as printed on flat arrays, which may be part of what it may touch."""
    made = run_source(print_kernel(kernel), arrays)
    for array, new in zip(arrays, made, strict=True):
        array[...] = new
