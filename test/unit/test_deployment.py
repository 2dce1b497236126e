"""Trivium installed as users install it: alone to run packages, with an extra to compile them."""

import os
import shutil
import subprocess
import sys
import sysconfig
from importlib.metadata import distributions
from pathlib import Path

import numpy as np
import pytest
from trivium.compiler.build import build_module
from trivium.compiler.stages import pipeline_for
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module
from trivium.runtime.session import Session
from trivium.targets.options import CompileOptions
from trivium.test.unit.runtime.gpu.conftest import package as gpu_package
from trivium.test.unit.targets.dla.streams import TwoConvs
from trivium.test.unit.targets.dla.streams import package as dla_package

ROOT = Path(__file__).resolve().parents[2]
CONVS = TwoConvs()

# A kernel for the CPU, then an op that only the host has.
MODEL = """
func.func @main(%x: tensor<3x3xf32>) -> tensor<?x3xf32, ["u0", ""]>
    attributes {trivium.symbols = {u0 = "0..3"}} {
  %w = "tri.constant"() {value = dense<[1.0, -2.0, 3.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %0 = "tri.mul"(%x, %w) : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  %1 = "tri.exp"(%0) : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %2:4 = "tri.unique"(%1) {axis = 0, count = "u0", sorted = true}
      : (tensor<3x3xf32>) -> (tensor<?x3xf32, ["u0", ""]>, tensor<?xi64, ["u0"]>, tensor<3xi64>,
                              tensor<?xi64, ["u0"]>)
  return %2#0 : tensor<?x3xf32, ["u0", ""]>
}
"""

NATIVE = """
func.func @main(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %0 = "tri.relu"(%x) : (tensor<3x3xf32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}
"""

# The two rows of y are the rows of x times w: [[1, 0], [0, 1], [-1, -1]].
ONNX = """
import onnx
import onnx.parser
onnx.save(onnx.parser.parse_model('''
    <ir_version: 10, opset_import: ["" : 21]>
    layer (float[2, 3] x) => (float[2, 2] y)
    <float[3, 2] w = {1, 0, 0, 1, -1, -1}> { [multiply] y = MatMul (x, w) }
'''), "layer.onnx")
"""

LOAD = """
import sys
import numpy as np
import trivium
np.save(sys.argv[3], trivium.load(sys.argv[1])(np.load(sys.argv[2])))
"""


def build(text: str, target: str) -> Session:
    with new_context():
        module = Module.parse(text)
        options = CompileOptions(target=target)
        return Session(build_module(module, pipeline_for(target, 2), options))


class Environment:
    """A virtual environment, and a folder in which its programs run."""

    def __init__(self, folder: Path, requirement: str, constraints: Path) -> None:
        """Make the environment, without pip, and install what `requirement` asks for."""
        self.folder = folder
        self.bin = folder / "venv" / "bin"
        self.python = self.bin / "python"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
        pip = [sys.executable, "-m", "pip", "-q", "--python", self.python, "install"]
        subprocess.run([*pip, "--no-compile", "-c", constraints, requirement], check=True)

    def run(self, *command: str | Path) -> subprocess.CompletedProcess[str]:
        # Nothing but what is installed is imported.
        variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return subprocess.run(
            command, capture_output=True, text=True, cwd=self.folder, env=variables, check=False
        )

    def output(self, *command: str | Path) -> str:
        """Return what a command prints; it must succeed and say nothing on standard error."""
        done = self.run(*command)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
        return done.stdout

    def trivium(self, *arguments: str | Path) -> str:
        return self.output(self.bin / "trivium", *arguments)

    def call(self, package: str, x: np.ndarray, *, site: Path | None = None) -> np.ndarray:
        """Load a package and call it; a folder `site` stands in for what is installed."""
        np.save(self.folder / "x.npy", x)
        root = str(site or self.folder)
        path = f"import sys; sys.path.insert(0, {root!r})\n"
        found = f"assert trivium.__file__.startswith({root!r})\n"
        (self.folder / "load.py").write_text(path + LOAD + found)
        self.output(self.python, "load.py", package, "x.npy", "y.npy")
        return np.load(self.folder / "y.npy")

    def distributions(self) -> list[str]:
        listing = "from importlib.metadata import distributions\n" + (
            "print(*sorted(found.name.lower() for found in distributions()))"
        )
        return self.output(self.python, "-c", listing).split()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the wheel, and with the versions that are installed here."""
    folder = tmp_path_factory.mktemp("deployment")
    copy = folder / "source"
    listing = ["git", "ls-files", "-co", "--exclude-standard"]
    for name in subprocess.check_output(listing, cwd=ROOT, text=True).splitlines():
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((ROOT / name).read_bytes())
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, copy]
    subprocess.run(pip, check=True)
    installed = distributions(path=[sysconfig.get_path("purelib")])
    lines = {f"{each.name}=={each.version}" for each in installed if each.name != "trivium"}
    (folder / "constraints.txt").write_text("\n".join(sorted(lines)))
    return folder


def wheel(shared: Path) -> Path:
    (path,) = shared.glob("trivium-*.whl")
    return path


@pytest.fixture(scope="module")
def bare(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Return an environment made by `pip install trivium`, with a package for each target."""
    folder = tmp_path_factory.mktemp("bare")
    build(MODEL, "cpu").save(folder / "cpu.trv")
    build(MODEL, "host").save(folder / "host.trv")
    build(NATIVE, "cpu").save(folder / "native.trv")
    dla_package(CONVS).save(folder / "vanilla.trv")
    gpu_package().save(folder / "gpu.trv")
    return Environment(folder, str(wheel(shared)), shared / "constraints.txt")


