"""Settings of kernels: from tuning files, and what comes next when code does not fit."""

from pathlib import Path

import pytest
from products import FLAT, LARGE, MIDDLE, SMALL, product_kernel
from trivium import __version__
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.machine import host_machine
from trivium.dialects.tile.setting import Setting
from trivium.targets.cpu.tuning_file import tuning_format as cpu_format
from trivium.targets.gpu.schedule.architecture import find_architecture
from trivium.targets.gpu.schedule.choose_blocks import choose_setting, next_setting, settings_of
from trivium.targets.gpu.schedule.tuning_file import check_file, is_for, read_entries, tuning_format
from trivium.targets.tuning_file import Entry

HOPPER = find_architecture("sm_90")
TOO_MUCH = Setting.parse("BM=128 BN=256 BK=64 warps=8 stages=6")


def test_the_tuned_setting_is_taken_whatever_is_estimated() -> None:
    with product_kernel(4096, 4096, 4096) as kernel:
        assert choose_setting(kernel, HOPPER, Entry.of({SMALL: 1, LARGE: 2})) == SMALL


def test_a_tuned_setting_that_does_not_fit_gives_way_to_the_next() -> None:
    entry = Entry.of({TOO_MUCH: 1, FLAT: 3, MIDDLE: 2})
    with product_kernel(4096, 4096, 4096) as kernel:
        assert choose_setting(kernel, HOPPER, entry) == MIDDLE


def test_a_tuned_setting_of_other_blocks_is_ignored() -> None:
    entry = Entry.of({Setting.parse("BLOCK=128 warps=4 stages=1"): 1})
    with product_kernel(4096, 4096, 4096) as kernel:
        assert choose_setting(kernel, HOPPER, entry) == kernel.setting


def test_settings_follow_until_there_are_none() -> None:
    with product_kernel(512, 512, 512) as kernel:
        kernel.use(MIDDLE)
        kernel.set_attributes({"candidates": (str(SMALL), str(TOO_MUCH), str(MIDDLE))})
        tried: list[Setting] = []
        while (setting := next_setting(kernel, tried, HOPPER)) is not None:
            tried.append(setting)
    assert tried[:2] == [MIDDLE, SMALL]
    assert len(tried) == len(set(tried))
    assert TOO_MUCH not in tried
    assert [s.stages for s in tried if s.blocks == MIDDLE.blocks] == [4, 3, 2, 1]


def test_candidates_are_listed_once_and_ranked() -> None:
    with product_kernel(4096, 4096, 4096) as kernel:
        kernel.use(SMALL)
        kernel.set_attributes({"candidates": (str(LARGE), str(SMALL), str(TOO_MUCH))})
        assert settings_of(kernel, HOPPER) == [LARGE, SMALL]


# -- files ----------------------------------------------------------------------------------------

ENTRIES = {"mat_mul_0123456789ab": Entry.of({LARGE: 10.5, SMALL: 20})}
GOOD = f"""{{
  "format": "trivium tuning",
  "version": 1,
  "trivium": "{__version__}",
  "machine": {{"architecture": "sm_90", "device": "NVIDIA H100", "driver": "12.8"}},
  "entries": {{
    "mat_mul_0123456789ab": {{"schedule": "{LARGE}", "time_us": 10.5, "candidates": {{"{LARGE}": 10.5, "{SMALL}": 20}}}}
  }}
}}
"""  # noqa: E501


def written(tmp_path: Path, text: str = GOOD) -> str:
    path = tmp_path / "h100.json"
    path.write_text(text)
    return str(path)


def test_files_say_which_gpu_was_measured_but_hold_for_its_architecture(tmp_path: Path) -> None:
    assert read_entries(written(tmp_path), "sm_90") == ENTRIES
    assert read_entries("", "sm_90") == {}
    form = tuning_format("sm_90")
    assert form.parse(form.spell(ENTRIES), "t.json").entries == ENTRIES


MALFORMED = [
    (
        "BM=128",
        "BM=127",
        "7: error: setting is 'BM=127 BN=128 BK=64 warps=8 stages=3', its BM is 127, must be",
    ),
    (f'"schedule": "{LARGE}"', '"schedule": "fast"', "7: error: setting has 'fast', must be like"),
    ("warps=8 ", "", "stages=3', its warps is 0, must be a power of two"),
    ('"time_us"', '"time"', "7: error: 'time' is unknown; known are schedule, time_us"),
    ("stages=3", f"stages={'9' * 5000}", "7: error: setting has 'stages=999"),
    ("sm_90", "sm_80", ": is of another machine: architecture 'sm_80', this one has 'sm_90': tune"),
    ('"architecture": "sm_90", ', "", "of another machine: it says nothing of its architecture"),
    (f'"{__version__}"', '"0.0.1"', f"is of trivium 0.0.1, this is {__version__}: tune again"),
    ('"machine": {', '"machine": [{', "is not JSON"),
]


@pytest.mark.parametrize(("old", "new", "fault"), MALFORMED)
def test_refuses_files_in_one_line(tmp_path: Path, old: str, new: str, fault: str) -> None:
    text = GOOD.replace(old, new)
    assert text != GOOD
    with pytest.raises(CompileError) as caught:
        read_entries(written(tmp_path, text), "sm_90")
    assert fault in str(caught.value)
    assert "h100.json:" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_of_cpus_are_refused(tmp_path: Path) -> None:
    text = cpu_format(host_machine()).spell({})
    with pytest.raises(CompileError, match="another machine: it says nothing of its architecture"):
        read_entries(written(tmp_path, text), "sm_90")


def test_one_file_may_be_for_one_of_several_architectures(tmp_path: Path) -> None:
    file = written(tmp_path)
    check_file(file, ("sm_80", "sm_90"))
    check_file("", ("sm_80",))
    assert is_for(file, "sm_90")
    assert not is_for(file, "sm_80")
    assert not is_for("", "sm_90")
    with pytest.raises(CompileError, match="architecture 'sm_90', this one has 'sm_80'"):
        check_file(file, ("sm_80", "sm_100"))
