"""What tools import: a module that is not imported costs no time at the start."""

import json
import subprocess
import sys
from pathlib import Path

import onnx.parser
import pytest
import trivium

MODEL = onnx.parser.parse_model(
    '<ir_version: 10, opset_import: ["" : 21]> g (float[2] x) => (float[2] y) { y = Exp (x) }'
)
IR = """func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "tri.relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
LIBRARIES = ["numpy", "onnx", "onnxruntime", "rich", "torch", "torch_mlir", "triton"]
OTHER_TARGETS = [f"trivium.targets.{name}" for name in ("dla", "gpu")]
OTHER_DIALECTS = [f"trivium.dialects.{name}" for name in ("dla", "tile")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("imports")
    onnx.save(MODEL, str(made / "m.onnx"))
    (made / "m.mlir").write_text(IR)
    return made


def imported(tool: str, *arguments: str, folder: Path) -> set[str]:
    """Run a tool and return the modules that its process has imported."""
    script = (
        f"import json, sys; from trivium.tools.{tool} import main\n"
        "code = main(sys.argv[1:])\n"
        "print(json.dumps([code, *sys.modules]), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], cwd=folder, capture_output=True, text=True
    )
    code, *modules = json.loads(done.stderr.splitlines()[-1])
    assert code == 0
    return set(modules)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("main", ["--help"]),
        ("main", ["--version"]),
        ("main", ["compile", "--help"]),
        ("main", ["info", "--help"]),
        ("main", ["bench", "--help"]),
        ("opt", ["--help"]),
        ("opt", ["--version"]),
        ("opt", ["--list-targets"]),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_help_imports_no_library_and_no_pass(tool: str, arguments: list[str], folder: Path) -> None:
    modules = imported(tool, *arguments, folder=folder)
    assert not modules & {*LIBRARIES, "trivium.passes.pipeline", "trivium.dialects.tri"}


def test_the_list_of_commands_imports_none_of_them(folder: Path) -> None:
    modules = imported("main", "--help", folder=folder)
    assert not [name for name in modules if name.startswith("trivium.tools.commands.")]


def test_a_pass_is_imported_without_the_others(folder: Path) -> None:
    modules = imported("opt", "m.mlir", "--fold-casts", folder=folder)
    assert "trivium.passes.fold.fold_casts" in modules
    others = {
        "trivium.passes.fuse.fuse_attention",
        "trivium.compiler.driver",
        "trivium.targets.cpu",
    }
    assert not modules & {*others, *OTHER_TARGETS, *OTHER_DIALECTS}
    assert not modules & {*LIBRARIES} - {"numpy", "torch_mlir"}


def test_check_imports_what_its_model_and_its_target_need(folder: Path) -> None:
    modules = imported("main", "check", "m.onnx", folder=folder)
    assert not modules & {*OTHER_TARGETS, *OTHER_DIALECTS, "trivium.compiler.frontends.pnnx"}
    assert not modules & {"torch_mlir.dialects.llvm", "onnxruntime", "rich", "torch", "triton"}


def test_a_run_imports_the_runtime_and_of_its_targets_those_of_the_package(folder: Path) -> None:
    trivium.build(str(folder / "m.onnx")).save(folder / "m.trv")
    arguments = ("run", "m.trv", "--random")
    modules = imported("main", *arguments, folder=folder)
    assert "trivium.runtime.cpu.step" in modules
    unused = {f"trivium.runtime.{name}" for name in ("copy", "dla", "gpu", "host")}
    assert not modules & {*unused, *OTHER_TARGETS, "trivium.targets.cpu"}
    assert not modules & {*LIBRARIES} - {"numpy"}
