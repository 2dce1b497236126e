"""Descriptions: each fault has its line, all are listed, and other numbers work."""

import pytest
from trivium.dialects.core.errors import CompileError
from trivium.targets.dla.core.packet import InstructionSet
from trivium.targets.dla.core.toml_file import parse_description
from trivium.targets.dla.vanilla.packets import CLASSES, FILE

TEXT = FILE.read_text()

FAULTS = [
    ('name = "vanilla"', "", "the description lacks 'name'"),
    ("abi = 1 ", 'abi = "1" ', "'abi' must be a number"),
    ("atom = 16", "atoms = 16", "the description has an unknown entry 'atoms'"),
    ("atom = 16", "atom = 12", "'atom' is 12, must be a power of two"),
    ("multiplier_bits = 31", "multiplier_bits = 40", "'multiplier_bits' is 40, must be from 2"),
    ('"half_away"', '"up"', "rounding is 'up', must be one of: half_away"),
    ("wait = 24", "wait = 30", "the header takes 152 bits, a unit has 128"),
    ("sram = { bytes = 262144", "sram = { bytes = 262145", "must be a multiple of its alignment"),
    ("sram = { bytes = 262144, alignment = 16", "sram = { bytes = 262144, alignment = 24", "24"),
    ("sram = { bytes = 262144", "sram = { bytes = 67108864", "addresses of 24 bits reach"),
    ("sram = { bytes = 262144", "sram = { bytes = 0", "sram has 0 bytes"),
    ('memories = ["dram", "sram"]', 'memories = ["dram", "lram"]', "names the memory 'lram'"),
    ('kind = "mac"', 'kind = "npu"', "kind of mac is 'npu', must be one of: dma, mac, vec"),
    ("lanes = 16", "", "'engines.vec' lacks 'lanes'"),
    ("lanes = 16", "lanes = 0", "'lanes' is 0, must be from 1"),
    ("opcode = 5", "opcode = 4", "packets conv and pool both have opcode 4"),
    ("opcode = 255", "opcode = 256", "'opcode' is 256, must be from 0 to 255"),
    ('opcode = 4\nengine = "mac"', 'opcode = 4\nengine = "map"', "names the engine 'map'"),
    ('"source_row", unit = 1, bit = 40', '"source_row", unit = 1, bit = 39', "overlap"),
    ('"length", unit = 1, bit = 64', '"length", unit = 1, bit = 120', "crosses the end of unit 1"),
    ('"length", unit = 1', '"length", unit = 0', "starts at bit 64 of unit 0"),
    ('"length", unit = 1', '"length", unit = 16', "has 17 units, 'length' has no such value"),
    ("enum:dense,depthwise", "enum:dense,dense", "cases of field 'mode' must be names"),
    ("enum:add,mul,max,min", "enum:add,mul,max,min,sub", "5 cases of field 'operator'"),
    (
        'kind = "region"',
        'kind = "place"',
        "kind of field 'region' is 'place', must be one of: uint",
    ),
    ("address:weights", "address:disk", "points into 'disk', no memory"),
    ("address:dram", "address:accumulator", "which engine load does not touch"),
    ("kernel_rows = {", "kernel_lines = {", "limit 'kernel_lines' names no field of packet conv"),
    ("least = 1, most = 16", "least = 1", "lacks 'most'"),
    ("least = 1, most = 16", "least = 17, most = 16", "is from 17 to 16, which is empty"),
    ("length = 4", "length = -1", "'length' is -1, must be from 1 to 32"),
    ("engine = 4", "engine = 1", "4 engines do not fit in 1 bits"),
    ("opcode = 8", "opcode = 1000000000000", "'opcode' is 1000000000000, must be from 1 to 32"),
    ("alignment = 16, address_bits = 36", "address_bits = 36", "'memories.dram' lacks 'alignment'"),
    ("address_bits = 36", "address_bits = 0", "addresses of dram have 0 bits, must have 1 to 64"),
    ("unit_bytes = 16", "unit_bytes = 0", "'unit_bytes' is 0, must be from 8 to 4096"),
    ("unit_bytes = 16", 'unit_bytes = "16"', "'unit_bytes' must be a number"),
    ('bits = 36, kind = "address:dram"', 'bits = 99999999999, kind = "enum:a"', "must have 1 to"),
    ('"length", unit = 1, bit = 64, bits = 24', '"length", unit = 1, bit = 64', "lacks 'bits'"),
    ('bits = 24, kind = "address:weights" }', 'bits = 24, wide = 1, kind = "uint" }', "true or"),
    ('"inputs", "outputs"', '"inputs", "output"', "'regions' lacks 'outputs'"),
    ('"region", unit = 1, bit = 0, bits = 4', '"region", unit = 1, bit = 0, bits = 1', "4 regions"),
    ("[packets.load_weights]", '[packets."load weights"]', "'load weights' must be a word of"),
    ('"fill"', '"fill;"', "'fill;' must be a word of letters, digits and _"),
    ('name = "vanilla"', 'name = "vanilla_of_a_very_long_name"', "must have 1 to 24 bytes"),
]


