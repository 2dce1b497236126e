"""Modules with symbols, compiled once for numpy, equal their reference at every size."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trivium
from trivium.compiler.ir_files import load_ir
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context
from trivium.runtime import Package, RunError, Session
from trivium.runtime.contents import Symbol
from trivium.test.unit.runtime.clones import use_clones

IR = """
func.func @main(
    %x: tensor<?x?x8xf32, ["N", "16*T_16", ""]>, %m: tensor<?x?xf32, ["N", "16*T_16"]>)
    -> (tensor<?x4xf32, ["16*N*T_16", ""]>, tensor<?x8x?xf32, ["N", "", "8*T_16"]>,
        tensor<?x?xf32, ["N", "16*T_16"]>)
    attributes {
      trivium.inputs = ["x", "m"], trivium.outputs = ["y", "z", "m_again"],
      trivium.symbols = {N = "1..", T = "16..512:128/16", K = "3..3"},
      trivium.checks = [{expression = "5 - N", relation = ">=", node = "Add_9",
                         message = "'tri.add' op takes at most 5"}]} {
  %w = "tri.constant"() {value = dense<0.5> : tensor<8x4xf32>} : () -> tensor<8x4xf32>
  %0 = "tri.mat_mul"(%x, %w) {operandSegmentSizes = array<i32: 1, 1, 0>}
      : (tensor<?x?x8xf32, ["N", "16*T_16", ""]>, tensor<8x4xf32>)
      -> tensor<?x?x4xf32, ["N", "16*T_16", ""]>
  %1 = "tri.reshape"(%0) {shape = ["16*N*T_16", "4"]}
      : (tensor<?x?x4xf32, ["N", "16*T_16", ""]>) -> tensor<?x4xf32, ["16*N*T_16", ""]>
  %2 = "tri.tanh"(%1) : (tensor<?x4xf32, ["16*N*T_16", ""]>) -> tensor<?x4xf32, ["16*N*T_16", ""]>
  %3 = "tri.exp"(%m) : (tensor<?x?xf32, ["N", "16*T_16"]>) -> tensor<?x?xf32, ["N", "16*T_16"]>
  %4 = "tri.reshape"(%3) {shape = ["N", "16*T_16", "1"]}
      : (tensor<?x?xf32, ["N", "16*T_16"]>) -> tensor<?x?x1xf32, ["N", "16*T_16", ""]>
  %5 = "tri.mul"(%x, %4)
      : (tensor<?x?x8xf32, ["N", "16*T_16", ""]>, tensor<?x?x1xf32, ["N", "16*T_16", ""]>)
      -> tensor<?x?x8xf32, ["N", "16*T_16", ""]>
  %6 = "tri.transpose"(%5) {permutation = array<i64: 0, 2, 1>}
      : (tensor<?x?x8xf32, ["N", "16*T_16", ""]>) -> tensor<?x8x?xf32, ["N", "", "16*T_16"]>
  %7 = "tri.slice"(%6) {
      starts = ["0", "0", "8*T_16"], sizes = ["N", "8", "8*T_16"], steps = array<i64: 1, 1, 1>}
      : (tensor<?x8x?xf32, ["N", "", "16*T_16"]>) -> tensor<?x8x?xf32, ["N", "", "8*T_16"]>
  return %2, %7, %m
      : tensor<?x4xf32, ["16*N*T_16", ""]>, tensor<?x8x?xf32, ["N", "", "8*T_16"]>,
        tensor<?x?xf32, ["N", "16*T_16"]>
}
"""

SIZES = [(2, 48), (1, 16), (5, 512), (2, 48), (3, 32), (1, 16), (4, 160)]


def feeds(n: int, t: int) -> dict[str, Any]:
    random = np.random.default_rng(n * 1000 + t)
    x, m = random.standard_normal((n, t, 8)), random.standard_normal((n, t))
    return {"x": x.astype(np.float32), "m": m.astype(np.float32)}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ir") / "model.mlir"
    path.write_text(IR)
    return path


@pytest.fixture(scope="module")
def wanted(path: Path) -> dict[tuple[int, int], Any]:
    with new_context():
        module = load_ir(path)
        return {size: run(module, list(feeds(*size).values())) for size in SIZES}


@pytest.fixture(scope="module")
def session(path: Path) -> Session:
    return trivium.compile(path, target="host")


def assert_equal(session: Session, size: tuple[int, int], wanted: Any) -> None:
    results = session.run(feeds(*size))
    for array, reference in zip(results.values(), wanted[size], strict=True):
        np.testing.assert_array_equal(array, reference)


def test_new_repeated_and_alternating_sizes_equal_the_reference(session: Session, wanted: Any):
    for size in SIZES * 3:
        assert_equal(session, size, wanted)


def test_a_saved_package_runs_every_size(session: Session, wanted: Any, tmp_path: Path):
    session.save(tmp_path / "p.trv")
    with trivium.load(tmp_path / "p.trv") as again:
        for size in SIZES:
            assert_equal(again, size, wanted)


def test_clones_run_different_sizes_in_several_threads(session: Session, wanted: Any):

    def use(twin: Session, start: int, i: int) -> None:
        assert_equal(twin, SIZES[(start + i) % len(SIZES)], wanted)

    use_clones(session, 30, use)


def test_symbols_and_shapes_are_those_of_the_module(session: Session):
    assert [port.shape for port in session.inputs] == [("N", "T", 8), ("N", "T")]
    known = session.symbols
    assert list(known) == ["N", "T"]
    assert known["T"] == Symbol("T", 16, 512, 128, 16)
    assert known["N"].high is None
    assert session.shapes(N=2, T=32) == {"y": (64, 4), "z": (2, 8, 16), "m_again": (2, 32)}


def test_a_check_of_the_module_is_made_before_a_run(session: Session):
    with pytest.raises(RunError) as caught:
        session.run(feeds(6, 16))
    assert str(caught.value) == "Add_9: error: 'tri.add' op takes at most 5 (N is 6, T is 16)"


def test_memory_is_planned_at_likely_sizes_and_reused(session: Session):
    """At the likely sizes, values that live one after another share memory."""
    memory = session.manifest.memory
    assert memory.arena_bytes <= 1.2 * memory.arena_lower_bound
    assert all(region.above == () for region in session.manifest.regions[:1])


def test_a_package_without_symbols_has_no_trace_of_them(tmp_path: Path):
    text = """
    func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %0 = "tri.exp"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
      %1 = "tri.tanh"(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
      return %1 : tensor<2x3xf32>
    }"""
    (tmp_path / "static.mlir").write_text(text)
    package: Package = trivium.build(tmp_path / "static.mlir", target="host")
    written = package.manifest.to_json()
    for word in ('"symbols"', '"checks"', '"regions"', '"sizes"', '"version":9'):
        assert word not in written
