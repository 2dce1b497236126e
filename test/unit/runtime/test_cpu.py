import platform
from collections.abc import Iterator
from pathlib import Path

import pytest
from trivium.runtime import cpu
from trivium.runtime.errors import RunError
from trivium.runtime.manifest import CpuRequirements

CPUINFO = """processor\t: 0
flags\t\t: fpu sse4_1 avx512_vnni fma

processor\t: 1
flags\t\t: fpu
"""


@pytest.fixture
def small_cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    path = tmp_path / "cpuinfo"
    path.write_text(CPUINFO)
    monkeypatch.setattr(cpu, "_CPUINFO", path)
    cpu.cpu_features.cache_clear()
    yield
    cpu.cpu_features.cache_clear()


def test_features_come_from_the_system(small_cpu: None):
    assert cpu.cpu_features() == {"fpu", "sse4_1", "avx512_vnni", "fma"}


def test_a_cpu_with_everything_passes(small_cpu: None):
    # As Linux spells them and as LLVM does.
    cpu.check_cpu(CpuRequirements(platform.machine(), ("sse4_1", "sse4.1", "avx512vnni")))


def test_missing_features_are_named(small_cpu: None):
    message = "needs avx512f, amx_tile, which this CPU lacks: compile the model or the package"
    with pytest.raises(RunError, match=message):
        cpu.check_cpu(CpuRequirements(platform.machine(), ("avx512f", "fma", "amx_tile")))


def test_another_architecture_is_refused():
    with pytest.raises(RunError, match=r"is for vax, this machine is \w+: compile"):
        cpu.check_cpu(CpuRequirements("vax", ()))


def test_a_system_that_does_not_tell_is_one_line(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cpu, "_CPUINFO", Path("/nowhere/cpuinfo"))
    cpu.cpu_features.cache_clear()
    with pytest.raises(RunError, match="/nowhere/cpuinfo cannot be read: No such file"):
        cpu.cpu_features()
