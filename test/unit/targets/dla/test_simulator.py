"""Streams: order, bounds, poison, deadlock, costs, the linter's classes of faults, containers."""

import random
import tracemalloc
import zlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trivium.dialects.core.errors import CompileError
from trivium.targets.dla.core import container
from trivium.targets.dla.core.linter import Buffer, lint
from trivium.targets.dla.core.machine import Machine
from trivium.targets.dla.core.packet import InstructionSet, Packet
from trivium.targets.dla.core.simulator import simulate
from trivium.targets.dla.core.toml_file import parse_description
from trivium.targets.dla.vanilla.packets import CLASSES, FILE, Conv, Copy, instruction_set
from trivium.targets.dla.vanilla.transfers import End, Load, LoadWeights, Store

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


def machine(instructions: InstructionSet = VANILLA) -> Machine:
    made = Machine(instructions.description, REGIONS)
    values = np.random.RandomState(1)
    table = np.zeros(416, np.uint8)
    table[:256] = np.eye(16, dtype=np.uint8).reshape(-1)
    table[256 + 64 : 256 + 128].view(np.int32)[:] = 1
    made.fill("dram.constants", table.tobytes())
    made.fill("dram.inputs", values.randint(0, 256, 4096).astype(np.uint8).tobytes())
    return made


def kinds(stream: list[Packet], buffers: list[Buffer] | None = None) -> set[str]:
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
        (0, {"region": 3}, "out of range", "touches dram.activations, which there is not"),
        (0, {"region": 9}, "out of range", "touches dram.9, which there is not"),
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
    x, y = Buffer("x", "sram", 0, 256, 0, 2), Buffer("y", "sram", 128, 256, 2, 3)
    assert kinds(STREAM, [x, y]) == {"live overlap"}
    assert kinds(STREAM, [x, replace(y, start=256)]) == set()
    assert kinds(STREAM, [x, replace(y, first=3)]) == set()
    assert kinds(STREAM, [replace(x, bytes=1 << 20)]) == {"over capacity"}


def test_a_machine_beyond_its_bound_is_refused_before_it_is_allocated() -> None:
    code = VANILLA.encode_stream(STREAM)
    hostile = {**REGIONS, "outputs": 1 << 36}
    moved = container.relocations(VANILLA, code)
    made = container.Container(hostile, b"", code, moved)
    loaded = container.load(VANILLA, container.save(VANILLA.description, made))
    tracemalloc.start()
    for act in (
        lambda: Machine(VANILLA.description, hostile),
        lambda: lint(VANILLA, code, hostile),
    ):
        with pytest.raises(
            CompileError, match=r"68719476736 of them in dram\.outputs, and a simul"
        ):
            act()
    assert loaded.regions["outputs"] == 1 << 36
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()
    inside = sum(m.bytes for m in VANILLA.description.memories.values() if m.name != "dram")
    most = inside + sum(REGIONS.values())
    assert Machine(VANILLA.description, REGIONS, most).size("dram.inputs") == 4096
    with pytest.raises(CompileError, match=f"the machine has {most} bytes"):
        Machine(VANILLA.description, REGIONS, most - 1)


def test_sums_beyond_32_bits_are_a_fault() -> None:
    made = machine()
    made.data["dram.constants"][256 : 256 + 64].view(np.int32)[:] = 2**31 - 1
    with pytest.raises(CompileError, match=r"packet 2 \(conv\) at offset 0x50: .*beyond 32 bits"):
        simulate(VANILLA, VANILLA.encode_stream(STREAM), made)


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


def packed() -> bytes:
    code = VANILLA.encode_stream(STREAM)
    moved = container.relocations(VANILLA, code)
    made = container.Container(REGIONS, b"abc", code, moved, ("", "", "Conv_1", "", "", ""))
    return container.save(VANILLA.description, made)


def test_a_container_comes_back() -> None:
    loaded = container.load(VANILLA, packed())
    assert container.save(VANILLA.description, loaded) == packed()
    assert loaded.nodes[2] == "Conv_1"
    assert [(r.offset, r.region) for r in loaded.relocations] == [
        (0, "inputs"), (48, "constants"), (192, "outputs"),
    ]  # fmt: skip
    moved = container.relocate(VANILLA, loaded, {"inputs": 0x1000, "constants": 0, "outputs": 64})
    packets = [placed.packet for placed in VANILLA.decode_stream(moved)]
    assert packets == [
        replace(LOAD, source=0x1000),
        *STREAM[1:4],
        replace(STORE, destination=64),
        END,
    ]


@pytest.mark.parametrize(
    ("offset", "value", "message"),
    [
        (0, b"ELF", "offset 0x0: error: starts with"),
        (4, b"\x02", "offset 0x4: error: version 2 of the format, this reads 1"),
        (6, b"\x07", "offset 0x6: error: ABI 7, vanilla has 1"),
        (8, b"\0\0\0\0", "offset 0x8: error: made for another description"),
        (24, b"\xff\xff\xff\x7f", "offset 0x18: error: a section of 2147483647 bytes"),
        (200, b"\xff\xff", "offset 0x24: error: the checksum does not match"),
    ],
)
def test_a_foreign_container_is_refused_with_the_offset(
    offset: int, value: bytes, message: str
) -> None:
    data = bytearray(packed())
    data[offset : offset + len(value)] = value
    with pytest.raises(CompileError, match=message):
        container.load(VANILLA, bytes(data))


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_no_changed_byte_is_overlooked(place: int, change: int) -> None:
    data = bytearray(packed())
    data[place % len(data)] ^= change
    with pytest.raises(CompileError):
        container.load(VANILLA, bytes(data))


@given(st.integers(0, 10_000))
def test_a_cut_container_is_refused(length: int) -> None:
    data = packed()
    with pytest.raises(CompileError):
        container.load(VANILLA, data[: length % len(data)])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.replace(b'["", "", ', b'["", '), "5 nodes are listed for 6 packets"),
        (lambda m: m.replace(b'"nodes": [', b'"nodes":  ['), "0x18: error: is not what is written"),
        (lambda m: m.replace(b": 4096,", b': "4096",'), "0x18: error: is not what is written"),
        (lambda m: m[:-1] + b', "more": 1}', "is not what is written for what it holds"),
    ],
)
def test_there_is_one_file_for_a_container(change, message: str) -> None:
    data = packed()
    size = int.from_bytes(data[24:28], "little")
    manifest, rest = data[64 : 64 + size], data[64 + size + -size % 16 :]
    changed = change(manifest)
    assert changed != manifest
    whole = bytearray(data[:64] + changed + bytes(-len(changed) % 16) + rest)
    whole[24:28] = len(changed).to_bytes(4, "little")
    with pytest.raises(CompileError, match=message):
        container.load(VANILLA, checked(whole))


def test_a_name_that_is_not_the_targets_is_refused() -> None:
    data = bytearray(packed())
    data[40:47] = b"vanille"
    with pytest.raises(CompileError, match="offset 0x2e: error: is not what is written"):
        container.load(VANILLA, checked(data))


def checked(data: bytearray) -> bytes:
    data[36:40] = bytes(4)
    data[36:40] = zlib.crc32(data).to_bytes(4, "little")
    return bytes(data)
