"""A kernel under construction: its parameters, its scratch memory, its name."""

import hashlib
from dataclasses import dataclass

import numpy as np

from ....dialects.core.machine import Machine
from ....dialects.core.mlir import ir
from ....dialects.core.tensor import DTYPES, Array, Shape, Tensor, numpy_dtype
from ...program import Scratch
from .buffer import Buffer, memref, storage_dtype, storage_type
from .loops import each
from .phases import MEMORY, Phase, split
from .value import compute_dtype


@dataclass(frozen=True)
class Kernel:
    """One unit of code, named by its content.

    Its arguments are the number of a phase and the range of its iterations to do, then pointers:
    the inputs, the outputs, then one for each piece of scratch memory, which the caller provides
    and nobody reads afterwards.
    """

    symbol: str
    scratch: tuple[Scratch, ...]
    phases: tuple[Phase, ...]


@dataclass(frozen=True)
class LoweredKernel(Kernel):
    """A kernel and its code as MLIR text."""

    text: str


class KernelBuilder:
    """Build one function of buffers; use inside a `code_context`."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.module = ir.Module.create()
        with ir.InsertionPoint(self.module.body):
            attributes: dict[str, ir.Attribute] = {
                "sym_name": ir.StringAttr.get("kernel"),
                "function_type": ir.TypeAttr.get(ir.FunctionType.get([], [])),
            }
            self.function = ir.Operation.create("func.func", [], [], attributes, regions=1)
        index = ir.IndexType.get()
        self.block = ir.Block.create_at_start(self.function.regions[0], [index] * MEMORY)
        self._scratch: list[Scratch] = []
        self._private: set[int] = set()
        self._tables = 0

    def argument(self, tensor: Tensor) -> Buffer:
        """Add a parameter: a pointer to a contiguous tensor."""
        memory_type = ir.MemRefType.get([max(tensor.size, 1)], storage_type(tensor.dtype))
        return Buffer(self.block.add_argument(memory_type, ir.Location.unknown()), tensor)

    def scratch(self, shape: Shape, dtype: str) -> Buffer:
        """Add memory that is only used while the kernel runs, and that its threads share."""
        return self._add(Scratch(Tensor(shape, dtype)))

    def private(self, shape: Shape, dtype: str) -> Buffer:
        """Add memory private to each thread, which an iteration writes before it reads."""
        self._private.add(len(self.block.arguments))
        return self._add(Scratch(Tensor(shape, dtype), private=True))

    def _add(self, scratch: Scratch) -> Buffer:
        self._scratch.append(scratch)
        return self.argument(scratch.tensor)

    def table(self, values: Array) -> Buffer:
        """Add a table of constants to the kernel's module."""
        tensor = Tensor.of(values)
        type_ = ir.MemRefType.get([tensor.size], storage_type(tensor.dtype))
        shaped = ir.RankedTensorType.get([tensor.size], storage_type(tensor.dtype))
        flat = np.ascontiguousarray(values).reshape(-1)
        stored = flat.view(numpy_dtype(storage_dtype(tensor.dtype)))
        content = ir.DenseElementsAttr.get(stored, type=shaped)
        name = f"table_{self._tables}"
        self._tables += 1
        with ir.InsertionPoint.at_block_begin(self.module.body):
            memref.global_(
                name, type_, sym_visibility="private", initial_value=content, constant=True
            )
        with ir.InsertionPoint.at_block_begin(self.block):
            return Buffer(memref.get_global(type_, name), tensor)

    def reshaped(self, buffer: Buffer, shape: Shape) -> Buffer:
        """View the same elements under another shape, through a copy where strides demand it."""
        if view := buffer.restride(shape):
            return view
        copy = self.scratch(buffer.shape, buffer.dtype)
        each(buffer.shape, lambda i: copy.store(buffer.load(i), i))
        return copy.reshape(shape)

    def lanes(self, *dtypes: str) -> int:
        """Return the number of elements of the widest of these types in a vector register."""
        return self.machine.lanes(max(DTYPES[compute_dtype(d)].bits for d in dtypes))

    def finish(self) -> LoweredKernel:
        """Close the function, cut it into phases, name it by its content, return it as text."""
        with ir.InsertionPoint(self.block):
            ir.Operation.create("func.return", [], [])
        phases = split(self.block, frozenset(self._private))
        types = [argument.type for argument in self.block.arguments]
        function_type = ir.FunctionType.get(types, [])
        self.function.attributes["function_type"] = ir.TypeAttr.get(function_type)
        text = self.module.operation.get_asm()
        symbol = "k_" + hashlib.sha256(text.encode()).hexdigest()[:16]
        text = text.replace("@kernel(", f"@{symbol}(", 1)
        return LoweredKernel(symbol, tuple(self._scratch), phases, text)
