"""Packages on systems without native code: what Linux alone has is taken away from a process."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import trivium
from trivium.test.unit.targets.dla.streams import TwoConvs
from trivium.test.unit.targets.dla.streams import package as dla_package

SYSTEMS = {"darwin": "arm64", "win32": "AMD64"}

CLIP = """7767517
3 2
pnnx.Input pnnx_input_0 0 1 0 #0=(2)f32
nn.ReLU clip 1 1 0 1 #0=(2)f32 #1=(2)f32
pnnx.Output pnnx_output_0 1 0 1 #1=(2)f32
"""

PREPARE = """
import mmap, os, platform, sys
import numpy as np
system, machine = sys.argv[1:]
del os.sched_getaffinity
if system == "win32":
    del os.fork, os.register_at_fork
    for name in [name for name in vars(mmap) if name.startswith(("MADV_", "MAP_", "PROT_"))]:
        delattr(mmap, name)
sys.platform, platform.machine = system, lambda: machine
import trivium
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a small model and packages of it."""
    (tmp_path / "clip.param").write_text(CLIP)
    for target in ("cpu", "host"):
        trivium.build(tmp_path / "clip.param", target=target).save(tmp_path / f"{target}.trv")
    return tmp_path


def printed(folder: Path, system: str, program: str) -> list[str]:
    command = [sys.executable, "-c", PREPARE + program, system, SYSTEMS[system]]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("system", SYSTEMS)
def test_packages_for_the_host_run(folder: Path, system: str) -> None:
    program = "print(trivium.load('host.trv')(np.float32([-1, 2])))"
    assert printed(folder, system, program) == ["[0. 2.]"]


@pytest.mark.parametrize("system", SYSTEMS)
def test_accelerators_are_simulated(tmp_path: Path, system: str) -> None:
    convs = TwoConvs()
    dla_package(convs).save(tmp_path / "convs.trv")
    np.save(tmp_path / "x.npy", convs.inputs(1))
    printed(tmp_path, system, "np.save('y.npy', trivium.load('convs.trv')(np.load('x.npy')))")
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), convs.expected(convs.inputs(1)))


TRY = """
from trivium.tools.main import main
main(["info", "cpu.trv"])
for call in (
    lambda: trivium.load("cpu.trv"),
    lambda: trivium.compile("clip.param"),
    lambda: trivium.compile("clip.param", target="host"),
):
    try:
        print(call()(np.float32([-1, 2])))
    except (trivium.CompileError, trivium.RunError) as error:
        print(error)
"""


@pytest.mark.parametrize("system", SYSTEMS)
def test_native_code_is_refused_with_what_to_do_instead(folder: Path, system: str) -> None:
    *info, load, compile_, host = printed(folder, system, TRY)
    assert any(line.endswith(f"is for Linux, this system is {system}") for line in info)
    assert load == (
        f"the package is for Linux, this system is {system}: "
        "compile the model for the target host, which numpy computes"
    )
    assert compile_.startswith(f"error: machine 'native' is {SYSTEMS[system]} on {system}, must be")
    assert host == "[0. 2.]"
