"""Streams: order, bounds, poison, deadlock, costs, the linter's classes of faults."""

import random
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trivium.dialects.core.errors import CompileError
from trivium.targets.dla.core.linter import BufferRange, lint
from trivium.targets.dla.core.packet import InstructionSet, Packet
from trivium.targets.dla.core.simulator import simulate
from trivium.targets.dla.core.simulator_state import SimulatorState
from trivium.targets.dla.core.toml_file import parse_description
from trivium.targets.dla.vanilla.packets import (
    CLASSES,
    FILE,
    Conv,
    Copy,
    End,
    Load,
    LoadWeights,
    Store,
    instruction_set,
)

VANILLA = instruction_set()
REGIONS = {"constants": 4096, "inputs": 4096, "outputs": 4096}
SIZES = {"rows": 4, "columns": 4, "channels": 16}


def image(side: str, start: int) -> dict[str, int]:
    return {side: start, f"{side}_row": 64, f"{side}_pixel": 16}


LOAD = Load(
    region=1, fill=0, top=0, bottom=0, left=0, right=0,
    **SIZES, **image("source", 0), **image("destination", 0),
)  # fmt: skip
WEIGHTS = LoadWeights(region=0, source=0, destination=0, length=416)
CONV = Conv(
    **SIZES, **image("source", 0), **image("destination", 1024), source_zero=0,
    destination_zero=0, out_rows=4, out_columns=4, filters=16, mode="dense", begin=1, finish=1,
    weights=0, table=256, kernel_rows=1, kernel_columns=1, stride_rows=1, stride_columns=1,
    dilation_rows=1, dilation_columns=1, pad_top=0, pad_left=0, low=-128, high=127,
    waits={"load": 2},
)  # fmt: skip
COPY = Copy(
    **SIZES, **image("source", 1024), **image("destination", 2048), source_zero=0,
    destination_zero=0, multiplier=1, shift=0, low=-128, high=127, waits={"mac": 1},
)  # fmt: skip
STORE = Store(
    region=2, **SIZES, **image("source", 2048), **image("destination", 0), waits={"vec": 1}
)
END = End(waits={"load": 2, "store": 1, "mac": 1, "vec": 1})
STREAM: list[Packet] = [LOAD, WEIGHTS, CONV, COPY, STORE, END]


def machine(instructions: InstructionSet = VANILLA) -> SimulatorState:
    made = SimulatorState(instructions.description, REGIONS)
    values = np.random.RandomState(1)
    table = np.zeros(416, np.uint8)
    table[:256] = np.eye(16, dtype=np.uint8).reshape(-1)
    table[256 + 64 : 256 + 128].view(np.int32)[:] = 1
    made.fill("dram.constants", table.tobytes())
    made.fill("dram.inputs", values.randint(0, 256, 4096).astype(np.uint8).tobytes())
    return made


def kinds(stream: list[Packet], buffers: list[BufferRange] | None = None) -> set[str]:
    found = lint(VANILLA, VANILLA.encode_stream(stream), REGIONS, buffers or [])
    return {finding.kind for finding in found}


def fault(stream: list[Packet]) -> str:
    with pytest.raises(CompileError) as caught:
        simulate(VANILLA, VANILLA.encode_stream(stream), machine())
    return str(caught.value)


def test_any_order_that_waits_allow_gives_the_same_result() -> None:
    for seed in (None, *range(20)):
        made = machine()
        simulate(VANILLA, VANILLA.encode_stream(STREAM), made, seed)
        assert (made.data["dram.outputs"][:256] == made.data["dram.inputs"][:256]).all()
    assert kinds(STREAM) == set()


def test_a_missing_wait_shows_in_some_order_and_is_linted() -> None:
    stream = [*STREAM[:4], replace(STORE, waits={}), END]
    assert kinds(stream) == {"missing dependency"}
    said: set[bool] = set()
    for seed in range(20):
        try:
            simulate(VANILLA, VANILLA.encode_stream(stream), machine(), seed)
        except CompileError as error:
            said.add("never written" in str(error))
    assert said == {True}


