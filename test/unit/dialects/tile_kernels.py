"""Kernels made for tests, with few words: what a body is, how it is run on arrays."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from trivium.dialects import tile
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module
from trivium.dialects.core.tensor import Array, numpy_dtype
from trivium.dialects.tile.interpret import run_kernel
from trivium.dialects.tile.types import Memory, mlir_type, row_major

Value = ir.Value


def memory(*shape: int, dtype: str = "f32", strides: tuple[int, ...] | None = None) -> Memory:
    return Memory(shape, row_major(shape) if strides is None else strides, dtype)


def built(
    body: Callable[..., None],
    memories: Sequence[Memory],
    grid: Sequence[str] = ("1",),
    **settings: Any,
) -> Module:
    """Build a module with one kernel, in the current context, and take it through text."""
    module = Module(ir.Module.create(ir.Location.unknown()))
    with ir.InsertionPoint(module.ir.body), ir.Location.unknown() as unknown:
        op = tile.Kernel.create([], [], {"sym_name": "kernel", "grid": tuple(grid)} | settings)
        types = [mlir_type(each) for each in memories]
        block = ir.Block.create_at_start(op.operation.regions[0], types, [unknown] * len(types))
        with ir.InsertionPoint(block):
            body(*block.arguments)
            tile.Return.build()
    module.verify()
    text = module.operation.get_asm(enable_debug_info=True)
    again = Module.parse(text)
    assert again.operation.get_asm(enable_debug_info=True) == text
    return again


def kernel_of(module: Module) -> tile.Kernel:
    return tile.Kernel(module.ir.body.operations[0].operation)


def run(
    body: Callable[..., None],
    memories: Sequence[Memory],
    arrays: Sequence[Array],
    grid: Sequence[str] = ("1",),
    **settings: Any,
) -> None:
    """Run a kernel on flat arrays."""
    with new_context():
        module = built(body, memories, grid, **settings)
        run_kernel(kernel_of(module), arrays)


def integers(*shape: int, low: int = -4) -> Array:
    """Make floats whose sums and products are exact."""
    return np.random.default_rng(0).integers(low, 5, shape).astype(np.float32)


# -- bodies ---------------------------------------------------------------------------------------


def full(value: float, dtype: str = "i32", *shape: str) -> Value:
    return tile.Full.build(value=np.array(value, numpy_dtype(dtype)), shape=shape).y


def binary(function: str, a: Value, b: Value | int) -> Value:
    other = full(b) if isinstance(b, int) else b
    return tile.Binary.build(a, other, function=function).y


def add(a: Value, b: Value | int) -> Value:
    return binary("add", a, b)


def mul(a: Value, b: Value | int) -> Value:
    return binary("mul", a, b)


def first(axis: int, block: str) -> Value:
    """Return the first index of a program's block."""
    return mul(tile.ProgramId.build(axis=axis).y, tile.BlockSize.build(block=block).y)


def indices(axis: int, block: str) -> Value:
    """Return the indices of a program's block."""
    return add(first(axis, block), tile.Arange.build(block=block).y)


def column(x: Value) -> Value:
    return tile.Expand.build(x, axis=1).y


def row(x: Value) -> Value:
    return tile.Expand.build(x, axis=0).y


def load(source: Value, *at: Value, **bounds: Any) -> Value:
    return tile.Load.build(source, list(at), **bounds).y


def store(value: Value, target: Value, *at: Value, **bounds: Any) -> None:
    tile.Store.build(value, target, list(at), **bounds)


def loop(
    lower: Value | int,
    upper: Value | int,
    step: Value | int,
    carried: Sequence[Value],
    body: Callable[..., Sequence[Value]],
) -> Sequence[Value]:
    """Build a loop; the body gets the index and the carried values and returns the next ones."""
    bounds = [full(bound) if isinstance(bound, int) else bound for bound in (lower, upper, step)]
    types = [value.type for value in carried]
    op = tile.For.create([*bounds, list(carried)], types, {})
    places = [ir.Location.unknown()] * (len(types) + 1)
    block = ir.Block.create_at_start(op.operation.regions[0], [bounds[0].type, *types], places)
    with ir.InsertionPoint(block):
        tile.Yield.build(list(body(*block.arguments)))
    return list(op.results)
