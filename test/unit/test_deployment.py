"""A saved model runs where there is nothing but numpy and the wheel."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from trivium.compiler.build import build_module
from trivium.compiler.stages import pipeline_for
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module
from trivium.runtime.session import Session

ROOT = Path(__file__).resolve().parents[2]

# A kernel for the CPU, then an op that only the host has.
MODEL = """
func.func @main(%x: tensor<3x3xf32>) -> tensor<f32> {
  %w = "tri.constant"() {value = dense<[1.0, -2.0, 3.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %0 = "tri.mul"(%x, %w) : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  %1 = "tri.exp"(%0) : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %2 = "tri.det"(%1) : (tensor<3x3xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}
"""

SCRIPT = """
import sys
import numpy as np
import trivium
for name in ("torch_mlir", "onnx", "torch", "ml_dtypes"):
    try:
        __import__(name)
        sys.exit(f"{name} is installed here")
    except ModuleNotFoundError:
        pass
session = trivium.load(sys.argv[1])
np.save(sys.argv[3], session(np.load(sys.argv[2])))
"""


def run(*command: str | Path) -> None:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, cwd="/")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the interpreter of a new environment with numpy and the wheel, and nothing else."""
    folder = tmp_path_factory.mktemp("deployment")
    copy = folder / "source"
    tracked = subprocess.check_output(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True
    )
    for name in tracked.splitlines():
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((ROOT / name).read_bytes())
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, copy)
    run(sys.executable, "-m", "venv", folder / "venv")
    python = folder / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", f"numpy=={np.__version__}")
    (wheel,) = folder.glob("trivium-*.whl")
    run(python, "-m", "pip", "install", "-q", "--no-deps", wheel)
    return python


def test_a_package_runs_with_numpy_alone(bare_python: Path, tmp_path: Path) -> None:
    with new_context():
        module = Module.parse(MODEL)
        package = build_module(module, pipeline_for("cpu", 2), "cpu", lambda line: None, "")
    session = Session(package)
    kinds = {step.kind for step in session.manifest.steps}
    x = np.random.default_rng(0).standard_normal((3, 3)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    session.save(tmp_path / "m.trv")
    (tmp_path / "run.py").write_text(SCRIPT)
    run(
        bare_python,
        tmp_path / "run.py",
        tmp_path / "m.trv",
        tmp_path / "x.npy",
        tmp_path / "y.npy",
    )
    expected = np.linalg.det(np.exp(x.astype(np.float64) * [1, -2, 3]))
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), expected, rtol=1e-4)
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), session(x))
    assert kinds == {"cpu", "host"}