def test_write_after_read_needs_a_wait_too() -> None:
    again = replace(LOAD, source=256)
    stream = [*STREAM[:5], again, replace(END, waits={})]
    assert kinds(stream) == {"missing dependency"}
    assert kinds([*STREAM[:5], replace(again, waits={"mac": 1}), END]) == set()


@pytest.mark.parametrize(
    ("place", "changes", "kind", "message"),
    [
        (
            0,
            {"destination": 8},
            "alignment",
            "address 'destination' is 8, must be a multiple of 16",
        ),
        (0, {"destination": 262144}, "out of range", "of sram, which has 262144"),
        (0, {"source": 4096}, "out of range", "of dram.inputs, which has 4096"),
        (0, {"region": 3}, "out of range", "touches dram.activations, which does not exist"),
        (0, {"region": 9}, "out of range", "touches dram.9, which does not exist"),
        (3, {"destination": 1040}, "packet", "writes over what it reads of sram"),
        (3, {"rows": 0}, "packet", "touches nothing of sram, sizes must be at least 1"),
        (3, {"destination_row": 32}, "packet", "writes bytes of sram more than once"),
        (1, {"length": 384}, "use before load", "reads bytes of weights that were never written"),
        (2, {"begin": 0}, "use before load", "reads bytes of accumulator that were never"),
        (4, {"waits": {"vec": 2}}, "deadlock", "store has packet 4 (store), which waits for vec"),
    ],
)
def test_faults_are_found_without_running_and_when_running(
    place: int, changes: dict[str, object], kind: str, message: str
) -> None:
    stream = [replace(p, **changes) if n == place else p for n, p in enumerate(STREAM)]  # type: ignore[arg-type]
    assert kind in kinds(stream)
    assert message in fault(stream)


def test_an_accumulator_too_small_is_over_capacity() -> None:
    big = replace(CONV, out_rows=80, out_columns=64, destination_row=1024)
    assert "over capacity" in kinds([LOAD, WEIGHTS, big, COPY, STORE, END])


def test_what_follows_the_end_is_refused() -> None:
    assert fault(STREAM[:-1]) == "error: the stream has no end"
    assert "packet 0 ends the stream, 1 more follow" in fault([End(), End()])
    assert "end" in kinds([End(), End()])


def test_buffers_that_live_at_once_share_no_bytes() -> None:
    x, y = BufferRange("x", "sram", 0, 256, 0, 2), BufferRange("y", "sram", 128, 256, 2, 3)
    assert kinds(STREAM, [x, y]) == {"live overlap"}
    assert kinds(STREAM, [x, replace(y, start=256)]) == set()
    assert kinds(STREAM, [x, replace(y, first=3)]) == set()
    assert kinds(STREAM, [replace(x, bytes=1 << 20)]) == {"over capacity"}


def test_a_machine_beyond_its_bound_is_refused_before_it_is_allocated() -> None:
    code = VANILLA.encode_stream(STREAM)
    hostile = {**REGIONS, "outputs": 1 << 36}
    tracemalloc.start()
    for act in (
        lambda: SimulatorState(VANILLA.description, hostile),
        lambda: lint(VANILLA, code, hostile),
    ):
        with pytest.raises(CompileError, match=r"68719476736 of them in dram\.outputs, a simul"):
            act()
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()
    inside = sum(m.bytes for m in VANILLA.description.memories.values() if m.name != "dram")
    most = inside + sum(REGIONS.values())
    assert SimulatorState(VANILLA.description, REGIONS, most).size("dram.inputs") == 4096
    with pytest.raises(CompileError, match=f"the accelerator has {most} bytes"):
        SimulatorState(VANILLA.description, REGIONS, most - 1)


def test_sums_beyond_32_bits_are_a_fault() -> None:
    made = machine()
    made.data["dram.constants"][256 : 256 + 64].view(np.int32)[:] = 2**31 - 1
    with pytest.raises(CompileError, match=r"packet 2 \(conv\) at offset 0x50: .*beyond 32 bits"):
        simulate(VANILLA, VANILLA.encode_stream(STREAM), made)


