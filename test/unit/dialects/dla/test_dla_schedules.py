"""Scheduled programs mean the same in any order that their tokens allow, and need them all."""

import random
from collections.abc import Iterator

import pytest
from dla_programs import Plan, Schedule, built, outputs, program_of
from dla_schedules import missing, schedule, without
from dla_tiling import network
from trivium.dialects.core.errors import CompileError, Invalid
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module
from trivium.dialects.dla.interpret import run_program
from trivium.dialects.dla.types import BufferType


@pytest.fixture(scope="module", autouse=True)
def context() -> Iterator[ir.Context]:
    with new_context() as context, ir.Location.unknown():
        yield context


@pytest.mark.parametrize("seed", range(16))
def test_any_order_gives_the_same(seed: int) -> None:
    made = network(seed)
    scheduled = built(made.plan, schedule(made.plan, seed))
    scheduled.verify()
    channels = made.value.shape[3]
    for order in (None, *range(8)):
        (y,) = outputs(scheduled, made.inputs, order)
        assert y[..., :channels].tolist() == made.value.tolist()


@pytest.mark.parametrize("seed", range(20))
def test_any_order_gives_the_same_where_buffers_lie_over_each_other(seed: int) -> None:
    """What is computed then is of no use, but tokens make it the same each time."""
    made = network(seed, *GENTLE[: 1 + seed % len(GENTLE)])
    scheduled = built(made.plan, crowded(made.plan, seed))
    results = [outputs(scheduled, made.inputs, order)[0] for order in (None, *range(8))]
    assert all((result == results[0]).all() for result in results)


@pytest.mark.parametrize("seed", range(16))
def test_a_token_less_is_refused(seed: int) -> None:
    """The verifier agrees with sets of bytes and of steps on each token that is taken out."""
    made = network(seed)
    whole = crowded(made.plan, seed) if seed % 2 else schedule(made.plan, seed)
    assert accepted(made.plan, whole)
    tokens = [(n, other) for n, listed in enumerate(whole.waits) for other in listed]
    refused = 0
    for number, other in random.Random(seed).sample(tokens, min(12, len(tokens))):
        less = without(whole, number, other)
        pairs = missing(made.plan, less)
        assert accepted(made.plan, less) == (not pairs)
        if pairs:
            refused += 1
            with pytest.raises(CompileError) as caught:
                built(made.plan, less).verify()
            first, least = pairs[0][0], min(o for n, o in pairs if n == pairs[0][0])
            assert f"op {first}, " in str(caught.value)
            assert f"touches bytes that op {least}, " in str(caught.value)
    assert refused


def crowded(plan: Plan, seed: int) -> Schedule:
    """Draw a schedule whose buffers lie over each other, but not a result over its operands."""
    drawn = (schedule(plan, 1000 * seed + n, crowded=True) for n in range(200))
    return next(each for each in drawn if accepted(plan, each))


def accepted(plan: Plan, given: Schedule) -> bool:
    try:
        built(plan, given).verify()
    except CompileError:
        return False
    return True


def test_an_order_may_differ_from_that_of_the_text() -> None:
    """Without a token that is needed, some order gives something else: seeds do find it."""
    made = network(5, "copy")
    whole = schedule(made.plan, 5)
    less = Schedule(whole.addresses, [[] for _ in whole.waits])
    module = built(made.plan, less)  # not verified: it is wrong
    found = {outputs(module, made.inputs, order)[0].tobytes() for order in range(20)}
    assert len(found) > 1


GENTLE = ("copy", "pool", "lookup", "resize", "eltwise")
"""Ops that compute something of whatever there is in memory, with no sums that overflow."""

CYCLE = """
"dla.program"() ({
^bb0(%x: memref<1x1x1x1xi8, "dram.inputs">):
  %a = "dla.alloc"() {address = 0} : () -> memref<1x1x1x1xi8, "sram">
  %0 = "dla.load"(%1, %x, %a) {rows = 1, columns = 1, channels = 1, engine = "one"}
    : (!async.token, memref<1x1x1x1xi8, "dram.inputs">, memref<1x1x1x1xi8, "sram">) -> !async.token
  %1 = "dla.load"(%0, %x, %a) {rows = 1, columns = 1, channels = 1, engine = "two"}
    : (!async.token, memref<1x1x1x1xi8, "dram.inputs">, memref<1x1x1x1xi8, "sram">) -> !async.token
  "dla.end"() : () -> ()
}) {sym_name = "main", target = "vanilla", atom = 1, argument_addresses = array<i64: 0>} : () -> ()
"""


def test_ops_that_wait_for_each_other() -> None:
    """The verifier refuses them; who runs them all the same is told of the deadlock."""
    module = Module(ir.Module.parse(CYCLE))
    with pytest.raises(CompileError, match="does not define what"):
        module.verify()
    program = program_of(module)
    arrays = [dram.reshape(-1) for dram in network(0, "copy").inputs[:1]]
    with pytest.raises(Invalid, match="deadlock: no engine can go on"):
        run_program(program.block, program.ops, program.addresses, arrays, seed=0)


def test_addresses_may_be_far_apart() -> None:
    """Only what buffers cover is memory: an address in dram may have 36 bits and more."""
    made = network(7, "copy")
    plan = made.plan
    spilled = plan.add(BufferType(plan.type(made.at).shape, "i8", "dram.activations"))
    whole = schedule(plan, 7)
    far = {**whole.addresses, spilled: 1 << 60, made.at: 1 << 50}
    module = built(plan, Schedule(far, whole.waits))
    module.verify()
    (y,) = outputs(module, made.inputs, 1)
    assert y[..., : made.value.shape[3]].tolist() == made.value.tolist()
