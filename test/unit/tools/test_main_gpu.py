"""`trivium` with packages for a GPU: where there is one, which is a stand-in, and where not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from trivium.test.unit.runtime.gpu.conftest import code, package


@pytest.fixture
def layer(tmp_path: Path) -> Path:
    path = tmp_path / "layer.trv"
    package(codes=(code("sm_90"), code("sm_80"))).save(path)
    return path


def call(library: Path, words: str, *arguments: str | Path) -> tuple[int, str, str]:
    """Return the exit status and what was printed, with a stand-in for the driver."""
    environment = {**os.environ, "LD_LIBRARY_PATH": str(library.parent), "STAND_IN": words}
    command = [sys.executable, "-m", "trivium.tools.main", *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd="/")
    return done.returncode, done.stdout, done.stderr


def test_a_package_runs_on_the_gpu(stand_in_library: Path, layer: Path, tmp_path: Path):
    words = f"devices=2 log={tmp_path / 'log'}"
    status, out, _ = call(stand_in_library, words, "run", layer, "--random", "--device=1")
    assert (status, out.split()[:3]) == (0, ["y", "float32", "4x8"])
    log = (tmp_path / "log").read_text()
    assert '"cuDevicePrimaryCtxRetain", "device": 1' in log
    assert '"run": "relu_kernel"' in log


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("devices=0", "there is no GPU that the driver can use: compile the model for the CPU"),
        (
            "architecture=75",
            "the package has code for sm_90 and sm_80, the GPU (Stand-in 0) is sm_75: compile the "
            "model again with --target gpu:sm_75",
        ),
    ],
)
def test_no_gpu_is_one_line(stand_in_library: Path, layer: Path, words: str, message: str):
    status, out, error = call(stand_in_library, words, "run", layer, "--random")
    assert (status, out) == (1, "")
    assert error.endswith(f"{message}\n")
    assert error.count("\n") == 1


def test_info_says_which_code_would_run(stand_in_library: Path, layer: Path):
    status, out, _ = call(stand_in_library, "architecture=90", "info", layer)
    assert status == 0
    assert "\ncode for GPUs\n  sm_90  would run here\n  sm_80  has code for sm_80, the GPU" in out
    assert "\nkernels for sm_80\n  1x  Add_0   add   2x1x1  4 warps  0 bytes shared  " in out
    status, out, _ = call(stand_in_library, "devices=0", "info", layer)
    assert status == 0
    assert "\n  sm_90  cannot run here: there is no GPU that the driver can use" in out
