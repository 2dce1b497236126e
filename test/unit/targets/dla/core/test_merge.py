"""Containers of several programs: constants are stored once, and faults refused in one line."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trivium.dialects.core.errors import CompileError
from trivium.targets.dla.core import container
from trivium.targets.dla.core.contents import Container, relocations
from trivium.targets.dla.core.linter import lint
from trivium.targets.dla.core.listing import listing, read_listing
from trivium.targets.dla.core.merge import merged
from trivium.targets.dla.vanilla.packets import End, LoadWeights
from trivium.test.unit.runtime.conftest import forged
from trivium.test.unit.targets.dla.core.test_container import sealed
from trivium.test.unit.targets.dla.streams import VANILLA, TwoConvs

LARGEST = 48


def program(pieces: list[bytes], **sizes: int) -> Container:
    """Return a program that loads each of its constants, in order, and the second half of each."""
    constants = bytearray()
    packets: list[LoadWeights] = []
    starts: list[int] = []
    for each in pieces:
        starts.append(len(constants))
        half = len(each) // 32 * 16
        for first in (0, half):
            packets.append(
                LoadWeights(
                    region=0,
                    source=len(constants) + first,
                    destination=len(packets) * LARGEST,
                    length=len(each) - first,
                )
            )
        constants += each + bytes(-len(each) % 16)
    code = VANILLA.encode_stream([*packets, End(waits={"load": len(packets)})])
    regions = {"constants": len(constants)} if constants else {}
    moved = relocations(VANILLA, code)
    return Container(
        regions, bytes(constants), code, moved, starts=tuple(starts), sizes=dict(sizes)
    )


def loaded_bytes(made: Container) -> list[bytes]:
    """Return the constants that the packets of a program load."""
    packets = [placed.packet for placed in VANILLA.decode_stream(made.code)]
    loads = [each for each in packets if isinstance(each, LoadWeights)]
    return [made.constants[each.source : each.source + each.length] for each in loads]


def several() -> tuple[Container, ...]:
    a, b, c = (bytes([letter]) * 32 for letter in b"abc")
    return merged(VANILLA, [program([a, b], N=1, T=4), program([c, b], N=2, T=3)])


PIECES = st.lists(
    st.sampled_from([bytes([n]) * size for n, size in enumerate((16, 32, 48, 16, 16))]), max_size=4
)


@given(st.lists(PIECES, min_size=1, max_size=4))
def test_packets_load_the_same_and_equal_constants_are_there_once(listed: list[list[bytes]]):
    alone = [program(pieces, N=n) for n, pieces in enumerate(listed)]
    made = merged(VANILLA, alone)
    distinct = {piece for pieces in listed for piece in pieces}
    assert len(made[0].constants) == sum(map(len, distinct))
    for each, before in zip(made, alone, strict=True):
        assert loaded_bytes(each) == loaded_bytes(before)
        assert not lint(VANILLA, each.code, each.regions)
    data = container.save(VANILLA.description, *made)
    assert container.load_all(VANILLA, data) == made
    for each in made:
        assert container.load(VANILLA, data, sizes=each.sizes) == each
    text = listing(VANILLA, *made)
    assert container.save(VANILLA.description, *read_listing(VANILLA, text)) == data


def test_a_program_alone_stays_as_it_is():
    made = TwoConvs().container()
    (same,) = merged(VANILLA, [made])
    assert replace(same, starts=()) == made


def test_the_text_has_a_line_for_each_program():
    lines = listing(VANILLA, *several()).splitlines()
    assert [line for line in lines if line.startswith((".constant", ".data", ".program"))] == [
        ".constant",
        f".data {'61' * 32}",
        ".constant",
        f".data {'62' * 32}",
        ".constant",
        f".data {'63' * 32}",
        ".program N=1 T=4",
        ".program N=2 T=3",
    ]


def test_a_packet_that_reads_two_constants_is_refused():
    load = LoadWeights(region=0, source=0, destination=0, length=48)
    code = VANILLA.encode_stream([load, End()])
    moved = relocations(VANILLA, code)
    made = Container({"constants": 48}, bytes(48), code, moved, starts=(0, 16))
    with pytest.raises(CompileError, match="'load_weights' reads 2 constants, must read one"):
        merged(VANILLA, [made])


def test_the_error_names_the_sizes_that_there_are():
    data = container.save(VANILLA.description, *several())
    for sizes, said in (
        ({"N": 1, "T": 3}, "no program for N=1, T=3, it has: N=1, T=4; N=2, T=3"),
        ({}, "has no program for no sizes, it has: N=1, T=4; N=2, T=3"),
    ):
        with pytest.raises(CompileError, match=said):
            container.load(VANILLA, data, sizes=sizes)
    with pytest.raises(CompileError, match="has one program for all runs, none for N=1"):
        container.load(VANILLA, TwoConvs().file(), sizes={"N": 1})


def test_programs_that_cannot_be_together_are_not_saved():
    first, second = several()
    for programs, said in (
        ((), "there is no program, must be one"),
        ((first, first), r"'programs\[1\]' is for N=1, T=4 again"),
        ((first, replace(second, sizes={"N": 2})), "is for N, must be for sizes of N, T"),
        ((first, replace(second, sizes={})), "is for no sizes, must be for sizes of N, T"),
        ((replace(first, sizes={}), second), "is for N, T, must be for sizes of symbols, as each"),
        ((first, replace(second, constants=bytes(96))), "has other constants than 'programs"),
    ):
        with pytest.raises(CompileError, match=said):
            container.save(VANILLA.description, *programs)


def with_manifest(change: Callable[[dict[str, Any]], object]) -> bytes:
    """Return the file of several programs with another manifest, and all sums as they must be."""
    data = container.save(VANILLA.description, *several())
    old = int.from_bytes(data[24:28], "little")
    table = json.loads(data[64 : 64 + old])
    change(table)
    text = json.dumps(table, sort_keys=True).encode()
    head = data[:24] + len(text).to_bytes(4, "little") + data[28:64]
    rest = data[64 + old + -old % 16 :]
    return sealed(bytearray(head + text + bytes(-len(text) % 16) + rest))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.update(programs=[]), "'programs' have 0 bytes of code, must have all"),
        (lambda t: t["programs"].pop(), "bytes of code, must have all"),
        (lambda t: t["programs"][1].update(code=1), "bytes of code, must have all"),
        (lambda t: t["programs"][0].update(code=-16), "'programs[0]' has -16 bytes of code"),
        (lambda t: t["programs"][1].update(code=1 << 40), "'programs[1]' has 1099511627776 bytes"),
        (lambda t: t["programs"][1].update(sizes={"N": 1, "T": 4}), "is for N=1, T=4 again"),
        (lambda t: t["programs"][1].update(sizes={"N": 1}), "is for N, must be for sizes of N, T"),
        (lambda t: t["programs"][1].update(sizes=[]), "'sizes' must be a table"),
        (lambda t: t["programs"][0].update(sizes={"N": -1}), "has size N=-1, must be 0 or more"),
        (lambda t: t["programs"][0].update(sizes={"a b\n": 1}), "has a size of 'a b\\n', must be"),
        (lambda t: t["programs"][0].update(sizes={"N": "1"}), "'N' is '1', must be a number"),
        (lambda t: t.update(starts=[16, 32]), "'starts' must go from 0 upwards to below 96"),
        (lambda t: t.update(starts=[0, 96]), "'starts' must go from 0 upwards to below 96"),
        (lambda t: t.update(starts=[0, 32, 32]), "'starts' must go from 0 upwards to below 96"),
        (lambda t: t.update(starts=3), "'starts' must be a list"),
        (lambda t: t["programs"][1]["regions"].update(constants=3), "96 bytes of constants, their"),
        (lambda t: t["programs"][1].pop("sizes"), "'programs[1]' has no 'sizes'"),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(
    change: Callable[[dict[str, Any]], object], message: str
):
    with pytest.raises(CompileError) as caught:
        container.load_all(VANILLA, with_manifest(change), "a.tdla")
    said = str(caught.value)
    assert message in said
    assert said.startswith("a.tdla, offset 0x")
    assert said.isprintable()


@given(st.integers(0, 1 << 30))
def test_whatever_a_manifest_says_it_is_loaded_or_refused(seed: int):
    try:
        data = with_manifest(lambda table: forged(table, seed))
    except ValueError:  # a document that has no text
        return
    try:
        made = container.load_all(VANILLA, data)
    except CompileError as error:
        assert str(error).startswith("container, offset 0x")  # noqa: PT017
        return
    assert container.save(VANILLA.description, *made) == data


@given(st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)), min_size=1, max_size=3))
def test_whatever_the_bytes_are_they_are_loaded_or_refused(edits: list[tuple[int, int]]):
    data = bytearray(container.save(VANILLA.description, *several()))
    for place, value in edits:
        data[place % len(data)] = value
    try:
        made = container.load_all(VANILLA, sealed(data))
    except CompileError as error:
        assert str(error).startswith("container, offset 0x")  # noqa: PT017
        return
    assert container.save(VANILLA.description, *made) == bytes(data)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (".program N=1 T=4", ".program N", "'.program' must be followed by sizes, as in N=1 T=16"),
        (".program N=1 T=4", ".program N=1 N=1", "'.program' has a name twice"),
        (".program N=2 T=3", ".program N=1 T=4", "'programs[1]' is for N=1, T=4 again"),
        (".program N=2 T=3", ".program N=2", "'programs[1]' is for N, must be for sizes of N, T"),
        (".program N=1", ".program N=-1", "'programs[0]' has size N=-1, must be 0 or more"),
        (".constant\n", ".constant\n.constant\n", "'starts' must go from 0 upwards"),
    ],
)
def test_a_fault_of_the_text_is_refused(old: str, new: str, message: str):
    text = listing(VANILLA, *several())
    assert old in text
    with pytest.raises(CompileError) as caught:
        read_listing(VANILLA, text.replace(old, new, 1), "a.txt")
    assert any(message in d.message for d in caught.value.diagnostics)
