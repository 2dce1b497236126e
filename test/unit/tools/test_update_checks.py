"""`update_checks`: what it writes must be what FileCheck accepts."""

import subprocess
import sys
from pathlib import Path

import pytest
from trivium.tools import opt, update_checks

TEST = """// RUN: trivium-opt %s --canonicalize | FileCheck %s

// A constant that nobody uses goes.
// CHECK-LABEL: func.func @f
// CHECK:         something else
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = arith.constant 1 : i32
  %0 = "tri.relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "tri.add"(%0, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
"""

EXPECTED = """// RUN: trivium-opt %s --canonicalize | FileCheck %s

// A constant that nobody uses goes.
// CHECK-LABEL: func.func @f
// CHECK-SAME:    (%[[ARG0:.*]]: {{.*}})
// CHECK:         %[[V0:.*]] = "tri.relu"(%[[ARG0]]) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK:         %[[V1:.*]] = "tri.add"(%[[V0]], %[[ARG0]]) : (tensor<2xf32>, tensor<2xf32>)\
 -> tensor<2xf32>
// CHECK:         return %[[V1]] : tensor<2xf32>
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
"""


def test_writes_checks_that_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "f.mlir"
    file.write_text(TEST)
    assert update_checks.main([str(file)]) == 0
    text = file.read_text()
    assert text.startswith(EXPECTED)
    assert update_checks.main([str(file)]) == 0
    assert file.read_text() == text

    opt.main([str(file), "--canonicalize"])
    printed = capsys.readouterr().out
    check = [sys.executable, "-m", "filecheck", str(file)]
    assert subprocess.run(check, input=printed, text=True, check=False).returncode == 0


def test_needs_a_run_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "f.mlir"
    file.write_text("// RUN: true\n")
    assert update_checks.main([str(file)]) == 2
    assert "no line `// RUN: trivium-opt" in capsys.readouterr().err
