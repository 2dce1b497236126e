"""Whatever programs say, they are refused or stay within their buffers: nothing crashes."""

import random
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from dla_programs import Plan, Schedule, built, outputs
from dla_schedules import schedule
from dla_tiling import OPS, network
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st
from numpy.lib.array_utils import byte_bounds
from trivium.dialects import dla
from trivium.dialects.core.errors import CompileError, Invalid
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import ops
from trivium.dialects.core.tensor import Array
from trivium.dialects.dla.access import Access
from trivium.dialects.dla.dialect import TensorOp
from trivium.dialects.dla.types import BufferType
from trivium.targets.dla.vanilla import packets

PHASES = (Phase.explicit, Phase.generate, Phase.shrink)
LAW = settings(derandomize=True, deadline=None, max_examples=200, database=None, phases=PHASES)

INTEGERS = (-(1 << 63), -(1 << 31), -129, -1, 0, 1, 2, 3, 4, 5, 9, 16, 63, 128, 255)
LARGE = ((1 << 31) - 1, 1 << 31, 1 << 32, 1 << 60, 1 << 61, (1 << 63) - 1)
WORDS = ("", "dense", "depthwise", "max", "average", "inside", "none", "add", "half_even")


@pytest.fixture(scope="module", autouse=True)
def context() -> Iterator[ir.Context]:
    with new_context() as context, ir.Location.unknown():
        yield context


@pytest.fixture(autouse=True)
def guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that no window is beyond its memory: numpy would read it all the same."""
    original = Access.of

    def of(self: Access, buffer: BufferType, memory: Array) -> Array:
        window = original(self, buffer, memory)
        (first, end), (start, last) = byte_bounds(window), byte_bounds(memory)
        assert start <= first
        assert end <= last
        return window

    monkeypatch.setattr(Access, "of", of)


def changed(value: Any, choose: random.Random) -> Any:
    if isinstance(value, str):
        return choose.choice(WORDS)
    if isinstance(value, tuple):
        listed = list(value)
        change = choose.randrange(8)
        if change == 0:
            return tuple(listed[:-1])
        if change == 1:
            return (*listed, 0)
        place = choose.randrange(len(listed))
        listed[place] = changed(listed[place], choose)
        return tuple(listed)
    near = [n for n in (value - 1, value + 1, 2 * value, -value) if abs(n) < 1 << 63]
    return choose.choice((*near, *INTEGERS, *LARGE))


def mutated(plan: Plan, choose: random.Random) -> Plan:
    """Change an attribute, the type of a buffer, or which buffer an operand is."""
    steps, buffers = list(plan.steps), dict(plan.buffers)
    number = choose.randrange(len(steps))
    step = steps[number]
    kind = choose.randrange(10)
    if kind == 0:
        names = list(step.buffers)
        names[choose.randrange(len(names))] = choose.choice([*buffers, *plan.arguments])
        steps[number] = replace(step, buffers=tuple(names))
    elif kind == 1:
        name = choose.choice(list(buffers))
        shape = list(buffers[name].shape)
        axis = choose.randrange(len(shape))
        shape[axis] = choose.choice([1, shape[axis] - 1, shape[axis] + 1, shape[axis] * 2]) or 1
        wide = choose.choice([tuple(shape), tuple(shape[1:]) or (3,), (1, *shape)])
        buffers[name] = replace(buffers[name], shape=wide)
    else:
        fields = [f for f in step.op.fields.attributes if f.name != "engine"]
        field = choose.choice(fields)
        value = step.attributes.get(field.name, field.default)
        given = {**step.attributes, field.name: changed(value, choose)}
        steps[number] = replace(step, attributes=given)
    return replace(plan, steps=steps, buffers=buffers)


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("scheduled", [False, True])
def test_changed_programs_are_refused_or_run(op: str, scheduled: bool) -> None:
    choose = random.Random(f"{op} {scheduled}")
    ends = {"refused": 0, "ran": 0}
    for seed in range(20):
        made = network(seed, op)
        given: Schedule | None = schedule(made.plan, seed) if scheduled else None
        for _ in range(4):
            plan = mutated(made.plan, choose)
            module = built(plan, given)
            try:
                module.verify()
                outputs(module, made.inputs, choose.choice([None, 1]))
            except (CompileError, Invalid):
                ends["refused"] += 1
            else:
                ends["ran"] += 1
    assert min(ends.values()) > 8


@pytest.mark.parametrize("seed", range(40))
def test_changed_schedules_are_refused_or_run(seed: int) -> None:
    choose = random.Random(seed)
    made = network(seed % 10)
    whole = schedule(made.plan, seed)
    addresses = dict(whole.addresses)
    name = choose.choice(list(addresses))
    addresses[name] = changed(addresses[name], choose)
    module = built(made.plan, Schedule(addresses, whole.waits))
    with suppress(CompileError, Invalid):
        module.verify()
        outputs(module, made.inputs, seed)


@pytest.mark.parametrize("scheduled", [False, True])
def test_attributes_of_other_types_are_refused(scheduled: bool) -> None:
    """Each attribute of each op, a program's and a buffer's, too, is of some other type."""
    made = network(55, *OPS)
    module = built(made.plan, schedule(made.plan, 55) if scheduled else None)
    seen: set[str] = set()
    for op in ops(module.operation):
        if op.op_name in seen:
            continue
        seen.add(op.op_name)
        op.set_attributes(op.attributes)  # also those that are defaults
        for field in op.fields.attributes:
            before = op.operation.attributes[field.name]
            for text in ('"x"', "true", "array<i64: 1>", "7"):
                other = ir.Attribute.parse(text)
                op.operation.attributes[field.name] = other
                with suppress(CompileError) if type(other) is type(before) else refused():
                    module.verify()
            op.operation.attributes[field.name] = before
    others = (TensorOp, dla.Run)
    classes = dla.BufferOp.dialect.ops.values()
    assert seen == {cls.op_name for cls in classes if not issubclass(cls, others)}
    module.verify()


def refused() -> AbstractContextManager[object]:
    return pytest.raises(CompileError, match="must be")


@LAW
@given(data=st.data())
def test_windows_are_those_of_slices(data: st.DataObject) -> None:
    """Bounds, offsets and reach, beside numpy's own slices of an array of indices."""
    shape = data.draw(st.tuples(*(st.integers(1, 4) for _ in range(4))))
    start = data.draw(st.tuples(*(st.integers(-1, 4) for _ in range(4))))
    sizes = data.draw(st.tuples(*(st.integers(0, 4) for _ in range(3))))
    buffer, access = BufferType(shape, "i8", "sram"), Access("source", start, sizes)
    whole = (1, *sizes)
    ends = [first + size for first, size in zip(start, whole, strict=True)]
    fits = min(sizes) > 0 and min(start) >= 0
    fits = fits and all(end <= size for end, size in zip(ends, shape, strict=True))
    if not fits:
        with pytest.raises(Invalid, match="window of 'source' is"):
            access.check(buffer)
        return
    access.check(buffer)
    indices = np.arange(np.prod(shape), dtype=np.int64).reshape(shape)
    part = indices[tuple(slice(a, b) for a, b in zip(start, ends, strict=True))][0]
    memory = indices.reshape(-1).astype(np.int8)
    assert access.of(buffer, memory).tolist() == part.astype(np.int8).tolist()
    assert access.offset(buffer) == part.min()
    assert access.reach(buffer) == (part.min(), part.max() + 1)


