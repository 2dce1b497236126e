"""Containers: what is saved is loaded, and nothing else is; ports say where data goes."""

import json
import random
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trivium.dialects.core.errors import CompileError, Invalid
from trivium.targets.dla.core import container
from trivium.targets.dla.core.contents import Container, relocate
from trivium.targets.dla.core.ports import Port
from trivium.test.unit.runtime.conftest import forged
from trivium.test.unit.targets.dla.streams import VANILLA, TwoConvs

REGIONS = {"constants": 4096, "inputs": 4096, "outputs": 4096, "activations": 4096}
CONVS = TwoConvs()


def refusal(data: bytes) -> str:
    with pytest.raises(CompileError) as caught:
        container.load(VANILLA, data)
    return str(caught.value)


def assert_loaded_or_refused(data: bytes) -> None:
    said = "container, offset 0x"
    try:
        loaded = container.load(VANILLA, data)
        assert container.load(VANILLA, container.save(VANILLA.description, loaded)) == loaded
    except CompileError as error:
        said = str(error)
    assert said.startswith("container, offset 0x")


def sealed(data: bytearray) -> bytes:
    """Return a file with the checksum that it must have."""
    data[36:40] = bytes(4)
    data[36:40] = zlib.crc32(data).to_bytes(4, "little")
    return bytes(data)


def with_manifest(change: Callable[[dict[str, Any]], object]) -> bytes:
    """Return the file of a container with another manifest, and all sizes and sums as they must."""
    data = CONVS.file()
    old = int.from_bytes(data[24:28], "little")
    table = json.loads(data[64 : 64 + old])
    change(table["programs"][0])
    text = json.dumps(table).encode()
    rest = data[64 + old + -old % 16 :]
    head = data[:24] + len(text).to_bytes(4, "little") + data[28:64]
    return sealed(bytearray(head + text + bytes(-len(text) % 16) + rest))


def test_a_container_comes_back() -> None:
    made = CONVS.container()
    loaded = container.load(VANILLA, CONVS.file())
    assert loaded == made
    assert container.save(VANILLA.description, loaded) == CONVS.file()
    assert [(r.offset, r.field, r.region) for r in loaded.relocations] == [
        (0, "source", "inputs"), (48, "source", "constants"), (208, "destination", "outputs"),
    ]  # fmt: skip


def test_relocating_adds_the_bases_of_regions() -> None:
    loaded = container.load(VANILLA, CONVS.file())
    bases = {"inputs": 0x1000, "constants": 0, "outputs": 64}
    moved = [p.packet for p in VANILLA.decode_stream(relocate(VANILLA, loaded, bases))]
    load, *inner, store, end = (p.packet for p in VANILLA.decode_stream(loaded.code))
    assert moved == [replace(load, source=0x1000), *inner, replace(store, destination=64), end]


@pytest.mark.parametrize(
    ("offset", "value", "message"),
    [
        (0, b"ELF", "offset 0x0: error: starts with"),
        (4, b"\x04", "offset 0x4: error: version 4 of the format, this reads 3"),
        (6, b"\x07", "offset 0x6: error: ABI 7, vanilla has 1"),
        (8, b"\0\0\0\0", "offset 0x8: error: made for another description"),
        (24, b"\xff\xff\xff\x7f", "offset 0x18: error: a section of 2147483647 bytes"),
        (40, b"W", "offset 0x28: error: for 'Wanilla', not for vanilla"),
        (200, b"\xff\xff", "offset 0x24: error: the checksum does not match"),
    ],
)
def test_a_foreign_container_is_refused_with_the_offset(
    offset: int, value: bytes, message: str
) -> None:
    data = bytearray(CONVS.file())
    data[offset : offset + len(value)] = value
    assert message in refusal(bytes(data))


def test_code_that_is_none_is_refused_with_both_offsets() -> None:
    data = bytearray(CONVS.file())
    start = len(data) - len(CONVS.container().code)
    data[start + 48] = 77
    assert f"offset {start:#x}: error: the code that starts here: offset 0x30: no packet" in (
        refusal(sealed(data))
    )


def test_a_region_that_packets_use_must_have_a_size() -> None:
    """Else the text of the container, which says sizes, would lack one."""
    made = CONVS.container()
    regions = {name: size for name, size in made.regions.items() if name != "outputs"}
    data = container.save(VANILLA.description, replace(made, regions=regions, outputs=()))
    start = len(data) - len(made.code)
    assert f"offset {start + 208:#x}: error: region 'outputs' is used, it has no size" in (
        refusal(data)
    )


