"""From buffers to packets: addresses, tokens and streams of programs that are drawn at random.

What the program computes in buffer form, where each buffer has memory of its own and ops run in
order, is what every later form of it must compute, in any order that its tokens allow.
"""

import random
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from drawn_programs import IMAGE, drawn_program, inputs
from hypothesis import given, settings
from hypothesis import strategies as st
from trivium.dialects import dla
from trivium.dialects.core.errors import Invalid
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.tensor import Tensor
from trivium.dialects.dla.buffers import BufferOp, touched
from trivium.dialects.dla.program import evaluate_program
from trivium.targets.dla.allocate.allocate_buffers import AllocateBuffers
from trivium.targets.dla.allocate.insert_tokens import InsertTokens
from trivium.targets.dla.allocate.liveness import liveness, overlap, programs
from trivium.targets.dla.core import container
from trivium.targets.dla.core.contents import Container
from trivium.targets.dla.core.simulator import simulate
from trivium.targets.dla.core.simulator_state import SimulatorState
from trivium.targets.dla.emit.emit_containers import emit
from trivium.targets.dla.registry import find_instructions

VANILLA = find_instructions("vanilla")
STEPS = 70

seeds = st.integers(0, 2**32)


@pytest.fixture(autouse=True)
def _context() -> Iterator[None]:
    with new_context():
        yield


def program_of(module: Module) -> dla.Program:
    (program,) = programs(module, "vanilla")
    return program


def run_of(module: Module) -> dla.Run:
    return next(op for op in ops(module.main) if isinstance(op, dla.Run))


def outputs(module: Module, arrays: list[Any], seed: int | None = None) -> list[Any]:
    given = [*arrays, module.weights["c"]]
    return list(evaluate_program(program_of(module), given, [Tensor(IMAGE, "i8")] * 2, seed))


def simulated(made: Container, arrays: list[Any], seed: int | None) -> list[Any]:
    machine = SimulatorState(VANILLA.description, made.regions)
    machine.fill("dram.constants", made.constants)
    for port, array in zip(made.inputs, arrays, strict=True):
        machine.fill("dram.inputs", port.pack(array).view(np.uint8), port.offset)
    simulate(VANILLA, made.code, machine, seed)
    found = machine.data["dram.outputs"].view(np.int8)
    return [port.unpack(found[port.offset : port.extent.end]) for port in made.outputs]


def scheduled(draw: random.Random, steps: int = STEPS) -> Module:
    module = drawn_program(draw, steps)
    AllocateBuffers().run(module)
    InsertTokens().run(module)
    return module


@settings(max_examples=40)
@given(seeds)
def test_every_form_computes_the_same_in_any_order(seed: int) -> None:
    draw = random.Random(seed)
    module = drawn_program(draw, STEPS)
    arrays = inputs(draw)
    wanted = outputs(module, arrays)
    AllocateBuffers().run(module)
    module.verify()
    assert same(outputs(module, arrays), wanted)
    InsertTokens().run(module)
    module.verify()
    for order in range(3):
        assert same(outputs(module, arrays, order), wanted)
    made = emit(module, run_of(module), VANILLA)
    loaded = container.load(VANILLA, container.save(VANILLA.description, made))
    assert loaded == made
    for order in (None, *range(3)):
        assert same(simulated(loaded, arrays, order), wanted)


def same(found: list[Any], wanted: list[Any]) -> bool:
    return all(np.array_equal(one, other) for one, other in zip(found, wanted, strict=True))


@settings(max_examples=40)
@given(seeds)
def test_buffers_that_are_used_later_keep_their_bytes(seed: int) -> None:
    """At every op, go through all buffers that were used before and will be used again."""
    module = drawn_program(random.Random(seed), STEPS)
    AllocateBuffers().run(module)
    program = program_of(module)
    used = [list(op.buffers.values()) for op in program.ops]
    allocs = [op for op in ops(program.operation) if isinstance(op, dla.Alloc)]
    for step in range(len(used)):
        before = {value for values in used[: step + 1] for value in values}
        after = {value for values in used[step:] for value in values}
        live = [alloc for alloc in allocs if alloc.buffer in before and alloc.buffer in after]
        for one, other in combinations(live, 2):
            assert one.buffer.type.memory_space != other.buffer.type.memory_space or apart(
                one, other
            )
    assert all(alloc.address % 16 == 0 for alloc in allocs)
    assert overlap(liveness(program, program.ops)) is None


