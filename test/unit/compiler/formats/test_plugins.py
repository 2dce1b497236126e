"""Plugins of another distribution: a format, an op with a pass, and a rule, in fresh processes."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
import trivium
from trivium.compiler.format import FORMATS, Format
from trivium.compiler.source import formats
from trivium.dialects.core.discovery import load_plugins

FORMAT = '''
from pathlib import Path

from trivium.compiler.format import Format
from trivium.compiler.frontends.core.main_function import MainFunction
from trivium.dialects import tri
from trivium.dialects.core.location import node_location
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.tensor import Tensor


class Chain(Format):
    """Chains of functions of one input."""

    name = "chain"
    suffixes = (".chain",)

    def read(self, source, options):
        with ir.Location.unknown():
            main = MainFunction()
            value = main.add_input("x", Tensor((3,), "f32"), node_location("x", ["x"]))
            with main.body():
                for word in Path(source).read_text().split():
                    with node_location(word, [word]):
                        value = {"relu": tri.Relu, "neg": tri.Neg}[word].build(value).y
            return main.finish([("y", value)])

    def write(self, module, path):
        Path(path).write_text("relu neg")
'''

RULES = '''
from trivium.compiler.frontends.onnx.registry import Value, onnx_op
from trivium.dialects import tri
from trivium.dialects.core.module import Module
from trivium.passes.core import Pass
from trivium.passes.rewriting import Pattern, Rewriter, rewrite


@onnx_op("Thrice", since=1, domain="my.ops")
def thrice(x: Value) -> tri.Add:
    return tri.Add.build(tri.Add.build(x, x).y, x)


class DropDoubleNegation(Pass):
    """Replace the negation of a negation by its operand."""

    def run(self, module: Module) -> None:
        rewrite(module, _Drop())


class _Drop(Pattern):
    root = tri.Neg

    def rewrite(self, op: tri.Neg, rewriter: Rewriter) -> None:
        rewriter.replace(op, [rewriter.producer(op.x, tri.Neg).x])
'''

THRICE = """
    <ir_version: 10, opset_import: ["" : 21, "my.ops" : 1]>
    net (float[2] x) => (float[2] y) { y = my.ops.Thrice (x) }
"""

NEGATIONS = """
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "tri.neg"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "tri.neg"(%0) : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
"""


def run(folder: Path, tool: str, *arguments: str, ok: bool = True) -> str:
    """Run a command in a folder, which is on the path of modules, and return its output."""
    command = [sys.executable, "-m", f"trivium.tools.{tool}", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == ok, done.stderr
    return done.stdout if ok else done.stderr


def install(folder: Path, **modules: str) -> None:
    """Install a distribution whose modules are plugins."""
    info = folder / "my_plugins-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: my-plugins\nVersion: 1.0\n")
    points = "".join(f"{name} = {name}\n" for name in modules)
    (info / "entry_points.txt").write_text(f"[trivium.plugins]\n{points}")
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)


def test_an_installed_format_is_listed_read_run_and_written(tmp_path: Path) -> None:
    install(tmp_path, chain_format=FORMAT)
    assert "chain     .chain         read write  Chains of functions" in run(
        tmp_path, "main", "--list-formats"
    )
    assert ".chain" in run(tmp_path, "opt", "--list-formats")
    (tmp_path / "net.chain").write_text("relu neg")
    np.save(tmp_path / "x.npy", np.array([-1, 0, 2], np.float32))
    run(tmp_path, "main", "compile", "net.chain", "-o", "net.trv")
    run(tmp_path, "main", "run", "net.trv", "--input", "x=x.npy", "--output", "y=y.npy")
    assert np.load(tmp_path / "y.npy").tolist() == [0, 0, -2]
    run(tmp_path, "main", "run", "net.chain", "--input", "x=x.npy")
    assert "tri.relu" in run(tmp_path, "opt", "net.chain")
    run(tmp_path, "main", "export", "net.chain", "-o", "net.onnx")
    assert [node.op_type for node in onnx.load(tmp_path / "net.onnx").graph.node] == ["Relu", "Neg"]
    run(tmp_path, "main", "export", "net.onnx", "-o", "again.chain")
    assert (tmp_path / "again.chain").read_text() == "relu neg"


def test_installed_rules_and_passes_work_on_the_command_line(tmp_path: Path) -> None:
    install(tmp_path, my_rules=RULES)
    onnx.save(onnx.parser.parse_model(THRICE), tmp_path / "net.onnx")
    (tmp_path / "net.mlir").write_text(NEGATIONS)
    assert "tri.add" in run(tmp_path, "opt", "net.onnx")
    run(tmp_path, "main", "compile", "net.onnx", "-o", "net.trv")
    assert "--drop-double-negation" in run(tmp_path, "opt", "--list-passes")
    assert "return %arg0" in run(tmp_path, "opt", "net.mlir", "--drop-double-negation")


def test_named_plugins_work_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "rules.py").write_text(RULES)
    onnx.save(onnx.parser.parse_model(THRICE), tmp_path / "net.onnx")
    (tmp_path / "net.mlir").write_text(NEGATIONS)
    assert "my.ops::Thrice" in run(tmp_path, "main", "check", "net.onnx", ok=False)
    for plugin in ("rules", "rules.py"):
        run(tmp_path, "main", "check", "net.onnx", "--plugin", plugin)
        run(tmp_path, "main", "export", "net.onnx", "--plugin", plugin, "-o", "net.param")
        flags = ("net.mlir", "--plugin", plugin, "--drop-double-negation")
        assert "return %arg0" in run(tmp_path, "opt", *flags)


def test_a_plugin_that_cannot_be_imported_is_named() -> None:
    with pytest.raises(trivium.CompileError, match="plugin 'no_such_plugin' cannot"):
        load_plugins(["no_such_plugin"])
    with pytest.raises(trivium.CompileError, match="cannot be imported: there is no"):
        trivium.compile("net.onnx", plugins=["nowhere.py"])


def test_two_formats_of_one_name_are_refused() -> None:
    assert "onnx" in formats()
    with pytest.raises(TypeError, match="format onnx is defined twice: in"):
        type("Again", (Format,), {"name": "onnx"})


def test_a_model_of_two_formats_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other(Format):
        suffixes = (".onnx",)

        def accepts(self, source: object) -> bool:
            return source == "net.onnx"

    monkeypatch.setitem(FORMATS, "other", Other())
    with pytest.raises(trivium.CompileError, match=r"'net\.onnx' is of several formats: "):
        trivium.compile("net.onnx")


def test_a_format_that_is_only_read_is_not_written(tmp_path: Path) -> None:
    from trivium.compiler.export import export

    onnx.save(onnx.parser.parse_model(THRICE), tmp_path / "net.onnx")
    with pytest.raises(trivium.CompileError, match="no format is called 'torch', there are: "):
        export(tmp_path / "net.onnx", tmp_path / "net.pt", format="torch")
