"""Tuning files: what is written is read again, and what is wrong is located by its line."""

import json
from pathlib import Path

import pytest
from trivium import __version__
from trivium.dialects.core.errors import CompileError, Invalid
from trivium.dialects.core.machine import NATIVE, Machine, model_name
from trivium.targets.cpu.schedule.schedule import Schedule
from trivium.targets.cpu.schedule.tuning_file import tuning_format
from trivium.targets.tuning_file import Entry

MACHINE = Machine(NATIVE, "", ("avx2", "fma"), 32, 16)
FILE = tuning_format(MACHINE)
FLAT, WIDE = Schedule("packed", 6, 2), Schedule("panel", 13, 1)
ENTRIES = {
    "tri.mat_mul b": Entry.of({FLAT: 20.5, WIDE: 10.25}),
    "tri.conv a": Entry.of({Schedule("winograd", 2, 2): 7, FLAT: 7}),
}
GOOD = f"""{{
  "format": "trivium tuning",
  "version": 1,
  "trivium": "{__version__}",
  "machine": {{"features": ["avx2", "fma"], "model": "{model_name()}", "vector_bytes": 32}},
  "entries": {{
    "tri.conv a": {{"schedule": "winograd 2x2", "time_us": 7, "candidates": {{"packed 6x2": 7, "winograd 2x2": 7}}}},
    "tri.mat_mul b": {{"schedule": "panel 13x1", "time_us": 10.25, "candidates": {{"panel 13x1": 10.25, "packed 6x2": 20.5}}}}
  }}
}}
"""  # noqa: E501


def test_files_are_sorted_json_with_a_line_for_each_entry() -> None:
    assert FILE.spell(ENTRIES) == GOOD
    assert json.loads(FILE.spell({}))["entries"] == {}


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "tuning.json"
    FILE.write(str(path), ENTRIES)
    assert FILE.read(str(path)).entries == ENTRIES
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "tuning.json"
    with pytest.raises(CompileError, match=r"cannot write .*tuning.json.: No such file"):
        FILE.write(str(path), ENTRIES)


def test_the_first_of_equal_times_wins() -> None:
    assert Entry.of({WIDE: 3, FLAT: 3}).schedule == WIDE
    assert Entry.of({WIDE: 3, FLAT: 2}) == Entry(FLAT, 2, {WIDE: 3, FLAT: 2})


# Each: what to replace in a good file, by what, and what is said about which line.
MALFORMED = [
    ('"version": 1,', '"version": 1', "4: error: is not JSON: Expecting ',' delimiter"),
    ("trivium tuning", "other", "2: error: 'format' is 'other', must be 'trivium tuning'"),
    ('  "entries"', '  "speed": 1,\n  "entries"', "6: error: 'speed' is unknown; known are format"),
    (f'"trivium": "{__version__}",', "", "1: error: the file lacks 'trivium'"),
    ("packed 6x2", "packed 6", "7: error: schedule is 'packed 6', must be like"),
    ("panel 13x1", "panels 13x1", "8: error: schedule is 'panels 13x1', must be like"),
    ("panel 13x1", "panel 0x1", "8: error: schedule is 'panel 0x1', must be like"),
    ('"time_us": 10.25', '"time_us": -1', "8: error: 'time_us' is -1, must be a time above 0"),
    ("20.5", '"fast"', "8: error: 'packed 6x2' is 'fast', must be a time above 0"),
    ("20.5", "true", "8: error: 'packed 6x2' is True, must be a time above 0"),
    ("20.5", "NaN", "8: error: NaN is no number of JSON"),
    ('"time_us": 7', '"time": 7', "7: error: 'time' is unknown; known are schedule, time_us"),
    ('"time_us": 7, ', "", "7: error: an entry lacks 'time_us'"),
    (
        '": {"packed 6x2": 7, ',
        '": {"packed 6x2": 7, "packed 6x2": 8, ',
        "7: error: 'packed 6x2' occ",
    ),
    ("tri.mat_mul b", "tri.conv a", "8: error: 'tri.conv a' occurs twice"),
    ('{"packed 6x2": 7, "winograd 2x2": 7}', "[]", "7: error: 'candidates' is not an object"),
    (GOOD, "[]", "1: error: the file is not an object"),
    (GOOD, "", "1: error: is not JSON: Expecting value"),
]


@pytest.mark.parametrize(("old", "new", "fault"), MALFORMED)
def test_refuses_malformed_files_by_line(old: str, new: str, fault: str) -> None:
    text = GOOD.replace(old, new)
    assert text != GOOD
    with pytest.raises(CompileError) as caught:
        FILE.parse(text, "t.json")
    assert str(caught.value).startswith(f"t.json:{fault}")


FOREIGN = [
    ('"version": 1,', '"version": 2,', "has version 2, this is for 1"),
    (f'"{__version__}"', '"0.0.1"', f"is of trivium 0.0.1, this is {__version__}"),
    (f'"{model_name()}"', '"Z80"', "is of another machine: model 'Z80', this one has"),
    ("32}", "64}", "is of another machine: vector_bytes 64, this one has 32"),
    ('"fma"', '"sse3"', "is of another machine: its features differ"),
]


@pytest.mark.parametrize(("old", "new", "words"), FOREIGN)
def test_foreign_files_hold_nothing(old: str, new: str, words: str) -> None:
    tuning = FILE.parse(GOOD.replace(old, new), "t.json")
    assert not tuning.entries
    assert tuning.foreign.startswith(words)


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=r"none.json: cannot be read: No such file"):
        FILE.read(str(tmp_path / "none.json"))
    package = tmp_path / "broken.trv"
    package.write_text("no package")
    with pytest.raises(CompileError, match=r"broken.trv: is not a tuning file: "):
        FILE.read(str(package))


@pytest.mark.parametrize(
    "text", ["", "packed", "packed 14", "packed 14x", "packed -1x2", "Packed 1x1"]
)
def test_refuses_texts_that_are_no_schedules(text: str) -> None:
    with pytest.raises(Invalid, match="must be like 'packed 14x2'"):
        Schedule.parse(text)


def test_schedules_are_read_as_they_are_written() -> None:
    for schedule in (FLAT, WIDE, Schedule("winograd", 4, 4)):
        assert Schedule.parse(str(schedule)) == schedule
