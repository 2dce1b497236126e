"""Tables of a loadable: read as an independent reader does, written, refused when damaged."""

import struct
from contextlib import suppress
from dataclasses import astuple, replace

import numpy as np
import pytest
from trivium.dialects.core.errors import CompileError
from trivium.targets.dla.nvdla.configuration import published
from trivium.targets.dla.nvdla.format.flatbuffer import schema
from trivium.targets.dla.nvdla.format.listing import listing
from trivium.targets.dla.nvdla.format.loadable import (
    EventEntry,
    Loadable,
    Relocation,
    Task,
    Tensor,
    Version,
)
from trivium.targets.dla.nvdla.simulator import run
from trivium.test.unit.targets.dla.nvdla import independent_reader
from trivium.test.unit.targets.dla.nvdla.recorded import vector, vectors

VECTORS = vectors()
SMALL = vector("nv_full", "15_pool").loadable
FULL = published()["nv_full"]


def test_there_are_all_vectors() -> None:
    assert len(VECTORS) == 57


@pytest.mark.parametrize("each", VECTORS, ids=str)
def test_tables_are_those_of_an_independent_reader(each) -> None:
    found = Loadable.read(each.loadable)
    assert astuple(found) == independent_reader.read(each.loadable)
    written = found.write()
    assert independent_reader.read(written) == independent_reader.read(each.loadable)
    assert Loadable.read(written).write() == written


def test_every_field_of_every_table_is_written() -> None:
    numbers = iter(range(1, 60))
    tensor = Tensor("t", *(next(numbers) for _ in range(21)))
    made = Loadable(
        Version(0, 7, 3),
        (Task(1, 2, -1, (3, 4), (5,), (6,)),),
        event_list=(EventEntry(65535, 255, 3, 2**32 - 1, 1),),
        tensor_desc_list=(replace(tensor, n=-7),),
        reloc_list=(Relocation(1, 2, 2**64 - 1, 4, 5, 6),),
    )
    assert independent_reader.read(made.write()) == astuple(made)


def test_a_number_that_its_field_cannot_represent_is_refused() -> None:
    with pytest.raises(CompileError, match="'id' is 65536, must be a number of type ushort"):
        Loadable(Version(0, 7, 0), (Task(65536),)).write()


def test_the_schema_has_the_slots_in_order() -> None:
    text = schema(Loadable)
    assert "struct Version {\n  major: ubyte;\n  minor: ubyte;\n  sub_minor: ubyte;\n}" in text
    assert "  contents: [string];\n  offsets: [ulong];\n  bind_id: ushort;" in text
    assert text.endswith("  submit_list: [Submit];\n}\n\nroot_type Loadable;\n")


@pytest.mark.parametrize("length", range(0, len(SMALL) - 1, 37))
def test_a_truncated_file_is_refused_with_the_offset(length: int) -> None:
    with pytest.raises(CompileError, match=r"a\.nvdla, offset 0x[0-9a-f]+: error: ") as raised:
        Loadable.read(SMALL[:length], "a.nvdla")
    assert "\n" not in str(raised.value)


def test_another_version_is_refused() -> None:
    other = replace(Loadable.read(SMALL), version=Version(0, 8, 1)).write()
    with pytest.raises(CompileError, match=r"has version 0\.8\.1 of the format, must be 0\.7\.0"):
        Loadable.read(other)


def test_objects_that_share_bytes_are_not_expanded_without_limit() -> None:
    tasks = (Task(address_list=(7,) * 1000), *(Task(id=i) for i in range(1, 1000)))
    data = bytearray(Loadable(Version(0, 7, 0), tasks).write())

    def number(code: str, place: int) -> int:
        return int(struct.unpack_from("<" + code, data, place)[0])

    root = number("I", 0)
    field = root + number("H", root - number("i", root) + 6)
    references = field + number("I", field) + 4
    first = references + number("I", references)
    for place in range(references, references + 4000, 4):
        struct.pack_into("<I", data, place, first - place)
    assert len(data) < 40_000
    with pytest.raises(CompileError, match="objects share bytes"):
        Loadable.read(bytes(data))


@pytest.mark.parametrize("name", ["15_pool", "00_conv"])
def test_a_damaged_file_is_refused_or_read(name: str) -> None:
    data, inputs = vector("nv_full", name).loadable, vector("nv_full", name).inputs
    rng = np.random.default_rng(7)
    read = 0
    for _ in range(400):
        damaged = bytearray(data)
        for place in rng.integers(0, len(data), rng.integers(1, 4)):
            damaged[place] = rng.choice([0, 1, 127, 128, 255, int(rng.integers(256))])
        with suppress(CompileError):
            found = Loadable.read(bytes(damaged))
            read += 1
            listing(found)
            run(found, FULL, inputs)
    assert 50 < read < 400