def test_the_base_install_is_numpy_alone(bare: Environment) -> None:
    assert bare.distributions() == ["numpy", "trivium"]


@pytest.mark.parametrize("target", ["cpu", "host"])
def test_packages_run_with_numpy_alone(bare: Environment, target: str) -> None:
    x = np.random.default_rng(0).standard_normal((3, 3)).astype(np.float32)
    kinds = {step.kind for step in build(MODEL, target).manifest.steps}
    assert kinds == {target, "host"}
    expected = np.unique(np.exp(x.astype(np.float64) * [1, -2, 3]), axis=0)
    y = bare.call(f"{target}.trv", x)
    np.testing.assert_allclose(y, expected, rtol=1e-4)
    np.testing.assert_array_equal(y, build(MODEL, target)(x))


def test_accelerators_are_simulated_with_numpy_alone(bare: Environment) -> None:
    x = CONVS.inputs(1)
    np.testing.assert_array_equal(bare.call("vanilla.trv", x), CONVS.expected(x))
    assert "cycles" in bare.trivium("simulate", "vanilla.trv")
    assert "conv" in bare.trivium("disasm", "vanilla.trv")


@pytest.mark.parametrize(
    ("package", "folders"),
    [
        ("native.trv", ["runtime"]),
        ("cpu.trv", ["runtime", "dialects"]),
        ("vanilla.trv", ["runtime", "dialects", "targets"]),
    ],
)
def test_packages_need_few_folders(
    bare: Environment, tmp_path: Path, package: str, folders: list[str]
) -> None:
    for folder in folders:
        shutil.copytree(ROOT / folder, tmp_path / "trivium" / folder)
    for file in ("__init__.py", "version.py"):
        shutil.copy(ROOT / file, tmp_path / "trivium")
    x = CONVS.inputs(1) if package == "vanilla.trv" else np.ones((3, 3), np.float32)
    expected = bare.call(package, x)
    np.testing.assert_array_equal(bare.call(package, x, site=tmp_path), expected)


def test_commands_for_packages_need_numpy_alone(bare: Environment) -> None:
    assert "compile" in bare.trivium("--help")
    for target in ("cpu", "host", "gpu", "vanilla"):
        assert bare.trivium("info", f"{target}.trv").startswith(f"{target}.trv: compiled")
    described = bare.trivium("run", "cpu.trv", "--random", "--repeat", "2")
    assert "float32  3x3  min" in described


@pytest.mark.parametrize(
    "command",
    [
        ("trivium", "compile", "layer.onnx", "-o", "layer.trv"),
        ("trivium", "check", "layer.onnx"),
        ("trivium", "run", "layer.onnx", "--random"),
        ("trivium", "compile", "cpu.trv", "-o", "again.trv"),
        ("trivium-opt", "layer.mlir"),
    ],
    ids=" ".join,
)
def test_one_line_says_how_to_install_the_compiler(
    bare: Environment, command: tuple[str, ...]
) -> None:
    (bare.folder / "layer.mlir").touch()
    tool, *arguments = command
    done = bare.run(bare.bin / tool, *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "error: compiling needs torch-mlir, which is not installed: "
        "pip install 'trivium[compile]'\n"
    )


@pytest.fixture(scope="module")
def compiling(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Return an environment made by `pip install 'trivium[compile]'`."""
    folder = tmp_path_factory.mktemp("compiling")
    return Environment(folder, f"{wheel(shared)}[compile]", shared / "constraints.txt")


def test_what_one_environment_compiles_another_runs_with_numpy_alone(
    compiling: Environment, bare: Environment
) -> None:
    assert {"numpy", "onnx", "torch-mlir", "trivium"} <= set(compiling.distributions())
    assert not {"torch", "triton", "onnxruntime"} & set(compiling.distributions())
    compiling.output(compiling.python, "-c", ONNX)
    compiling.trivium("compile", "layer.onnx", "--machine", "x86-64", "-o", "layer.trv")
    shutil.copy(compiling.folder / "layer.trv", bare.folder)
    x = np.array([[1, 2, 3], [30, 20, 10]], np.float32)
    for environment in (compiling, bare):
        assert environment.call("layer.trv", x).tolist() == [[-2, -1], [20, 10]]


def test_pages_are_generated_by_what_compiles(compiling: Environment) -> None:
    compiling.output(compiling.python, "-m", "trivium.tools.generate_docs", "pages")
    made = {page.name: page.read_text() for page in (compiling.folder / "pages").iterdir()}
    kept = {page.name: page.read_text() for page in (ROOT / "docs" / "generated").iterdir()}
    assert made == kept


def test_other_extras_are_named_where_these_are_missing(compiling: Environment) -> None:
    compiling.output(compiling.python, "-c", ONNX)
    arguments = ("compile", "layer.onnx", "--target", "gpu:sm_90", "-o", "gpu.trv")
    done = compiling.run(compiling.bin / "trivium", *arguments)
    assert done.returncode == 1
    assert done.stderr == (
        "error: compiling for a GPU needs triton, which is not installed: "
        "pip install 'trivium[gpu]'\n"
    )