def test_multipliers_of_more_bits_than_the_machine_has_are_a_fault() -> None:
    text = FILE.read_text().replace("multiplier_bits = 31", "multiplier_bits = 2")
    other = InstructionSet(parse_description(text), CLASSES)
    made = machine(other)
    simulate(other, other.encode_stream(STREAM), made)
    made = machine(other)
    made.data["dram.constants"][256 + 64 : 256 + 128].view(np.int32)[:] = 4
    with pytest.raises(CompileError, match=r"packet 2 \(conv\) .*multiplier of more than 2 bits"):
        simulate(other, other.encode_stream(STREAM), made)


def test_partial_sums_add_up() -> None:
    first = replace(CONV, channels=8, finish=0)
    second = replace(CONV, channels=8, source=0, begin=0, waits={})
    made = machine()
    stream = [LOAD, WEIGHTS, first, second, replace(COPY, waits={"mac": 2}), STORE, END]
    assert kinds(stream) == set()
    simulate(VANILLA, VANILLA.encode_stream(stream), made)
    x = made.data["dram.inputs"][:256].view(np.int8).reshape(16, 16).astype(int)
    want = np.clip(2 * np.pad(x[:, :8], ((0, 0), (0, 8))), -128, 127)
    assert (made.data["dram.outputs"][:256].view(np.int8).reshape(16, 16) == want).all()


def test_costs_follow_the_description() -> None:
    report = simulate(VANILLA, VANILLA.encode_stream(STREAM), machine())
    loads = (64 + 16) + (64 + 26)
    assert report.cycles == loads + (32 + 16) + (16 + 16) + (64 + 16)
    assert [run.start for run in report.runs][:3] == [0, 80, 170]
    assert report.busy("mac") == 48
    assert report.bytes_moved["dram.inputs read"] == 256
    lines = report.text().splitlines()
    assert lines[0] == f"{report.cycles} cycles"
    assert sum("|" in line for line in lines) == 4


def test_another_description_is_another_machine() -> None:
    text = FILE.read_text()
    for old, new in [
        ("sram = { bytes = 262144, alignment = 16", "sram = { bytes = 131072, alignment = 32"),
        ("atom = 16 ", "atom = 8 "),
        ("rows = 16  ", "rows = 8  "),
        ("columns = 16 ", "columns = 32 "),
        ("wait = 24", "wait = 20"),
        ('"channels", unit = 1, bit = 96, bits = 16', '"channels", unit = 1, bit = 96, bits = 14'),
    ]:
        assert old in text
        text = text.replace(old, new)
    other = InstructionSet(parse_description(text), CLASSES)
    code = other.encode_stream(STREAM)
    assert code != VANILLA.encode_stream(STREAM)
    made = machine(other)
    report = simulate(other, code, made, seed=3)
    assert (made.data["dram.outputs"][:256] == made.data["dram.inputs"][:256]).all()
    assert report.busy("mac") == 32 + 2 * 16
    assert made.size("sram") == 131072


@given(st.integers(0, 2**32))
@settings(max_examples=200)
def test_the_simulator_stays_within_its_memories_whatever_the_bytes(seed: int) -> None:
    drawn = random.Random(seed)
    code = bytearray(VANILLA.encode_stream(STREAM))
    for _ in range(drawn.randint(1, 4)):
        code[drawn.randrange(len(code))] = drawn.randrange(256)
    made = machine()
    try:
        found = lint(VANILLA, bytes(code), REGIONS)
        simulate(VANILLA, bytes(code), made, seed)
    except CompileError:
        return
    # What any order runs without a fault, the linter has nothing against but a missing wait.
    assert {finding.kind for finding in found} <= {"missing dependency", "use before load"}
    assert {name: data.size for name, data in made.data.items()} == {
        name: data.size for name, data in machine().data.items()
    }
