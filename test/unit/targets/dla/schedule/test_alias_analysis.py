"""Parts of images: networks of joins and windows drawn at random, bit for bit at every form."""

import numpy as np
import pytest
from drawn_networks import Network, conv, eltwise, lookup, programs, shape_of, traffic, window
from trivium.dialects import dla, tri
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.op import view
from trivium.dialects.core.tensor import Array, Tensor
from trivium.dialects.dla.program import evaluate_program
from trivium.targets.dla.allocate.allocate_buffers import AllocateBuffers
from trivium.targets.dla.allocate.insert_tokens import InsertTokens
from trivium.targets.dla.core.simulator import simulate
from trivium.targets.dla.core.simulator_state import SimulatorState
from trivium.targets.dla.emit.emit_containers import emit
from trivium.targets.dla.registry import find_instructions
from trivium.targets.dla.retry import ATTEMPTS, Retry, SchedulingAttempt
from trivium.targets.dla.schedule.assign_residency import AssignResidency
from trivium.targets.dla.schedule.lower_to_buffers import LowerToBuffers
from trivium.targets.dla.schedule.prefetch import Prefetch

pytestmark = pytest.mark.usefixtures("context")

VANILLA = find_instructions("vanilla")
SHAPES = ((1, 6, 5, 16), (2, 9, 4, 32), (1, 24, 24, 48), (1, 40, 40, 24))


def drawn(seed: int) -> tuple[Module, Array]:
    """Return a group that joins what it has made, often what it has joined, and its input."""
    shape = SHAPES[seed % len(SHAPES)]
    net = Network(np.random.default_rng(seed), shape)
    values: list[ir.Value] = [net.block.arguments[0]]
    with ir.InsertionPoint(list(net.block.operations)[-1]):
        for _ in range(8):
            x = values[net.random.integers(max(0, len(values) - 4), len(values))]
            draw = net.one(conv, lookup, eltwise, window, window, joined, joined, joined)
            values.append(joined(net, x, values) if draw is joined else draw(net, x))
    outputs = [value for value in values[1:] if not list(value.uses)]
    if seed % 3 == 0:  # a part that goes out, too
        outputs += [value for value in values[1:-1] if value not in outputs][-1:]
    net.enclose(outputs, "vanilla")
    x = np.random.default_rng(seed).integers(-128, 128, shape).astype(np.int8)
    return net.module, x


def joined(net: Network, x: ir.Value, values: list[ir.Value]) -> ir.Value:
    """Join a value with others of its sizes along an axis, itself or a constant among them."""
    axis = int(net.one(1, 2, 3))
    rest = [size for number, size in enumerate(shape_of(x)) if number != axis]
    near = [
        value
        for value in values
        if [size for number, size in enumerate(shape_of(value)) if number != axis] == rest
    ]
    many = [near[net.random.integers(len(near))] for _ in range(int(net.one(1, 2)))]
    if net.one(False, False, True):
        many.append(net.constant(net.bytes(*shape_of(x))))
    parts = [*many, x] if net.one(False, True) else [x, *many]
    # Parts of channels are whole atoms but for the last one, as selection has it.
    broken = axis == 3 and any(shape_of(part)[3] % 16 for part in parts[:-1])
    if broken or sum(shape_of(part)[axis] for part in parts) > 160:
        return lookup(net, x)
    return dla.Concat.build(parts, axis=axis).y


def scheduled(
    module: Module, x: Array, expected: tuple[Array, ...], number: SchedulingAttempt
) -> None:
    steps = (
        AssignResidency(share=number.share),
        LowerToBuffers(tile_share=number.tile_share),
        Prefetch(room=number.prefetch),
        AllocateBuffers(),
        InsertTokens(),
    )
    for each in steps:
        each.run(module)
        module.verify()
        assert_equal(run(module, [x]), expected)