@LAW
@given(data=st.data())
def test_windows_meet_where_slices_do(data: st.DataObject) -> None:
    starts = st.tuples(st.just(0), *(st.integers(0, 3) for _ in range(3)))
    sizes = st.tuples(*(st.integers(1, 3) for _ in range(3)))
    a, b = (Access("x", data.draw(starts), data.draw(sizes)) for _ in range(2))
    marked = [np.zeros((1, 6, 6, 6), bool) for _ in range(2)]
    for access, array in zip((a, b), marked, strict=True):
        ends = zip(access.start, (1, *access.sizes), strict=True)
        array[tuple(slice(first, first + size) for first, size in ends)] = True
    assert a.meets(b) == b.meets(a) == bool((marked[0] & marked[1]).any())


@LAW
@given(data=st.data())
def test_windows_that_repeat_are_broadcast(data: st.DataObject) -> None:
    rows, columns, channels = data.draw(st.tuples(*(st.integers(1, 4) for _ in range(3))))
    shape = (1, data.draw(st.sampled_from((1, rows))), data.draw(st.sampled_from((1, columns))))
    buffer = BufferType((*shape, channels), "i8", "sram")
    values = np.arange(buffer.size_bytes, dtype=np.int8)
    access = Access("other", (0, 0, 0, 0), (rows, columns, channels), repeats=True)
    expected = np.broadcast_to(values.reshape(buffer.shape)[0], (rows, columns, channels))
    assert access.of(buffer, values).tolist() == expected.tolist()
    assume(rows > 1 and shape[1] == 1)
    with pytest.raises(Invalid, match="along axis 1"):
        Access("other", (0, 0, 0, 0), (rows, columns, channels)).check(buffer)


TILES = {op.packet: op for op in dla.DLA.ops.values() if issubclass(op, dla.BufferOp)}


@pytest.mark.parametrize("packet", [c for c in packets.CLASSES if not c.ends], ids=lambda c: c.name)
def test_attributes_are_called_as_fields_of_packets_are(packet: Any) -> None:
    """So that a packet is made of an op without a word about either."""
    op = TILES[packet.name]
    operands = {group.name for group in op.fields.operands[1:]}
    addresses = operands - {"sums"}  # which are at the start of their memory
    strides = {f"{name}_{part}" for name in addresses for part in ("row", "pixel")}
    own = {name for name in packet.own_fields() if name != "region"}
    starts = {f"{name}_at" for name in operands}
    attributes = {field.name for field in op.fields.attributes}
    assert attributes - starts - {"engine", "rounding"} == own - addresses - strides
    assert addresses <= own


def test_each_op_is_a_packet() -> None:
    assert set(TILES) == {packet.name for packet in packets.CLASSES if not packet.ends}
