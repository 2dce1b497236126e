"""Containers as text: the same file comes of what is printed, whatever is in it."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trivium.dialects.core.errors import CompileError
from trivium.targets.dla.core import container
from trivium.targets.dla.core.contents import Container, relocations
from trivium.targets.dla.core.listing import listing, read_listing
from trivium.targets.dla.core.ports import Port
from trivium.targets.dla.registry import Configuration
from trivium.targets.dla.vanilla.packets import FILE, End, LoadWeights, instruction_set
from trivium.test.unit.targets.dla.streams import TwoConvs
from trivium.tools.main import main

VANILLA = instruction_set()
TEXT = """.data 000102ff
.region constants 4096
.region inputs 1024
.region outputs 256
.input "x" region=inputs offset=0x0 shape=1,4,4,3 channels=16 fill=-3
.input "y; z" region=inputs offset=0x100 shape=1,4,4,16 channels=16 fill=0
.output "sum" region=outputs offset=0x0 shape=1,4,4,16 channels=16 fill=0
.node "Conv_1"
load_weights region=0 source=0x40 destination=0x10 length=48
.node ""
end wait.load=1
"""


def save(*made: Container) -> bytes:
    return container.save(VANILLA.description, *made)


@given(
    st.binary(max_size=100),
    st.dictionaries(st.sampled_from(VANILLA.description.regions[1:]), st.integers(0, 1 << 36)),
    st.none() | st.lists(st.text(), min_size=4, max_size=4),
    st.lists(st.integers(0, 3), min_size=3, max_size=3),
    st.integers(100, 1 << 36),
)
@settings(max_examples=200)
def test_the_same_file_comes_of_it(
    constants: bytes,
    regions: dict[str, int],
    nodes: list[str] | None,
    waits: list[int],
    size: int,
) -> None:
    packets = [
        LoadWeights(region=0, source=64, destination=n * 16, length=48, waits={"load": wait})
        for n, wait in enumerate(waits)
    ]
    code = VANILLA.encode_stream([*packets, End(waits={"load": 3})])
    moved = relocations(VANILLA, code)
    sizes = {**regions, "constants": size}
    data = save(Container(sizes, constants, code, moved, tuple(nodes or ())))
    loaded = container.load(VANILLA, data)
    assert loaded.nodes == tuple(nodes or ())
    assert save(*read_listing(VANILLA, listing(VANILLA, loaded))) == data


def test_the_file_of_a_network_comes_back() -> None:
    data = TwoConvs().file()
    text = listing(VANILLA, container.load(VANILLA, data))
    assert save(*read_listing(VANILLA, text)) == data
    assert '.input "x" region=inputs' in text


def test_the_text_reads_as_it_is_written() -> None:
    (made,) = read_listing(VANILLA, TEXT)
    assert made.constants == b"\0\1\2\xff"
    assert made.regions == {"constants": 4096, "inputs": 1024, "outputs": 256}
    assert made.inputs == (
        Port("x", "inputs", 0, (1, 4, 4, 3), 16, -3),
        Port("y; z", "inputs", 256, (1, 4, 4, 16), 16, 0),
    )
    assert made.outputs == (Port("sum", "outputs", 0, (1, 4, 4, 16), 16, 0),)
    assert made.nodes == ("Conv_1", "")
    assert [r.region for r in made.relocations] == ["constants"]
    assert listing(VANILLA, made) == TEXT


def test_comments_spaces_and_other_ends_of_lines_mean_nothing() -> None:
    lines = [f"  {line} ; comment" for line in ["", *TEXT.splitlines()]]
    assert save(*read_listing(VANILLA, "\r\n".join(lines))) == save(*read_listing(VANILLA, TEXT))
    named = TEXT.replace("Conv_1", "a ; b").replace('""', '\t"\\u00e4\\n"')
    assert read_listing(VANILLA, named)[0].nodes == ("a ; b", "ä\n")


def test_packets_before_the_first_node_are_of_none() -> None:
    packets = [line for line in TEXT.splitlines() if not line.startswith(".node")]
    assert read_listing(VANILLA, "\n".join(packets))[0].nodes == ()
    (named,) = read_listing(VANILLA, "\n".join([*packets[:-1], '.node "e"', "end"]))
    assert named.nodes == ("", "e")


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        (".region", ".regions", 2, "'.regions' is unknown, must be one of: .constant, .data"),
        ("constants 4096", "constants", 2, "'.region' must be followed by a name and a number"),
        ("constants 4096", "constants 1 2", 2, "'.region' must be followed by a name and"),
        ("constants 4096", "constants many", 2, "'.region' must be followed by a name and"),
        ("constants 4096", "constants 3", 1, "constants have 4 bytes, their region has 3"),
        ("constants 4096", "constants -1", 2, "region 'constants' has -1 bytes, must have 0 to"),
        ("constants 4096", "constants 0x1000000001", 2, "must have 0 to 68719476736"),
        ("constants 4096", "constants " + "9" * 5000, 2, "'.region' must be followed by"),
        (".region constants", ".region consts", 2, "no region is called 'consts', there are: con"),
        (
            ".region inputs",
            ".region constants 1\n.region inputs",
            3,
            "region 'constants' is there twice",
        ),
        ("fill=-3", "fill=-300", 5, "'inputs[0]' is padded with -300, must be with a number from"),
        ("fill=-3", "fill=x", 5, "offset, shape, channels and fill of '.input' must be numbers"),
        (" fill=-3", "", 5, "behind its name, '.input' must have: region, offset, shape, channel"),
        ("fill=-3", "fill=-3 fill=-3", 5, "behind its name, '.input' must have: region, off"),
        ('"x"', "x", 5, "'.input' must be followed by a name in quotes"),
        ("offset=0x100", "offset=0xF0", 6, "'x' and 'y; z' of 'inputs' share bytes"),
        ("outputs 256", "outputs 255", 7, "'outputs[0]' ends at byte 256 of region 'outputs'"),
        (".region constants 4096", "", 9, "region 'constants' is used, say its size: .region con"),
        ("000102ff", "000", 1, "'.data' must be followed by pairs of hexadecimal digits"),
        ("000102ff", "xy", 1, "'.data' must be followed by pairs of hexadecimal digits"),
        ('"Conv_1"', "Conv_1", 8, "'.node' must be followed by a name in quotes"),
        ('"Conv_1"', '"Conv_1', 8, "'.node' must be followed by a name in quotes"),
        ('"Conv_1"', '"Conv_1" 3', 8, "'.node' must be followed by a name in quotes"),
        ('"Conv_1"', "[" * 100_000, 8, "'.node' must be followed by a name in quotes"),
        ("region=0", "region=4", 9, "field 'region' is 4, there are 4 regions"),
        ("length=48", "length=many", 9, "field 'length' is 'many', must be a number"),
        ("end", "and", 11, "no packet is called 'and', there are:"),
    ],
)
def test_a_fault_has_its_line(old: str, new: str, line: int, message: str) -> None:
    assert old in TEXT
    with pytest.raises(CompileError) as caught:
        read_listing(VANILLA, TEXT.replace(old, new, 1), "a.txt")
    found = next(d for d in caught.value.diagnostics if message in d.message)
    assert found.where == f"a.txt:{line}"


def test_all_faults_are_listed() -> None:
    text = TEXT.replace("4096", "3").replace("region=0", "region=9").replace("end", "and")
    with pytest.raises(CompileError) as caught:
        read_listing(VANILLA, text, "a.txt")
    assert [d.where for d in caught.value.diagnostics] == ["a.txt:1", "a.txt:9", "a.txt:11"]


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, first, second = tmp_path / "a.txt", tmp_path / "a.dla", tmp_path / "b.dla"
    text.write_text(TEXT)
    assert main(["assemble", str(text), "-o", str(first), "--target", "vanilla"]) == 0
    capsys.readouterr()
    assert main(["disasm", "--whole", str(first)]) == 0
    text.write_text(capsys.readouterr().out)
    assert text.read_text() == TEXT
    assert main(["assemble", str(text), "-o", str(second), "--target", "vanilla"]) == 0
    assert second.read_bytes() == first.read_bytes()


def test_another_description_is_named_by_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    half, text, made = tmp_path / "half.toml", tmp_path / "a.txt", tmp_path / "a.dla"
    half.write_text(FILE.read_text().replace("bytes = 262144", "bytes = 131072"))
    text.write_text(TEXT)
    assert main(["assemble", str(text), "-o", str(made), "--target", f"vanilla:{half}"]) == 0
    container.load(Configuration.parse(f"vanilla:{half}").instructions, made.read_bytes())
    assert main(["disasm", str(made), "--whole"]) == 1
    assert "offset 0x8: error: made for another description" in capsys.readouterr().err
    assert main(["disasm", str(made), "--whole", "--description", str(half)]) == 0
    assert capsys.readouterr().out == TEXT


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (TEXT.replace("end", "and").encode(), "a.txt:11: error: no packet is called 'and'"),
        (b"end\n\xff\n", "a.txt:2: error: is no UTF-8 text"),
        (None, "cannot read"),
    ],
)
def test_nothing_is_written_of_a_bad_text(
    data: bytes | None, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, made = tmp_path / "a.txt", tmp_path / "a.dla"
    if data is not None:
        text.write_bytes(data)
    assert main(["assemble", str(text), "-o", str(made), "--target", "vanilla"]) == 1
    assert message in capsys.readouterr().err
    assert not made.exists()


def test_where_nothing_can_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "a.txt"
    text.write_text(TEXT)
    assert main(["assemble", str(text), "-o", str(tmp_path), "--target", "vanilla"]) == 1
    assert f"cannot write '{tmp_path}'" in capsys.readouterr().err
