"""Execute kernels in numpy, one program after another: their reference semantics."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..core.errors import Invalid
from ..core.interpret import lookup
from ..core.location import describe
from ..core.mlir import ir
from ..core.op import NO_SIZES, Op, view
from ..core.sizes.binding import replaced
from ..core.sizes.substitution import substitute
from ..core.tensor import Array, numpy_dtype
from .arithmetic import Full
from .kernel import Arange, BlockSize, Kernel, ProgramId, SizeOf
from .loop import For
from .memory import Load, LoadBlock, Store, StoreBlock, View
from .types import Memory, plain_type, size_of


def run_kernel(
    kernel: Kernel, memories: Sequence[Array], sizes: Mapping[str, int] = NO_SIZES
) -> None:
    """Run all programs of a kernel on flat arrays, one for each argument; outputs are written.

    `sizes` are those of the symbols that the kernel names. Raises Invalid when an array is not
    flat, too short or of another element type, when a program reads or writes outside of a tensor
    without a check, and for a loop whose step is not positive.
    """
    types = [_at(memory, sizes) for memory in kernel.memories]
    for index, (memory, flat) in enumerate(zip(types, memories, strict=True)):
        _check_flat(index, memory, flat)
    blocks = kernel.block_sizes
    counts = [substitute(axis.count(blocks), sizes) for axis in kernel.axes]
    for program in itertools.product(*map(range, counts)):
        _Program(blocks, program, sizes).run(kernel, types, memories)


def _at(memory: Memory, sizes: Mapping[str, int]) -> Memory:
    """Return memory with numbers in place of symbols."""
    return replace(
        memory, shape=replaced(memory.shape, sizes), strides=replaced(memory.strides, sizes)
    )


def _check_flat(index: int, memory: Memory, flat: Array) -> None:
    dtype = numpy_dtype(memory.dtype)
    if flat.ndim != 1 or not flat.flags.c_contiguous or flat.dtype != dtype:
        raise Invalid(f"argument {index} must be a flat array of {dtype}")
    if flat.size < memory.extent:
        raise Invalid(f"argument {index} has {flat.size} elements, must have {memory.extent}")


class _Program:
    """Run a kernel at one point of its grid. Memory is an array in the shape of its type."""

    def __init__(
        self, blocks: Mapping[str, int], program: tuple[int, ...], sizes: Mapping[str, int]
    ) -> None:
        self.blocks = blocks
        self.program = program
        self.sizes = sizes
        self.values: dict[ir.Value, Array] = {}

    def run(self, kernel: Kernel, types: Sequence[Memory], memories: Sequence[Array]) -> None:
        arguments = zip(kernel.block.arguments, types, memories, strict=True)
        for argument, memory, flat in arguments:
            self.values[argument] = _seen_as(flat, memory)
        try:
            self._run_block(kernel.block)
        except Invalid as error:
            where = f"program {self.program} of '{kernel.sym_name}'"
            raise Invalid(f"{where}: {error}") from None

    def _run_block(self, block: ir.Block) -> list[Array]:
        """Run the ops of a block; return the operands of its terminator."""
        for operation in block.operations:
            op = view(operation)
            if op is None:
                raise Invalid(f"no reference semantics for '{operation.operation.name}'")
            if op.terminator:
                return [self.values[v] for v in operation.operation.operands]
            results = self._run_loop(op) if isinstance(op, For) else self._run_named(op)
            self.values.update(zip(op.results, results, strict=True))
        raise Invalid("block has no terminator")

    def _run_named(self, op: Op) -> Sequence[Array]:
        """Run an op; say which one it was when it fails."""
        try:
            return self._run_op(op)
        except Invalid as error:
            raise Invalid(f"{_named(op)} op {error}") from None

    def _run_op(self, op: Op) -> Sequence[Array]:
        groups = [lookup(group, self.values) for group in op.operand_groups()]
        with np.errstate(all="ignore"):
            if special := _SPECIAL.get(type(op)):
                got = special(self, op, *groups)
            else:
                got = op.evaluate(groups)
        if not len(op.results) or isinstance(op, View):
            return () if got is None else (got,)
        return (np.asarray(got, numpy_dtype(plain_type(op.results[0].type).dtype)),)

    def _run_loop(self, op: For) -> Sequence[Array]:
        lower, upper, step = (int(self.values[v]) for v in list(op.operation.operands)[:3])
        carried = [self.values[v] for v in op.carried]
        if step < 1:
            raise Invalid(f"{_named(op)} op has a step of {step}, must be positive")
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

    def size_of(self, op: SizeOf) -> Array:
        return np.array(substitute(op.size, self.sizes), np.int32)

    def arange(self, op: Arange) -> Array:
        return np.arange(self.size(op.block), dtype=np.int32)

    def full(self, op: Full) -> Array:
        return np.broadcast_to(op.value, [self.size(text) for text in op.shape])

    def view(self, op: View, memory: Array) -> Array:
        return _seen_as(memory, _at(cast("Memory", plain_type(op.y.type)), self.sizes))

    def load(self, op: Load, memory: Array, indices: list[Array]) -> Array:
        places, inside = _places(op, memory, indices)
        result = np.full(inside.shape, np.asarray(op.pad).astype(memory.dtype))
        result[inside] = memory[np.newaxis][places]
        return result

    def store(self, op: Store, value: Array, memory: Array, indices: list[Array]) -> None:
        places, inside = _places(op, memory, indices)
        values = np.broadcast_to(value, inside.shape)[inside] if indices else value
        if op.accumulate:
            np.add.at(memory[np.newaxis], places, values)
        else:
            memory[np.newaxis][places] = values

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
    SizeOf: _Program.size_of,
    Store: _Program.store,
    StoreBlock: _Program.store_block,
    View: _Program.view,
}


def _named(op: Op) -> str:
    """Name an op, behind its place in the source if it has one."""
    place = describe(op.location)
    return f"{place}: '{op.op_name}'" if place else f"'{op.op_name}'"


def _seen_as(memory: Array, type_: Memory) -> Array:
    strides = [stride * memory.itemsize for stride in type_.strides]
    bits = memory.view(f"u{memory.itemsize}")  # numpy does not stride over every float of 8 bits
    return as_strided(bits, type_.shape, strides).view(memory.dtype)


def _places(op: Load | Store, memory: Array, indices: list[Array]) -> tuple[Any, Array]:
    """Return where in memory the elements are that are inside, and which of the tile these are.

    The places have a dimension of size 1 more, the first: numpy cannot index without any.
    """
    tile = np.broadcast_arrays(*indices) if indices else ()
    inside = np.ones(tile[0].shape if tile else (), bool)
    for dim, (index, size) in enumerate(zip(tile, memory.shape, strict=True)):
        inside &= (index >= 0) | (dim not in op.low)
        inside &= (index < size) | (dim not in op.high)
    places = tuple(index[inside] for index in tile)
    for dim, (place, size) in enumerate(zip(places, memory.shape, strict=True)):
        if place.size and not 0 <= place.min() <= place.max() < size:
            wrong = place.min() if place.min() < 0 else place.max()
            raise Invalid(f"is at {wrong} of dimension {dim}, which has size {size}")
    return (np.zeros(np.count_nonzero(inside), int), *places), inside


def _overlap(memory: Array, offsets: list[Array], sizes: Sequence[int]) -> tuple[Any, Any]:
    """Return the part of memory that a block covers, and the part of the block that is inside."""
    outer: list[slice] = []
    inner: list[slice] = []
    for offset, size, extent in zip(map(int, offsets), sizes, memory.shape, strict=True):
        first, last = max(offset, 0), max(min(offset + size, extent), max(offset, 0))
        outer.append(slice(first, last))
        inner.append(slice(first - offset, last - offset))
    return tuple(outer), tuple(inner)
