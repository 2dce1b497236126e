"""Interpret programs: in order, or in any order that the tokens of a scheduled one allow."""

import random
from collections.abc import Iterator, Mapping, Sequence

from ..core.errors import Invalid
from ..core.location import describe
from ..core.mlir import ir
from ..core.op import view
from ..core.tensor import Array
from .buffers import BufferOp
from .memory import Alloc, uninitialised
from .types import BufferType, buffer_of


def run_program(
    block: ir.Block,
    ops: Sequence[BufferOp],
    addresses: Mapping[ir.Value, int],
    arguments: Sequence[Array],
    seed: int | None = None,
) -> None:
    """Run the ops of a program on flat arrays of i8, one per argument; outputs are written.

    Buffers with addresses share memory accordingly. Raises Invalid if an op fails.
    """
    memory = dict(zip(block.arguments, arguments, strict=True))
    memory |= _buffers(block, addresses)
    order = ops if seed is None else _any_order(ops, random.Random(seed))
    for op in order:
        windows = {
            access.operand: access.of(buffer_of(value.type), memory[value])
            for access in op.accesses(op.atom)
            for value in [op.buffers[access.operand]]
        }
        try:
            op.execute(windows)
        except Invalid as error:
            raise Invalid(f"{describe(op.location)}: '{op.op_name}' op {error}") from None


def _buffers(block: ir.Block, addresses: Mapping[ir.Value, int]) -> dict[ir.Value, Array]:
    """Allocate the buffers: at their addresses, or in memory of their own without one."""
    allocs = [op for op in map(view, block.operations) if isinstance(op, Alloc)]
    types: dict[ir.Value, BufferType] = {op.buffer: buffer_of(op.buffer.type) for op in allocs}
    made: dict[ir.Value, Array] = {}
    spaces: dict[str, list[tuple[int, int, ir.Value]]] = {}
    for value, buffer in types.items():
        if value not in addresses:
            made[value] = uninitialised(buffer.size_bytes)
            continue
        first = addresses[value]
        spaces.setdefault(buffer.space, []).append((first, first + buffer.size_bytes, value))
    for placed in spaces.values():
        made |= _shared(sorted(placed, key=lambda span: span[:2]))
    return made


def _shared(placed: Sequence[tuple[int, int, ir.Value]]) -> dict[ir.Value, Array]:
    """Allocate buffers of one space, in the order of addresses; adjacent ones share an array."""
    runs: list[list[tuple[int, int, ir.Value]]] = []
    reach = -1
    for span in placed:
        if span[0] > reach:
            runs.append([])
        runs[-1].append(span)
        reach = max(reach, span[1])
    made: dict[ir.Value, Array] = {}
    for run in runs:
        base = run[0][0]
        memory = uninitialised(max(end for _, end, _ in run) - base)
        made |= {value: memory[first - base : end - base] for first, end, value in run}
    return made


def _any_order(ops: Sequence[BufferOp], choose: random.Random) -> Iterator[BufferOp]:
    """Yield ops in a random order that queues and tokens allow."""
    queues: dict[str, list[BufferOp]] = {}
    for op in ops:
        queues.setdefault(op.engine, []).append(op)
    done: set[ir.Value] = set()
    places = dict.fromkeys(queues, 0)
    while places:
        ready = [
            engine
            for engine, place in places.items()
            if all(token in done for token in queues[engine][place].waits)
        ]
        if not ready:
            raise Invalid("deadlock: no engine can go on")
        engine = choose.choice(ready)
        op = queues[engine][places[engine]]
        yield op
        done.update(op.results)
        places[engine] += 1
        if places[engine] == len(queues[engine]):
            del places[engine]
