"""What is said where a module of an extra is missing, and what still works without the bindings."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.extras import OPTIONAL, require

ROOT = Path(__file__).resolve().parents[4]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]

WITHOUT_BINDINGS = "import sys; sys.modules['torch_mlir'] = None\n"


@pytest.mark.parametrize("module", OPTIONAL)
def test_each_module_is_in_the_extra_that_installs_it(module: str) -> None:
    distribution, extra = OPTIONAL[module]
    assert any(requirement.startswith(distribution) for requirement in EXTRAS[extra])


def test_a_missing_module_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch_mlir", None)
    with pytest.raises(CompileError) as error:
        require("torch_mlir", "compiling")
    assert str(error.value) == (
        "error: compiling needs torch-mlir, which is not installed: pip install 'trivium[compile]'"
    )


CALLS = """
import trivium
assert trivium.compile is not None
calls = [
    lambda: trivium.compile("m.onnx"),
    lambda: trivium.build("m.onnx", "gpu:sm_90"),
    lambda: trivium.build("m.param", "host"),
    lambda: trivium.check("m.onnx", target="vanilla"),
    lambda: trivium.can_run("m.onnx"),
    lambda: trivium.quantize("m.onnx", "data.npz", "q.onnx"),
]
for call in [*calls, *calls]:  # an import that failed is tried again
    try:
        call()
    except trivium.CompileError as error:
        print(error)
"""


def test_without_bindings_the_names_are_there_and_calls_say_what_to_install() -> None:
    command = [sys.executable, "-c", WITHOUT_BINDINGS + CALLS]
    lines = subprocess.check_output(command, text=True).splitlines()
    assert len(lines) == 12
    assert set(lines) == {
        "error: compiling needs torch-mlir, which is not installed: pip install 'trivium[compile]'"
    }


USES = """
from trivium.dialects.core import mlir
from trivium.dialects.core.errors import CompileError
mlir.ir.Value | None
assert not isinstance(1, mlir.ir.Value)
uses = (
    mlir.new_context,
    mlir.code_context,
    mlir.execution_engine,
    mlir.version,
    lambda: mlir.upstream("arith"),
    lambda: mlir.ir.Context.current,
    lambda: mlir.PassManager("builtin.module"),
)
for use in uses:
    try:
        use()
    except mlir.ir.MLIRError:
        print("is no error of MLIR")
    except CompileError as error:
        print(error)
"""


def test_bindings_that_are_missing_may_be_named_but_not_used() -> None:
    command = [sys.executable, "-c", WITHOUT_BINDINGS + USES]
    lines = subprocess.check_output(command, text=True).splitlines()
    assert len(lines) == 7
    assert all(line.startswith("error: compiling needs torch-mlir, which is") for line in lines)
