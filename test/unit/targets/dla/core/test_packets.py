"""Packets: bytes and text there and back, and values that do not fit."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trivium.dialects import dla
from trivium.dialects.core.errors import CompileError, Invalid
from trivium.targets.dla.core.disassembly import assemble, disassemble
from trivium.targets.dla.core.packet import Packet
from trivium.targets.dla.core.tile_packet import PacketFields
from trivium.targets.dla.vanilla.packets import CLASSES, End, instruction_set

VANILLA = instruction_set()


@st.composite
def packets(draw: st.DrawFn) -> Packet:
    cls = draw(st.sampled_from(CLASSES))
    form = VANILLA.description.packets[cls.name]
    limits = {limit.field: limit for limit in form.limits}
    values = {}
    for field in form.fields:
        if field.cases:
            values[field.name] = draw(st.sampled_from(field.cases))
            continue
        least, most = field.range[0], field.range[-1]
        if field.name in limits:
            least, most = limits[field.name].least, limits[field.name].most
        values[field.name] = draw(st.integers(least, most))
    waits = st.dictionaries(st.sampled_from(VANILLA.engines), st.integers(1, 2**24 - 1))
    return cls(waits=draw(waits), flags=draw(st.integers(0, 255)), **values)


@given(packets())
def test_decoding_gives_what_was_encoded(packet: Packet) -> None:
    data = VANILLA.encode(packet)
    assert len(data) % 16 == 0
    assert VANILLA.decode(data) == packet


@given(st.lists(packets(), min_size=1, max_size=4))
def test_assembling_gives_what_was_disassembled(stream: list[Packet]) -> None:
    code = VANILLA.encode_stream(stream)
    assert assemble(VANILLA, disassemble(VANILLA, code)) == code


@given(packets(), st.data())
def test_a_value_out_of_its_range_is_refused_by_name(packet: Packet, data: st.DataObject) -> None:
    fields = [f for f in VANILLA.form(packet).fields if not f.cases]
    if not fields:
        return
    field = data.draw(st.sampled_from(fields))
    wrong = data.draw(st.sampled_from([field.range[0] - 1, field.range[-1] + 1]))
    with pytest.raises(Invalid, match=f"'{field.name}' is {wrong}"):
        VANILLA.encode(replace(packet, **{field.name: wrong}))


@given(packets(), st.data())
def test_changed_bytes_are_another_packet_or_none(packet: Packet, data: st.DataObject) -> None:
    """What decodes encodes to the same bytes: no bit is without a meaning."""
    code = bytearray(VANILLA.encode(packet))
    for _ in range(data.draw(st.integers(1, 3))):
        code[data.draw(st.integers(0, len(code) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    try:
        decoded = VANILLA.decode(bytes(code))
    except Invalid:
        return
    assert code.startswith(VANILLA.encode(decoded))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_stream_or_are_refused_with_the_offset(code: bytes) -> None:
    said = ""
    stream = []
    try:
        stream = VANILLA.decode_stream(code)
    except CompileError as error:
        said = str(error)
    if said:
        assert "offset 0x" in said
        return
    assert VANILLA.encode_stream([placed.packet for placed in stream]) == code


def test_the_fields_of_a_packet_are_those_of_its_op() -> None:
    assert PacketFields.of(dla.Store).types == dict.fromkeys(
        ("region", "source", "destination", "source_row", "source_pixel", "destination_row",
         "destination_pixel", "rows", "columns", "channels"), int
    )  # fmt: skip
    assert PacketFields.of(dla.LoadWeights).types == dict.fromkeys(
        ("region", "source", "destination", "length"), int
    )
    assert PacketFields.of(dla.PoolTile).types["mode"] is str


def test_a_limit_says_its_sentence() -> None:
    text = disassemble(VANILLA, VANILLA.encode(End()))
    assert text == "end\n"
    conv = next(cls for cls in CLASSES if cls.name == "conv")
    values = dict.fromkeys(conv.own_fields(), 1) | {"mode": "dense", "kernel_rows": 17}
    with pytest.raises(Invalid, match="'kernel_rows' is 17: conv takes kernels of 1 to 16 rows"):
        VANILLA.encode(conv(**values))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("jump to=3", "line 1: error: no packet is called 'jump'"),
        ("end now=1", "packet end has no field 'now'"),
        ("end flags", "'flags' is no field=value"),
        ("end flags=1 flags=1", "'flags=1' is there twice"),
        ("end flags=one", "field 'flags' is 'one', must be a number"),
        ("end flags=256", "field 'flags' is 256, must be from 0 to 255"),
        ("end wait.dsp=1", "packet waits for 'dsp', which is no engine"),
        ("load_weights region=0", "packet load_weights lacks its field 'source'"),
    ],
)
def test_text_that_is_no_packet_is_refused(line: str, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        assemble(VANILLA, line)


def test_all_faults_of_a_text_are_listed() -> None:
    with pytest.raises(CompileError) as caught:
        assemble(VANILLA, "jump\nend ; fine\nhop\n")
    assert [d.where for d in caught.value.diagnostics] == ["line 1", "line 3"]