def apart(one: dla.Alloc, other: dla.Alloc) -> bool:
    first, second = (range(a.address, a.address + size_of(a)) for a in (one, other))
    return not set(first) & set(second)


def size_of(alloc: dla.Alloc) -> int:
    width = 4 if "i32" in str(alloc.buffer.type) else 1
    return int(np.prod(alloc.buffer.type.shape)) * width


@settings(max_examples=40)
@given(seeds)
def test_tokens_are_the_fewest(seed: int) -> None:
    """Compare with what is left when all orders are written out and what follows is crossed out."""
    module = scheduled(random.Random(seed))
    program = program_of(module)
    listed = program.ops
    addresses = program.addresses
    bytes_of = [reached(op, addresses) for op in listed]
    count = len(listed)
    after = np.zeros((count, count), bool)
    for one, other in combinations(range(count), 2):
        after[other, one] = listed[one].engine == listed[other].engine or meet(
            bytes_of[one], bytes_of[other]
        )
    for middle in range(count):
        after |= after[:, middle, None] & after[None, middle]
    needed = after & ~((after.astype(int) @ after.astype(int)) > 0)
    wanted = [
        [n for n in np.flatnonzero(needed[number]) if listed[n].engine != op.engine]
        for number, op in enumerate(listed)
    ]
    tokens = {op.done[0]: number for number, op in enumerate(listed)}
    assert [[tokens[token] for token in op.waits] for op in listed] == wanted


def reached(op: BufferOp, addresses: Any) -> list[tuple[str, bool, int, int]]:
    found: list[tuple[str, bool, int, int]] = []
    for value, buffer, access in touched(op):
        first, end = (addresses[value] + n for n in access.reach(buffer))
        found.append((buffer.space, access.writes, first, end))
    return found


def meet(one: Any, other: Any) -> bool:
    return any(
        a[0] == b[0] and (a[1] or b[1]) and a[2] < b[3] and b[2] < a[3] for a in one for b in other
    )


@settings(max_examples=15)
@given(seeds)
def test_no_token_can_be_left_out(seed: int) -> None:
    module = scheduled(random.Random(seed))
    program = program_of(module)
    module.verify()
    for number, op in enumerate(program.ops):
        tokens = list(op.waits)
        for token in tokens:
            op = waiting_for(op, [other for other in tokens if other != token])
            with pytest.raises(Invalid, match=rf"op {number}, .* in no order: it must wait"):
                program.verify_regions()
            op = waiting_for(op, tokens)


def waiting_for(op: BufferOp, tokens: list[ir.Value]) -> BufferOp:
    """Put an op with other tokens in the place of an op."""
    with ir.InsertionPoint(op.operation):
        groups = [tokens, *op.buffers.values()]
        made = type(op).create(groups, [op.done[0].type], op.attributes, loc=op.location)
    op.done[0].replace_all_uses_with(made.done[0])
    op.operation.erase()
    return made


@settings(max_examples=10)
@given(seeds)
def test_passes_settle_at_once(seed: int) -> None:
    module = scheduled(random.Random(seed))
    text = str(module)
    AllocateBuffers().run(module)
    assert str(module) == text
    InsertTokens().run(module)
    assert str(module) == text


def test_packets_know_their_nodes() -> None:
    module = scheduled(random.Random(3))
    made = emit(module, run_of(module), VANILLA)
    placed = VANILLA.decode_stream(made.code)
    assert len(made.nodes) == len(placed)
    assert made.nodes[-1] == ""
    steps = [int(node.removeprefix("step_")) for node in made.nodes[1:-1]]
    assert steps == sorted(steps)
    assert len(set(steps)) > 5
