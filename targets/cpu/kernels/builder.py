"""A kernel under construction: its parameters and its scratch memory."""

import math
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace

import numpy as np

from ....dialects.core.machine import Machine
from ....dialects.core.mlir import ir
from ....dialects.core.tensor import DTYPES, Array, Shape, Tensor, numpy_dtype
from ...kernels.arithmetic import compute_dtype
from ...program.calls import Scratch
from .buffer import Buffer, memory_type, memref, storage_dtype, storage_type
from .halves import code_for
from .index import IndexExpr
from .kernel_module import FUNCTION, MEMORY, KernelModule
from .loops import each
from .record import Record


class KernelBuilder:
    """Build the function of a kernel in a kernel module at the current insertion point."""

    def __init__(self, machine: Machine, location: ir.Location | None = None) -> None:
        self.machine = machine
        self.module = KernelModule.create(location or ir.Location.unknown())
        with ir.InsertionPoint(self.module.block):
            attributes: dict[str, ir.Attribute] = {
                "sym_name": ir.StringAttr.get(FUNCTION),
                "function_type": ir.TypeAttr.get(ir.FunctionType.get([], [])),
            }
            self.function = ir.Operation.create("func.func", [], [], attributes, regions=1)
        index = ir.IndexType.get()
        self.block = ir.Block.create_at_start(self.function.regions[0], [index] * MEMORY)
        self.record = Record(self.block)
        self._scratch: list[Scratch] = []
        self._tables: dict[tuple[bytes, Tensor], Buffer] = {}

    @contextmanager
    def current(self) -> Generator[None]:
        """Emit code of this kernel in the block: `current_kernel` returns it."""
        token = _CURRENT.set(self)
        try:
            with code_for(self.machine), self.record.current():
                yield
        finally:
            _CURRENT.reset(token)

    def argument(self, tensor: Tensor) -> Buffer:
        """Add a parameter: a pointer to a contiguous tensor."""
        memory = self.block.add_argument(memory_type(tensor), ir.Location.unknown())
        return Buffer(memory, tensor)

    def scratch(self, shape: Shape, dtype: str) -> Buffer:
        """Add memory that is only used while the kernel runs, and that its threads share."""
        return self._add(Scratch(Tensor(shape, dtype)))

    def private(self, shape: Shape, dtype: str) -> Buffer:
        """Add memory private to each thread, which an iteration writes before it reads."""
        return self._add(Scratch(Tensor(shape, dtype), private=True))

    def _add(self, scratch: Scratch) -> Buffer:
        self._scratch.append(scratch)
        return self.argument(scratch.tensor)

    def table(self, values: Array) -> Buffer:
        """Add a table of constants to the kernel's module, once for equal ones."""
        tensor = Tensor.of(values)
        key = values.tobytes(), tensor
        if key not in self._tables:
            self._tables[key] = self._table(values, tensor)
        return self._tables[key]

    def _table(self, values: Array, tensor: Tensor) -> Buffer:
        type_ = ir.MemRefType.get([tensor.size], storage_type(tensor.dtype))
        shaped = ir.RankedTensorType.get([tensor.size], storage_type(tensor.dtype))
        flat = np.ascontiguousarray(values).reshape(-1)
        stored = flat.view(numpy_dtype(storage_dtype(tensor.dtype)))
        content = ir.DenseElementsAttr.get(stored, type=shaped)
        name = f"table_{len(self._tables)}"
        with ir.InsertionPoint.at_block_begin(self.module.block):
            memref.global_(
                name, type_, sym_visibility="private", initial_value=content, constant=True
            )
        with ir.InsertionPoint.at_block_begin(self.block):
            return Buffer(memref.get_global(type_, name), tensor)

    def reshaped(self, buffer: Buffer, shape: Shape) -> Buffer:
        """View the same elements under another shape, through a copy where strides demand it.

        What is repeated along all last dimensions of both shapes is copied once.
        """
        if view := buffer.restride(shape):
            return view
        rank, kept = _repeated_from(buffer, shape)
        repeated = [IndexExpr(0)] * (len(buffer.shape) - rank)
        copy = self.scratch(buffer.shape[:rank], buffer.dtype)
        each(copy.shape, lambda i: copy.store(buffer.load([*i, *repeated]), i))
        view = copy.reshape(shape[:kept])
        return view.with_strides(shape, (*view.strides, *[0] * (len(shape) - kept)))

    def lanes(self, *dtypes: str) -> int:
        """Return the number of elements of the widest of these types in a vector register."""
        return self.machine.lanes(max(DTYPES[compute_dtype(d)].bits for d in dtypes))

    def finish(self) -> KernelModule:
        """Close the function and return the kernel module."""
        scratch = [replace(s, tensor=self.record.tensor_in_words(s.tensor)) for s in self._scratch]
        words = self.record.finish()
        with ir.InsertionPoint(self.block):
            ir.Operation.create("func.return", [], [])
        types = [argument.type for argument in self.block.arguments]
        function_type = ir.FunctionType.get(types, [])
        self.function.attributes["function_type"] = ir.TypeAttr.get(function_type)
        self.module.words = words
        self.module.scratch = scratch
        return self.module


_CURRENT: ContextVar[KernelBuilder | None] = ContextVar("kernel", default=None)


def current_kernel() -> KernelBuilder:
    """Return the kernel under construction."""
    kernel = _CURRENT.get()
    assert kernel is not None, "code is emitted where a kernel is current"
    return kernel


def _repeated_from(buffer: Buffer, shape: Shape) -> tuple[int, int]:
    """Return how many dimensions of a buffer, and of another shape of it, are not repeated."""
    rank = len(buffer.shape)
    found = rank, len(shape)
    places = {math.prod(shape[kept:]): kept for kept in reversed(range(len(shape)))}
    while rank and buffer.strides[rank - 1] == 0:
        rank -= 1
        repeated = math.prod(buffer.shape[rank:])
        if repeated in places:
            found = rank, places[repeated]
    return found