def assert_equal(got: tuple[Array, ...], expected: tuple[Array, ...]) -> None:
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def in_orders(module: Module, x: Array, expected: tuple[Array, ...]) -> None:
    """Run the program, then its packets, in orders that their tokens and waits allow."""
    (program,) = [op for op in ops(module.operation) if isinstance(op, dla.Program)]
    (call,) = [op for op in ops(module.main) if isinstance(op, dla.Run)]
    given = [x if isinstance(v, ir.BlockArgument) else constant(module, v) for v in call.inputs]
    types = [Tensor(array.shape, "i8") for array in expected]
    packed = emit(module, call, VANILLA)
    for seed in range(3):
        assert_equal(tuple(evaluate_program(program, given, types, seed)), expected)
        machine = SimulatorState(VANILLA.description, packed.regions)
        if packed.constants:
            machine.fill("dram.constants", packed.constants)
        for port in packed.inputs:
            machine.fill("dram.inputs", port.pack(x).view(np.uint8), port.offset)
        simulate(VANILLA, packed.code, machine, seed)
        found = machine.data["dram.outputs"].view(np.int8)
        outputs = [port.unpack(found[port.offset : port.extent.end]) for port in packed.outputs]
        assert_equal(tuple(outputs), expected)


def constant(module: Module, value: ir.Value) -> Array:
    made = view(value.owner)
    assert isinstance(made, (tri.Constant, tri.Weight))
    return made.value if isinstance(made, tri.Constant) else module.weights[made.name]


# In 1080 a sum of one row, whose stride then is any, is written over both of its terms.
@pytest.mark.parametrize("seed", [*range(32), 1080])
def test_parts_are_made_at_their_places(seed: int) -> None:
    module, x = drawn(seed)
    expected = run(module, [x])
    text = str(module)
    for number in (ATTEMPTS[0], ATTEMPTS[2], ATTEMPTS[5], ATTEMPTS[6])[seed % 4 :]:
        try:
            scheduled(module, x, expected, number)
        except Retry:
            module = Module.parse(text, module.weights)
            continue
        in_orders(module, x, expected)
        return
    pytest.skip("fits in no attempt")


def copies(module: Module) -> int:
    return sum(isinstance(op, dla.CopyTile) for op in ops(module.operation))


def test_nothing_is_copied_where_all_parts_are_made_at_their_places() -> None:
    net = Network(np.random.default_rng(0), (1, 8, 8, 32))
    with ir.InsertionPoint(list(net.block.operations)[-1]):
        parts = [lookup(net, net.block.arguments[0]) for _ in range(3)]
        once = dla.Concat.build(parts[:2], axis=3).y
        twice = dla.Concat.build([once, parts[2]], axis=3).y
        y = lookup(net, twice)
    net.enclose([y], "vanilla")
    AssignResidency().run(net.module)
    LowerToBuffers().run(net.module)
    (program,) = [op for op in ops(net.module.operation) if isinstance(op, dla.Program)]
    assert copies(net.module) == 0
    moved = [op for op in program.ops if isinstance(op, (dla.Load, dla.Store))]
    sizes = 8 * 8 * 32, 8 * 8 * 96  # the input once, the output once
    assert sum(op.rows * op.columns * op.channels for op in moved) == sum(sizes)


@pytest.mark.parametrize(
    ("share", "moved"), [(100, 32 + 2 * 16), (0, 2 * 32 + 2 * 16 + 3 * 16 + 2 * 16)]
)
def test_windows_are_read_where_they_are(share: int, moved: int) -> None:
    """Of what an op makes, in sram or in dram; one window has two readers."""
    net = Network(np.random.default_rng(0), (1, 8, 8, 32))
    with ir.InsertionPoint(list(net.block.operations)[-1]):
        whole = lookup(net, net.block.arguments[0])
        halves = [
            dla.Slice.build(whole, start=(0, 0, first), sizes=(8, 8, 16)).y for first in (0, 16)
        ]
        made = dla.Eltwise.build(halves[0], lookup(net, halves[1]), operator="max").y
        other = lookup(net, halves[1])
    net.enclose([made, other], "vanilla")
    x = net.bytes(1, 8, 8, 32)
    expected = run(net.module, [x])
    AssignResidency(share=share).run(net.module)
    LowerToBuffers().run(net.module)
    assert copies(net.module) == 0
    assert sum(map(traffic, programs(net.module))) == 64 * moved
    for found, wanted in zip(run(net.module, [x]), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