@pytest.mark.parametrize(("old", "new", "message"), FAULTS)
def test_a_fault_has_its_line(old: str, new: str, message: str) -> None:
    assert old in TEXT
    with pytest.raises(CompileError) as caught:
        parse_description(TEXT.replace(old, new, 1), "v.toml")
    found = [d for d in caught.value.diagnostics if message in d.message]
    assert found, str(caught.value)
    line = int(found[0].where.removeprefix("v.toml:"))
    changed = TEXT[: TEXT.index(old)].count("\n") + 1
    if new and "lacks" not in message:
        assert abs(line - changed) <= 10, f"{found[0]} stands at {changed}"


def test_all_faults_are_listed_in_the_order_of_lines() -> None:
    text = TEXT
    for old, new, _ in FAULTS:
        if "atom" not in old and "name" not in old and '"source_row"' not in old:
            text = text.replace(old, new, 1) if new else text
    with pytest.raises(CompileError) as caught:
        parse_description(text)
    lines = [int(d.where.rpartition(":")[2]) for d in caught.value.diagnostics]
    assert len(lines) >= 15
    assert lines == sorted(lines)


def without(table: str, following: str) -> str:
    """Cut a table out of the description, up to the head of another one."""
    start, end = TEXT.index(f"[{table}]"), TEXT.index(f"[{following}]")
    return TEXT[:start] + TEXT[end:]


@pytest.mark.parametrize("repeated", [False, True])
@pytest.mark.parametrize(
    ("name", "first", "following"),
    [
        ("memories", "memories", "engines.load"),
        ("engines", "engines.load", "packets.load"),
        ("header", "header", "memories"),
    ],
)
def test_what_is_below_a_missing_table_is_checked_without_it(
    name: str, first: str, following: str, repeated: bool
) -> None:
    text = without(first, following)
    text = f"{name} = 3\n{text}" if repeated else text
    text = text.replace("most = 64", "most = 0", 1)
    text = text.replace('"source_row", unit = 1, bit = 40', '"source_row", unit = 1, bit = 39')
    with pytest.raises(CompileError) as caught:
        parse_description(text)
    wrong = f"'{name}' must be a table" if repeated else f"the description lacks '{name}'"
    assert [d.message for d in caught.value.diagnostics] == [
        wrong,
        "fields 'source' and 'source_row' of load overlap",
        "limit 'kernel_rows' is from 1 to 0, which is empty",
    ]
    lines = [int(d.where.rpartition(":")[2]) for d in caught.value.diagnostics]
    rows = text.splitlines()
    assert "source_row" in rows[lines[1] - 1]
    assert rows[lines[2] - 1].startswith("kernel_rows = { least = 1, most = 0")


def test_a_packet_without_its_opcode_is_checked() -> None:
    text = TEXT.replace("opcode = 5\n", "").replace('"rows", unit = 1', '"rows", unit = 0')
    text = text.replace('kind = "mac"\n', "").replace("rows = 16 ", "rows = 0 ")
    with pytest.raises(CompileError) as caught:
        parse_description(text)
    messages = [d.message for d in caught.value.diagnostics]
    assert messages[:2] == ["'engines.mac' lacks 'kind'", "'rows' is 0, must be from 1 to 1048576"]
    assert "'packets.pool' lacks 'opcode'" in messages
    assert len([m for m in messages if "'rows' starts at bit" in m]) == TEXT.count('"rows", unit')


def test_a_fault_of_a_memory_is_said_once() -> None:
    with pytest.raises(CompileError) as caught:
        parse_description(TEXT.replace("alignment = 16, address_bits = 36", "address_bits = 99"))
    messages = [d.message for d in caught.value.diagnostics]
    assert messages == [
        "'memories.dram' lacks 'alignment'",
        "addresses of dram have 99 bits, must have 1 to 64",
    ]


@pytest.mark.parametrize(
    "text", ["a = " + "[" * 100_000, "", "[", "packets = 3", "fields = [[1]]", "[packets.a]\n"]
)
def test_what_is_no_description_is_refused(text: str) -> None:
    with pytest.raises(CompileError):
        parse_description(text)


def test_fields_that_no_class_has_are_refused() -> None:
    text = TEXT.replace('name = "fill"', 'name = "filling"')
    with pytest.raises(CompileError, match="field 'fill' of packet 'load' is not in the"):
        InstructionSet(parse_description(text), CLASSES)


def test_the_digest_changes_with_every_number_but_not_with_the_summary() -> None:
    digest = parse_description(TEXT).digest
    assert parse_description(TEXT.replace("made to be copied", "copied")).digest == digest
    for old, new, _ in [("lanes = 16", "lanes = 8", ""), ("most = 64", "most = 32", "")]:
        assert parse_description(TEXT.replace(old, new, 1)).digest != digest
