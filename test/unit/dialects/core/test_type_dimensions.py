"""A dimension of types that a plugin adds, with a pass that inserts casts where it differs."""

import subprocess
import sys
from pathlib import Path

import pytest

PLUGIN = '''
from trivium.dialects import tri
from trivium.dialects.core.errors import Invalid
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.module import Module, direct_ops
from trivium.dialects.core.type_dimensions import TypeDimension, dimensions_of, with_dimension
from trivium.passes.core import Pass


class Bank(TypeDimension):
    """The bank of a memory that a tensor is in."""

    name = "bank"

    @classmethod
    def check(cls, tensor, value):
        if value not in ("even", "odd"):
            raise Invalid(f"is in bank '{value}', must be in even or odd")


class AssignBanks(Pass):
    """Compute sums of what is in the odd bank: move operands that are not, once for each value.

    %y = tri.add %x, %x   =>   %c = tri.transpose %x; %y = tri.add %c, %c
    """

    def run(self, module: Module) -> None:
        with module.operation.context:
            moved = {}
            for op in direct_ops(module.main_block):
                if not isinstance(op, tri.Add):
                    continue
                for index, value in enumerate(list(op.operation.operands)):
                    if dimensions_of(value.type).get("bank") == "odd":
                        continue
                    if value not in moved:
                        with ir.InsertionPoint(op.operation):
                            odd = with_dimension(value.type, "bank", "odd")
                            axes = {"permutation": (0, 1)}
                            cast = tri.Transpose.create([value], [odd], axes, loc=op.location)
                            moved[value] = cast.y
                    op.operation.operands[index] = moved[value]
                y = op.y
                y.set_type(with_dimension(y.type, "bank", "odd"))
                after = with_dimension(y.type, "bank", None)
                assert "bank" not in str(after)
'''

IR = """
func.func @main(%x: tensor<2x3xf32>, %z: tensor<3x2xf32, {bank = "odd", order = [1, 0]}>)
    -> (tensor<2x3xf32>, tensor<3x2xf32>) {
  %0 = "tri.add"(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "tri.add"(%0, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = "tri.relu"(%1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = "tri.transpose"(%z) {permutation = array<i64: 0, 1>}
      : (tensor<3x2xf32, {bank = "odd", order = [1, 0]}>) -> tensor<3x2xf32>
  return %2, %3 : tensor<2x3xf32>, tensor<3x2xf32>
}
"""

ODD = 'tensor<2x3xf32, {bank = "odd"}>'


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    file = tmp_path / "banks.py"
    file.write_text(PLUGIN)
    return file


def opt(text: str, *flags: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "trivium.tools.opt", "-", *flags]
    return subprocess.run(command, input=text, capture_output=True, text=True)


def test_a_pass_of_the_plugin_inserts_casts_of_the_dimension_once(plugin: Path) -> None:
    made = opt(IR, "--plugin", str(plugin), "--assign-banks")
    assert made.returncode == 0, made.stderr
    assert made.stdout.count('"tri.transpose"') == 2
    assert made.stdout.count(f"-> {ODD}") == 3
    assert '{bank = "odd", order = [1, 0]}' in made.stdout
    again = opt(made.stdout, "--plugin", str(plugin), "--assign-banks")
    assert again.stdout == made.stdout


def test_types_with_the_dimension_are_refused_without_the_plugin() -> None:
    made = opt(IR)
    assert made.returncode == 1
    assert "has key 'bank', must have some of order, sizes" in made.stderr


@pytest.mark.parametrize(
    ("encoding", "fault"),
    [
        ('{bank = "third"}', "is in bank 'third', must be in even or odd"),
        ("{bank = 1 : i64}", "has 1 : i64 for 'bank', must have a string"),
        ('{bank = "odd", side = "left"}', "must have some of order, sizes, bank"),
        ('{bank = "odd", order = [0, 1]}', "is in row-major order, which must be left out"),
        ("{sizes = []}", "has only the key 'sizes', which must be left out"),
    ],
)
def test_values_of_the_dimension_are_checked(plugin: Path, encoding: str, fault: str) -> None:
    text = IR.replace('{bank = "odd", order = [1, 0]}', encoding)
    made = opt(text, "--plugin", str(plugin))
    assert made.returncode == 1
    assert fault in made.stderr


SYMBOLIC = """
func.func @main(%x: tensor<?x3xf32, ["N", ""]>) -> tensor<?x3xf32, ["N", ""]>
    attributes {trivium.symbols = {N = "1.."}} {
  %0 = "tri.add"(%x, %x)
      : (tensor<?x3xf32, ["N", ""]>, tensor<?x3xf32, ["N", ""]>) -> tensor<?x3xf32, ["N", ""]>
  %1 = "tri.relu"(%0) : (tensor<?x3xf32, ["N", ""]>) -> tensor<?x3xf32, ["N", ""]>
  return %1 : tensor<?x3xf32, ["N", ""]>
}
"""


def test_sizes_that_depend_on_symbols_stay_beside_the_dimension(plugin: Path) -> None:
    made = opt(SYMBOLIC, "--plugin", str(plugin), "--assign-banks")
    assert made.returncode == 0, made.stderr
    assert made.stdout.count('{bank = "odd", sizes = ["N", ""]}') >= 3


def test_a_name_is_taken_once(plugin: Path) -> None:
    source = PLUGIN.replace("class Bank", "class Shore")
    other = plugin.with_name("shores.py")
    other.write_text(source.partition("class AssignBanks")[0])
    made = opt(IR, "--plugin", str(plugin), "--plugin", str(other))
    assert made.returncode == 1
    assert "there is a dimension of types called 'bank' already" in made.stderr