def test_a_refusal_is_one_line_whatever_a_file_says() -> None:
    def change(table: dict[str, Any]) -> None:
        table["outputs"][0]["region"] = "out\n\x1b[31m\u202e"

    said = refusal(with_manifest(change))
    assert "is in region 'out\\n\\x1b[31m\\u202e', must be in one for inputs and outputs" in said
    assert said.isprintable()


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_no_changed_byte_is_overlooked(place: int, change: int) -> None:
    data = bytearray(CONVS.file())
    data[place % len(data)] ^= change
    with pytest.raises(CompileError):
        container.load(VANILLA, bytes(data))


@given(st.integers(0, 10_000))
def test_a_cut_container_is_refused(length: int) -> None:
    data = CONVS.file()
    with pytest.raises(CompileError):
        container.load(VANILLA, data[: length % len(data)])


@given(st.integers(0, 1 << 30))
def test_whatever_a_manifest_says_it_is_loaded_or_refused(seed: int) -> None:
    """The checksum is right here, so all depends on the checks."""
    try:
        data = with_manifest(lambda table: forged(table, seed))
    except ValueError:  # a document that has no text
        return
    assert_loaded_or_refused(data)


@given(st.integers(0, 1 << 30))
def test_whatever_the_bytes_are_they_are_loaded_or_refused(seed: int) -> None:
    chance = random.Random(seed)
    data = bytearray(CONVS.file())
    for _ in range(chance.randint(1, 4)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    if data != CONVS.file():
        refusal(bytes(data))
    data[:64] = CONVS.file()[:64]
    assert_loaded_or_refused(sealed(data))


@st.composite
def port_tables(draw: st.DrawFn) -> tuple[Port, ...]:
    """Draw ports one behind the other."""
    made: list[Port] = []
    at = 0
    for _ in range(draw(st.integers(0, 3))):
        at += 16 * draw(st.integers(0, 2))
        shape = tuple(draw(st.lists(st.integers(1, 3), min_size=3, max_size=3)))
        channels = draw(st.integers(1, 40))
        padded = -(-channels // 16) * 16 + 16 * draw(st.integers(0, 1))
        region = draw(st.sampled_from(["inputs", "outputs", "activations"]))
        fill = draw(st.integers(-128, 127))
        port = Port(draw(st.text(max_size=3)), region, at, (*shape, channels), padded, fill)
        at = port.extent.end
        made.append(port)
    return tuple(made)


def with_ports(inputs: tuple[Port, ...], outputs: tuple[Port, ...]) -> Container:
    return replace(CONVS.container(), regions=REGIONS, inputs=inputs, outputs=outputs)


@given(port_tables(), port_tables())
def test_ports_come_back_when_there_is_room_for_them(
    inputs: tuple[Port, ...], outputs: tuple[Port, ...]
) -> None:
    made = with_ports(inputs, outputs)
    if any(port.extent.end > 4096 for port in (*inputs, *outputs)):
        with pytest.raises(CompileError, match="which has 4096"):
            container.save(VANILLA.description, made)
        return
    assert container.load(VANILLA, container.save(VANILLA.description, made)) == made


@given(port_tables(), st.integers(0, 1 << 30))
def test_packing_and_unpacking_gives_the_same_and_pads_with_the_fill(
    ports: tuple[Port, ...], seed: int
) -> None:
    for port in ports:
        x = np.random.RandomState(seed).randint(-128, 128, port.shape).astype(np.int8)
        packed = port.pack(x)
        assert packed.size == port.extent.bytes
        assert (port.unpack(packed) == x).all()
        assert (packed.reshape(*port.shape[:3], -1)[..., port.shape[3] :] == port.fill).all()


PORT = Port("x", "inputs", 0, (1, 6, 6, 3), 16, -4)
OTHER = Port("z", "outputs", 0, (1, 6, 6, 4), 16)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"region": "constants"}, "is in region 'constants', must be in one for inputs"),
        ({"region": "moon"}, "is in region 'moon', must be in one for inputs"),
        ({"shape": (6, 6, 3)}, "is of shape [6, 6, 3], must be [N, H, W, C] with sizes from 1 on"),
        ({"shape": (1, 0, 6, 3)}, "is of shape [1, 0, 6, 3], must be [N, H, W, C]"),
        ({"shape": (1, -6, -6, 3)}, "is of shape [1, -6, -6, 3], must be [N, H, W, C]"),
        ({"shape": (1, 6, 6, 17)}, "has 17 channels padded to 16, must be padded to a multiple"),
        ({"channels": 24}, "has 3 channels padded to 24, must be padded to a multiple of 16"),
        ({"fill": 128}, "is padded with 128, must be with a number from -128 to 127"),
        ({"offset": -16}, "starts at byte -16, must be a multiple of 16"),
        ({"offset": 8}, "starts at byte 8, must be a multiple of 16"),
        ({"offset": 16}, "ends at byte 592 of region 'inputs', which has 576"),
        (
            {"shape": (1 << 40, 6, 6, 3)},
            f"ends at byte {(36 * 16) << 40} of region 'inputs', which has 576",
        ),
    ],
)
def test_a_port_that_is_none_of_the_machine_is_refused(
    changes: dict[str, Any], message: str
) -> None:
    port = replace(PORT, **changes)
    made = replace(CONVS.container(), inputs=(port,))
    with pytest.raises(CompileError) as caught:
        container.save(VANILLA.description, made)
    assert f"'inputs[0]' {message}" in str(caught.value)
    entry = {**vars(port), "shape": list(port.shape)}
    data = with_manifest(lambda table: table.update(inputs=[entry]))
    assert (
        f"offset 0x40: error: in the manifest, in 'programs[0]', 'inputs[0]' {message}"
        in refusal(data)
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.pop("regions"), "'programs[0]' has no 'regions'"),
        (lambda table: table.update(regions=[]), "'regions' must be a table"),
        (
            lambda table: table.update(relocations=[[0, "src"]]),
            "'relocations' has 2 values in one of them, must have 3",
        ),
    ],
)
def test_a_manifest_of_another_form_is_refused(
    change: Callable[[dict[str, Any]], Any], message: str
) -> None:
    data = with_manifest(change)
    assert f"offset 0x40: error: in the manifest, {message}" in refusal(data)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("name", 3, "'inputs[0].name' is 3, must be a text"),
        ("name", "\ud800", "'inputs[0].name' is '\\ud800', which is no text of Unicode"),
        ("offset", True, "'inputs[0].offset' is True, must be a number"),
        ("offset", 0.0, "'inputs[0].offset' is 0.0, must be a number"),
        ("fill", "0", "'inputs[0].fill' is '0', must be a number"),
        ("shape", "1663", "'inputs[0].shape' must be a list"),
        ("color", 1, "'inputs[0]' must have these entries: name, region, offset, shape, channels"),
    ],
)
def test_entries_of_other_types_are_refused(key: str, value: object, message: str) -> None:
    data = with_manifest(lambda table: table["inputs"][0].update({key: value}))
    assert message in refusal(data)


