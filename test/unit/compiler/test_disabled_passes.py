"""Passes that the user leaves out: the model is the same, the IR is another."""

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
import trivium
from trivium.compiler.stages import pipeline_for
from trivium.dialects.core.errors import CompileError
from trivium.targets.options import CompileOptions
from trivium.tools.main import main

MODEL = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    net (float[2, 8] x) => (float[2, 8] y) {
        [gate] s = Sigmoid (x)
        [join] y = Mul (x, s)
    }
""")
X = np.linspace(-3, 3, 16, dtype=np.float32).reshape(2, 8)


def _ops(**options: str | list[str]) -> list[str]:
    session = trivium.compile(MODEL, **options)  # type: ignore[reportArgumentType]
    assert np.allclose(session.run({"x": X})["y"], X / (1 + np.exp(-X)), rtol=1e-5, atol=1e-6)
    kernels = session.manifest.parts[0].kernels  # type: ignore[reportAttributeAccessIssue]
    return [op for kernel in kernels for op in kernel.ops]


def test_another_ir_and_the_same_numbers() -> None:
    assert _ops() == ["tri.silu"]
    assert sorted(_ops(disable="fuse-silu")) == ["tri.mul", "tri.sigmoid"]


def test_levels_make_other_ir_and_the_same_numbers() -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[2, 8] x) => (float[2, 8] y) {
            a = Sigmoid (x)  b = Sigmoid (x)  c = Mul (x, a)  d = Identity (c)  y = Mul (d, b)
        }
    """)
    kernels: list[list[tuple[str, ...]]] = []
    for level in (0, 1, 2):
        session = trivium.compile(model, opt_level=level)
        (y,) = session.run({"x": X}).values()
        np.testing.assert_allclose(y, X / (1 + np.exp(-X)) ** 2, rtol=1e-5, atol=1e-6)
        kernels.append([kernel.ops for kernel in trivium.check(model, opt_level=level)])
    sigmoid, mul = "tri.sigmoid", "tri.mul"
    assert kernels == [
        [(sigmoid,), (sigmoid,), (mul,), (mul,)],
        [(sigmoid,), (mul,), (mul,)],
        [(sigmoid, mul, mul)],
    ]


def test_passes_of_targets_are_left_out_too() -> None:
    names = ["fuse-elementwise", "fuse-silu"]
    assert len(trivium.compile(MODEL, disable=names).manifest.parts[0].kernels) == 2  # type: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("name", ["place", "partition", "inline-parts"])
def test_what_others_need_stays(name: str) -> None:
    with pytest.raises(CompileError, match=f"pass '{name}' cannot be disabled: others need it"):
        trivium.compile(MODEL, disable=name)


def test_all_unknown_names_are_listed() -> None:
    with pytest.raises(CompileError) as caught:
        trivium.compile(MODEL, disable=["fuse-sil", "xyz"])
    assert [str(each) for each in caught.value.diagnostics] == [
        "error: pipeline has no pass 'fuse-sil' to disable, did you mean 'fuse-silu'?",
        "error: pipeline has no pass 'xyz' to disable",
    ]


def test_command_line(tmp_path: Path) -> None:
    model, package = tmp_path / "net.onnx", tmp_path / "net.trv"
    onnx.save(MODEL, model)
    command = ["compile", str(model), "-o", str(package), "--disable-pass", "fuse-silu,cse"]
    assert main(command) == 0
    kernels = trivium.load(package).manifest.parts[0].kernels  # type: ignore[reportAttributeAccessIssue]
    assert sorted(op for kernel in kernels for op in kernel.ops) == ["tri.mul", "tri.sigmoid"]


def test_every_pass_of_a_name_is_gone() -> None:
    whole = [stage.name for stage in pipeline_for("cpu", 2).stages()]
    left = pipeline_for("cpu", 2, CompileOptions(disable=["eliminate", "cse"])).stages()
    assert [stage.name for stage in left] == [n for n in whole if n not in ("eliminate", "cse")]
