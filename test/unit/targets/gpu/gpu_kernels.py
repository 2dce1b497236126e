"""Lower groups to kernels and run them on numpy arrays, by the meaning of the tile dialect."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from groups import release
from trivium.dialects import tile, tri
from trivium.dialects.core.attributes import order_of, tensor_of
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module
from trivium.dialects.core.op import NO_SIZES
from trivium.dialects.core.sizes.substitution import evaluate
from trivium.dialects.core.tensor import Array, dtype_of, numpy_dtype
from trivium.dialects.core.verification import verify
from trivium.dialects.tile.interpret import run_kernel
from trivium.passes.core import Pass
from trivium.targets.gpu.kernels.builder import ConstantTable, Intermediate, Kernel
from trivium.targets.gpu.lower.group import lower_group

GUARD = 64
"""Bytes around each buffer that nobody may write."""


Execute = Callable[[tile.Kernel, Sequence[Array]], None]
"""What runs a kernel on flat arrays."""


@dataclass(frozen=True)
class Guarded:
    """Own a flat array between bytes that nobody may write."""

    raw: Array
    flat: Array

    @staticmethod
    def of(size: int, dtype: str) -> "Guarded":
        kind = numpy_dtype(dtype)
        raw = np.full(size * kind.itemsize + 2 * GUARD, 0xA5, np.uint8)
        return Guarded(raw, raw[GUARD : len(raw) - GUARD].view(kind))

    @staticmethod
    def holding(array: Array) -> "Guarded":
        guarded = Guarded.of(array.size, dtype_of(array.dtype))
        guarded.flat[:] = array.reshape(-1)
        return guarded

    def check(self) -> None:
        assert (self.raw[:GUARD] == 0xA5).all(), "wrote before a buffer"
        assert (self.raw[len(self.raw) - GUARD :] == 0xA5).all(), "wrote behind a buffer"


def run_group(
    build: Callable[[], tri.Group],
    inputs: Sequence[Array],
    passes: Sequence[Pass] = (),
    execute: Execute = run_kernel,
) -> list[Array]:
    """Lower a group in a context of its own, run passes, then its kernels; returns the results."""
    with new_context(), ir.Location.unknown():
        group = build()
        module = ir.Module.create()
        kernels = lower_group(group, module)
        verify(module.operation)
        for each in passes:
            each.run(Module(module))
        verify(module.operation)
        outputs = run_kernels(group, kernels, inputs, execute)
        release()
    return outputs


def run_kernels(
    group: tri.Group,
    kernels: Sequence[Kernel],
    inputs: Sequence[Array],
    execute: Execute,
    sizes: Mapping[str, int] = NO_SIZES,
) -> list[Array]:
    """Run the kernels of a group at the sizes of its symbols; returns the results."""
    block = group.block
    terminator = block.operations[len(block.operations) - 1].operation
    memory: dict[Hashable, Guarded] = {}
    for argument, array in zip(block.arguments, inputs, strict=True):
        memory[argument] = _stored(argument, np.asarray(array))
    for kernel in kernels:
        for source in kernel.inputs:
            if isinstance(source, ConstantTable):
                memory[source] = Guarded.holding(source.array)
        for source in kernel.outputs:
            tensor = source.tensor if isinstance(source, Intermediate) else tensor_of(source.type)
            memory[source] = Guarded.of(evaluate(tensor.size, sizes), tensor.dtype)
        execute(kernel.op, [memory[s].flat for s in (*kernel.inputs, *kernel.outputs)])
    for guarded in memory.values():
        guarded.check()
    return [_read(value, memory[value].flat, sizes) for value in terminator.operands]


def _stored(value: ir.Value, array: Array) -> Guarded:
    order = order_of(value.type)
    return Guarded.holding(array.transpose(order or range(array.ndim)))


def _read(value: ir.Value, flat: Array, sizes: Mapping[str, int]) -> Array:
    tensor, order = tensor_of(value.type), order_of(value.type)
    order = order or tuple(range(tensor.rank))
    lying = flat.reshape([evaluate(tensor.shape[dim], sizes) for dim in order])
    return lying.transpose(np.argsort(order)) if order else lying
