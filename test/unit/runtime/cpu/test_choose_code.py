import platform
from collections.abc import Iterator
from pathlib import Path

import pytest
from trivium.runtime.cpu import choose_code
from trivium.runtime.cpu.code import CpuRequirements
from trivium.runtime.errors import RunError

CPUINFO = """processor\t: 0
flags\t\t: fpu sse4_1 avx512_vnni fma

processor\t: 1
flags\t\t: fpu
"""


@pytest.fixture
def small_cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    path = tmp_path / "cpuinfo"
    path.write_text(CPUINFO)
    monkeypatch.setattr(choose_code, "_CPUINFO", path)
    choose_code.cpu_features.cache_clear()
    yield
    choose_code.cpu_features.cache_clear()


def test_features_come_from_the_system(small_cpu: None):
    assert choose_code.cpu_features() == {"fpu", "sse4_1", "avx512_vnni", "fma"}


def test_a_cpu_with_everything_passes(small_cpu: None):
    # As Linux spells them and as LLVM does.
    needed = CpuRequirements(platform.machine(), ("sse4_1", "sse4.1", "avx512vnni"))
    assert choose_code.choose_code([needed]) == needed


def test_missing_features_are_named(small_cpu: None):
    message = "needs avx512f, amx_tile, which this CPU lacks: compile the model or the package"
    with pytest.raises(RunError, match=message):
        choose_code.choose_code(
            [CpuRequirements(platform.machine(), ("avx512f", "fma", "amx_tile"))]
        )


def test_another_architecture_is_refused():
    with pytest.raises(RunError, match=r"is for vax, this machine is \w+: compile"):
        choose_code.choose_code([CpuRequirements("vax", ())])


def test_a_system_that_does_not_tell_is_one_line(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(choose_code, "_CPUINFO", Path("/nowhere/cpuinfo"))
    choose_code.cpu_features.cache_clear()
    with pytest.raises(RunError, match="/nowhere/cpuinfo cannot be read: No such file"):
        choose_code.cpu_features()


def needed(machine: str, *features: str) -> CpuRequirements:
    return CpuRequirements(platform.machine(), features, machine)


def test_the_first_code_that_runs_here_is_taken(small_cpu: None):
    best, fits, also = needed("best", "amx"), needed("fits", "fma"), needed("also", "fpu")
    assert choose_code.choose_code([best, fits, also]) == fits


def test_when_none_runs_here_each_says_what_it_lacks(small_cpu: None):
    message = (
        "the package has no code for this CPU: that for one needs amx, which this CPU lacks; "
        "that for two needs avx, sve, which this CPU lacks: compile the model or the package again"
    )
    with pytest.raises(RunError, match=message):
        choose_code.choose_code([needed("one", "amx"), needed("two", "avx", "sve", "fma")])
    with pytest.raises(RunError, match="the package is for no CPU at all"):
        choose_code.choose_code([])
