"""Execute kernels in numpy, one program after another: what they mean."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..core.errors import Invalid
from ..core.interpret import lookup
from ..core.mlir import ir
from ..core.op import Op, view
from ..core.tensor import Array, numpy_dtype
from .arithmetic import Full
from .kernel import Arange, BlockSize, Kernel, ProgramId
from .loop import For
from .memory import Load, LoadBlock, Store, StoreBlock, View
from .types import Memory, plain_type, size_of


def run_kernel(kernel: Kernel, memories: Sequence[Array]) -> None:
    """Run all programs of a kernel on flat arrays, one for each argument; outputs are written.

    Raises Invalid when a program reads or writes outside of a tensor without a check.
    """
    blocks = kernel.block_sizes
    counts = [axis.count(blocks) for axis in kernel.axes]
    for program in itertools.product(*map(range, counts)):
        _Program(blocks, program).run(kernel, memories)


class _Program:
    """Run a kernel at one point of its grid. Memory is an array in the shape of its type."""

    def __init__(self, blocks: Mapping[str, int], program: tuple[int, ...]) -> None:
        self.blocks = blocks
        self.program = program
        self.values: dict[ir.Value, Array] = {}

    def run(self, kernel: Kernel, memories: Sequence[Array]) -> None:
        arguments = zip(kernel.block.arguments, kernel.memories, memories, strict=True)
        for argument, memory, flat in arguments:
            self.values[argument] = _seen_as(flat, memory)
        self._run_block(kernel.block)

    def _run_block(self, block: ir.Block) -> list[Array]:
        """Run the ops of a block; return the operands of its terminator."""
        for operation in block.operations:
            op = view(operation)
            if op is None:
                raise Invalid(f"no reference semantics for '{operation.operation.name}'")
            if op.terminator:
                return [self.values[v] for v in operation.operation.operands]
            self.values.update(zip(op.results, self._run_op(op), strict=True))
        raise Invalid("block has no terminator")

    def _run_op(self, op: Op) -> Sequence[Array]:
        if isinstance(op, For):
            return self._run_loop(op)
        groups = [lookup(group, self.values) for group in op.operand_groups()]
        with np.errstate(all="ignore"):
            if special := _SPECIAL.get(type(op)):
                got = special(self, op, *groups)
            else:
                got = op.reference(*groups, **op.attributes)
        if not len(op.results) or isinstance(op, View):
            return () if got is None else (got,)
        return (np.asarray(got, numpy_dtype(plain_type(op.results[0].type).dtype)),)

    def _run_loop(self, op: For) -> Sequence[Array]:
        lower, upper, step = (int(self.values[v]) for v in list(op.operation.operands)[:3])
        carried = [self.values[v] for v in op.carried]
        index, *arguments = op.block.arguments
        for turn in range(lower, upper, step):
            self.values[index] = np.array(turn, np.int32)
            self.values.update(zip(arguments, carried, strict=True))
            carried = self._run_block(op.block)
        return carried

    def size(self, text: str) -> int:
        size = size_of(text)
        return size if isinstance(size, int) else self.blocks[size]

    # -- ops that need more than their operands -------------------------------------------------

    def program_id(self, op: ProgramId) -> Array:
        return np.array(self.program[op.axis], np.int32)

    def block_size(self, op: BlockSize) -> Array:
        return np.array(self.blocks[op.block], np.int32)

    def arange(self, op: Arange) -> Array:
        return np.arange(self.size(op.block), dtype=np.int32)

    def full(self, op: Full) -> Array:
        return np.broadcast_to(op.value, [self.size(text) for text in op.shape])

    def view(self, op: View, memory: Array) -> Array:
        return _seen_as(memory, cast("Memory", plain_type(op.y.type)))

    def load(self, op: Load, memory: Array, indices: list[Array]) -> Array:
        places, inside = _places(op, memory, indices)
        pad = np.asarray(op.pad).astype(memory.dtype)
        return np.where(inside, memory[places], pad)

    def store(self, op: Store, value: Array, memory: Array, indices: list[Array]) -> None:
        places, inside = _places(op, memory, indices)
        shape = inside.shape
        chosen = tuple(np.broadcast_to(place, shape)[inside] for place in places)
        values = np.broadcast_to(value, shape)[inside]
        if op.accumulate:
            np.add.at(memory, chosen, values)
        else:
            memory[chosen] = values

    def load_block(self, op: LoadBlock, memory: Array, offsets: list[Array]) -> Array:
        sizes = [self.size(text) for text in op.block]
        result = np.zeros(sizes, memory.dtype)
        source, target = _overlap(memory, offsets, sizes)
        result[target] = memory[source]
        return result

    def store_block(
        self, op: StoreBlock, value: Array, memory: Array, offsets: list[Array]
    ) -> None:
        target, source = _overlap(memory, offsets, value.shape)
        memory[target] = value[source]


_SPECIAL: Mapping[type[Op], Callable[..., Any]] = {
    Arange: _Program.arange,
    BlockSize: _Program.block_size,
    Full: _Program.full,
    Load: _Program.load,
    LoadBlock: _Program.load_block,
    ProgramId: _Program.program_id,
    Store: _Program.store,
    StoreBlock: _Program.store_block,
    View: _Program.view,
}


def _seen_as(memory: Array, type_: Memory) -> Array:
    strides = [stride * memory.itemsize for stride in type_.strides]
    return as_strided(memory, type_.shape, strides)


def _places(op: Load | Store, memory: Array, indices: list[Array]) -> tuple[Any, Array]:
    """Return indices that are all inside, and where those of the op are."""
    shape = np.broadcast_shapes(*(index.shape for index in indices)) if indices else ()
    inside = np.ones(shape, bool)
    places: list[Array] = []
    for dim, (index, size) in enumerate(zip(indices, memory.shape, strict=True)):
        low = index >= 0 if dim in op.low else True
        high = index < size if dim in op.high else True
        inside = inside & low & high
        places.append(np.clip(index, 0, max(size - 1, 0)))
    for dim, (index, size) in enumerate(zip(indices, memory.shape, strict=True)):
        wrong = inside & ((index < 0) | (index >= size))
        if wrong.any():
            raise Invalid(f"'{op.op_name}' op goes outside of dimension {dim} of size {size}")
    return tuple(places), inside


def _overlap(memory: Array, offsets: list[Array], sizes: Sequence[int]) -> tuple[Any, Any]:
    """Return the part of memory that a block covers, and the part of the block that is inside."""
    outer: list[slice] = []
    inner: list[slice] = []
    for offset, size, extent in zip(map(int, offsets), sizes, memory.shape, strict=True):
        first, last = max(offset, 0), max(min(offset + size, extent), max(offset, 0))
        outer.append(slice(first, last))
        inner.append(slice(first - offset, last - offset))
    return tuple(outer), tuple(inner)
