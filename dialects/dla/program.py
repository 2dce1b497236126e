"""Programs of an accelerator, and calls of them."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from ..core.attributes import tensor_of
from ..core.body import check_body
from ..core.errors import Invalid
from ..core.fields import Operand, Region, Result
from ..core.mlir import ir
from ..core.module import find_symbol
from ..core.op import NO_SIZES, Op, view
from ..core.tensor import Array, Tensor
from .buffers import BufferOp
from .dialect import DLA
from .interpret import run_program
from .memory import Alloc
from .schedule import check_schedule
from .types import CONSTANTS, INPUTS, OUTPUTS, BufferType, buffer_of

PORTS = (INPUTS, CONSTANTS, OUTPUTS)
"""The regions of DRAM that arguments of a program may be in."""


class Program(Op, dialect=DLA):
    """Run a body of ops on buffers, in order; its arguments are buffers in regions of DRAM.

    The space of an argument tells whether it is an input, a constant or an output. `target` names
    the accelerator, `atom` is the number of channels that it writes at once. In scheduled form all
    ops have engines, all buffers have addresses, and `argument_addresses` are those of the
    arguments, each in its region.
    """

    sym_name: str
    target: str
    atom: int
    argument_addresses: tuple[int, ...] = ()
    body: Region

    pure = False

    @property
    def block(self) -> ir.Block:
        """Return the block of the body."""
        return self.operation.regions[0].blocks[0]

    @property
    def has_body(self) -> bool:
        """Report whether there is a body, which an unverified op may lack."""
        regions = self.operation.regions
        return len(regions) == 1 and len(regions[0].blocks) == 1

    @property
    def arguments(self) -> list[tuple[ir.Value, BufferType]]:
        """Return the arguments with their types."""
        return [(argument, buffer_of(argument.type)) for argument in self.block.arguments]

    @property
    def ops(self) -> list[BufferOp]:
        """Return the ops that engines run, in order."""
        found = (view(operation) for operation in self.block.operations)
        return [op for op in found if isinstance(op, BufferOp)]

    @property
    def scheduled(self) -> bool:
        """Report whether the ops have engines."""
        return any(op.scheduled for op in self.ops)

    @property
    def addresses(self) -> dict[ir.Value, int]:
        """Return the addresses of all buffers that have one."""
        known: dict[ir.Value, int] = dict(
            zip(self.block.arguments, self.argument_addresses, strict=False)
        )
        for operation in self.block.operations:
            op = view(operation)
            if isinstance(op, Alloc) and op.address >= 0:
                known[op.buffer] = op.address
        return known

    def verify(self) -> None:
        self.check_attributes()
        _ = self.attributes, self.operand_groups(), self.result_groups()
        check_body(self.operation, End.op_name)
        if self.operation.parent is not None and self.operation.parent.name != "builtin.module":
            raise Invalid(f"stands in '{self.operation.parent.name}', must stand in a module")
        if self.atom < 1:
            raise Invalid(f"atom is {self.atom}, must be at least 1")
        self._check_arguments()
        self._check_body()

    def verify_regions(self) -> None:
        ops = self.ops
        if any(op.scheduled for op in ops):
            check_schedule(ops, self.addresses)

    def _check_arguments(self) -> None:
        buffers = [buffer for _, buffer in self.arguments]
        for index, buffer in enumerate(buffers):
            if buffer.space not in PORTS:
                known = ", ".join(PORTS)
                raise Invalid(f"argument {index} is in {buffer.space}, must be in one of: {known}")
        addresses = self.argument_addresses
        if addresses and len(addresses) != len(buffers):
            raise Invalid(f"has {len(addresses)} addresses for {len(buffers)} arguments")
        spans: list[tuple[str, int, int, int]] = []
        for index, (address, buffer) in enumerate(zip(addresses, buffers, strict=False)):
            if address < 0:
                raise Invalid(f"address of argument {index} is {address}, must not be negative")
            # Constants are never written, so that several may be the same bytes.
            if buffer.space != CONSTANTS:
                spans.append((buffer.space, address, address + buffer.size_bytes, index))
        for one, other in pairwise(sorted(spans)):
            if one[0] == other[0] and other[1] < one[2]:
                raise Invalid(f"arguments {one[3]} and {other[3]} share bytes of {one[0]}")

    def _check_body(self) -> None:
        known: set[ir.Value] = set(self.block.arguments)
        for operation in self.block.operations:
            op = view(operation)
            if not isinstance(op, (BufferOp, Alloc, End)):
                raise Invalid(f"body has '{operation.operation.name}', must have ops on buffers")
            for index, value in enumerate(operation.operation.operands):
                if value not in known:
                    raise Invalid(f"body does not define what '{op.op_name}' uses: operand {index}")
            known.update(operation.operation.results)


class End(Op, dialect=DLA):
    """End a program."""

    terminator = True

    def infer(self) -> tuple[()]:
        return ()


class Run(Op, dialect=DLA):
    """Run a program: operands are its inputs and constants in order, results its outputs.

    Images are i8 [N, rows, columns, channels]; the buffers of a program may have more channels, in
    whole atoms. Constants have the shapes of their buffers.
    """

    memory_space: ClassVar[str | None] = "host"  # a driver copies bytes to the accelerator and back

    inputs: Sequence[Operand]
    program: str
    outputs: Sequence[Result]

    def verify(self) -> None:
        self.check_attributes()
        self.operand_groups()
        found = find_program(self.operation, self.program)
        if not found.has_body:
            return  # reported by the verifier of the program
        given = [buffer for _, buffer in found.arguments if buffer.space != OUTPUTS]
        made = [buffer for _, buffer in found.arguments if buffer.space == OUTPUTS]
        _check_values("operand", [v.type for v in self.operation.operands], given)
        _check_values("result", [v.type for v in self.results], made)

    def evaluate(
        self, groups: Sequence[Any], sizes: Mapping[str, int] = NO_SIZES
    ) -> tuple[Array, ...]:
        """Run the program on arrays; padding channels are zeros."""
        found = find_program(self.operation, self.program)
        types = [tensor_of(value.type) for value in self.results]
        return evaluate_program(found, groups[0], types)


def evaluate_program(
    program: Program, inputs: Sequence[Array], results: Sequence[Tensor], seed: int | None = None
) -> tuple[Array, ...]:
    """Run a program on its inputs and constants and return its outputs.

    With a seed, the engines of a scheduled program run in a random order that its tokens allow.
    """
    rest = iter(inputs)
    memories: list[Array] = []
    for _, buffer in program.arguments:
        memory = np.zeros(buffer.shape, np.int8)
        if buffer.space != OUTPUTS:
            array = next(rest)
            memory[..., : array.shape[-1]] = array
        memories.append(memory)
    flat = [memory.reshape(-1) for memory in memories]
    run_program(program.block, program.ops, program.addresses, flat, seed)
    made = [m for m, (_, b) in zip(memories, program.arguments, strict=True) if b.space == OUTPUTS]
    return tuple(m[..., : t.shape[-1]] for m, t in zip(made, results, strict=True))


def find_program(operation: ir.Operation, name: str) -> Program:
    """Find a program by name in the module of an operation; raise Invalid without one."""
    found = find_symbol(operation, name)
    if not isinstance(found, Program):
        raise Invalid(f"calls program '{name}', which does not exist")
    return found


def _check_values(what: str, types: Sequence[ir.Type], buffers: Sequence[BufferType]) -> None:
    if len(types) != len(buffers):
        raise Invalid(f"has {len(types)} {what}s, the program has {len(buffers)}")
    for index, (type_, buffer) in enumerate(zip(types, buffers, strict=True)):
        tensor = tensor_of(type_)
        same = tensor.shape[:-1] == buffer.shape[:-1] and tensor.rank == len(buffer.shape)
        room = tensor.shape[-1:] <= buffer.shape[-1:]
        exact = buffer.space != CONSTANTS or tensor.shape == buffer.shape
        if tensor.dtype != "i8" or not (same and room and exact):
            raise Invalid(f"{what} {index} is {tensor}, its buffer is {buffer}")