def test_ports_share_no_bytes_but_an_output_may_lie_where_an_input_was() -> None:
    behind = replace(OTHER, name="y", offset=576)
    made = with_ports((PORT,), (behind, OTHER))
    assert container.load(VANILLA, container.save(VANILLA.description, made)) == made
    over = replace(behind, offset=560)
    with pytest.raises(CompileError, match="'z' and 'y' of 'outputs' share bytes"):
        container.save(VANILLA.description, with_ports((PORT,), (over, OTHER)))
    in_place = with_ports((replace(PORT, region="outputs"),), (OTHER,))
    assert container.load(VANILLA, container.save(VANILLA.description, in_place)) == in_place


def test_an_array_of_another_shape_or_type_is_not_packed() -> None:
    with pytest.raises(Invalid, match=r"'x' is int8\[1, 6, 6, 4\], must be int8\[1, 6, 6, 3\]"):
        PORT.pack(np.zeros((1, 6, 6, 4), np.int8))
    with pytest.raises(Invalid, match=r"'x' is uint8"):
        PORT.pack(np.zeros((1, 6, 6, 3), np.uint8))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda m: m.replace(b'"nodes": [', b'"nodes":  ['),
            "0x18: error: differs from the encoding",
        ),
        (
            lambda m: m[:-1] + b', "more": 1}',
            "0x18: error: differs from the encoding of its contents",
        ),
        (lambda m: m.replace(b'"nodes": [', b'"nodes": ["more", '), "nodes are listed for"),
    ],
)
def test_there_is_one_file_for_a_container(change: Callable[[bytes], bytes], message: str) -> None:
    data = CONVS.file()
    size = int.from_bytes(data[24:28], "little")
    manifest, rest = data[64 : 64 + size], data[64 + size + -size % 16 :]
    changed = change(manifest)
    assert changed != manifest
    whole = bytearray(data[:64] + changed + bytes(-len(changed) % 16) + rest)
    whole[24:28] = len(changed).to_bytes(4, "little")
    assert message in refusal(sealed(whole))
