"""Modules with symbols, compiled once for the CPU, equal those compiled for each size."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trivium
from trivium.dialects.core.machine import LEVELS
from trivium.runtime.cpu import choose_code
from trivium.runtime.cpu.part import CpuPart
from trivium.runtime.cpu.step import CpuStep
from trivium.runtime.package import Package
from trivium.runtime.session import Session

TEXT = """
func.func @main(%x: X64, %m: X1) -> (X32, X48) attributes {
    SYMBOLS trivium.inputs = ["x", "m"], trivium.outputs = ["y", "s"]} {
  %w = "tri.weight"() {name = "w", type = tensor<64x48xf32>} : () -> tensor<64x48xf32>
  %v = "tri.weight"() {name = "v", type = tensor<48x32xf32>} : () -> tensor<48x32xf32>
  %b = "tri.weight"() {name = "b", type = tensor<48xf32>} : () -> tensor<48xf32>
  %0 = "tri.mat_mul"(%x, %w) : (X64, tensor<64x48xf32>) -> X48
  %1 = "tri.add"(%0, %b) : (X48, tensor<48xf32>) -> X48
  %2 = "tri.relu"(%1) : (X48) -> X48
  %3 = "tri.softmax"(%2) {axis = 2 : i64} : (X48) -> X48
  %4 = "tri.mul"(%3, %m) : (X48, X1) -> X48
  %5 = "tri.mat_mul"(%4, %v) : (X48, tensor<48x32xf32>) -> X32
  %6 = "tri.softmax"(%5) {axis = 2 : i64} : (X32) -> X32
  %7 = "tri.exp"(%6) : (X32) -> X32
  return %7, %3 : X32, X48
}
"""
SYMBOLS = 'trivium.symbols = {N = "1..", T = "1..512:128"},'

Size = tuple[int, int]
SIZES: list[Size] = [(1, 7), (2, 128), (1, 1), (3, 33), (1, 7), (16, 512), (2, 128), (5, 64)]


def write(folder: Path, name: str, type_of: Callable[[int], str], symbols: str) -> Path:
    """Write a file of IR, and its weights beside it."""
    text = TEXT.replace("SYMBOLS", symbols)
    for columns in (64, 48, 32, 1):
        text = text.replace(f"X{columns}", type_of(columns))
    path = folder / f"{name}.mlir"
    path.write_text(text)
    random = np.random.default_rng(1)
    shapes = {"w": (64, 48), "v": (48, 32), "b": (48,)}
    np.savez(
        folder / f"{name}.weights.npz",
        **{each: random.normal(size=shape).astype(np.float32) for each, shape in shapes.items()},
    )
    return path


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ir")
    return write(folder, "net", lambda n: f'tensor<?x?x{n}xf32, ["N", "T", ""]>', SYMBOLS)


@pytest.fixture(scope="module")
def package(path: Path) -> Package:
    return trivium.build(path, target="cpu")


def feeds(size: Size) -> dict[str, Any]:
    random = np.random.default_rng(size)
    shapes = {"x": (*size, 64), "m": (*size, 1)}
    return {n: random.normal(size=shape).astype(np.float32) for n, shape in shapes.items()}


@pytest.fixture(scope="module")
def wanted(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Size], dict[str, Any]]:
    """Return the results of the model that is compiled for one size."""
    folder = tmp_path_factory.mktemp("static")

    @cache
    def run(size: Size) -> dict[str, Any]:
        n, t = size
        path = write(folder, f"{n}x{t}", lambda c: f"tensor<{n}x{t}x{c}xf32>", "")
        return trivium.compile(path, target="cpu", threads=1).run(feeds(size))

    return run


def assert_same(session: Session, size: Size, wanted: dict[str, Any]) -> None:
    results = session.run(feeds(size))
    assert results.keys() == wanted.keys()
    for name, array in wanted.items():
        np.testing.assert_array_equal(results[name], array)


def test_all_of_it_is_native_code(package: Package) -> None:
    (step,) = package.manifest.steps
    assert isinstance(step, CpuStep)
    assert step.phases > 0


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_sizes_that_change_with_each_run(package: Package, wanted: Any, threads: int) -> None:
    session = Session(package, threads=threads)
    for size in SIZES:
        assert_same(session, size, wanted(size))


def test_sessions_of_several_threads_run_different_sizes(package: Package, wanted: Any) -> None:
    expected = {size: wanted(size) for size in SIZES}
    first = Session(package, threads=3)

    def often(number: int) -> None:
        session = first.clone()
        for i in range(40):
            size = SIZES[(number * 3 + i) % len(SIZES)]
            assert_same(session, size, expected[size])

    with ThreadPoolExecutor(4) as executor:
        list(executor.map(often, range(4)))


def test_code_for_several_machines_has_a_table_for_each(path: Path, wanted: Any) -> None:
    runnable = [m.name for m in LEVELS if choose_code.cpu_features().issuperset(m.features)]
    package = trivium.build(path, target="cpu", machine=["native", runnable[0]])
    (step,) = package.manifest.steps
    assert isinstance(step, CpuStep)
    assert len(step.tables) == len(package.manifest.part(CpuPart).machines) == 2
    assert_same(Session(package, threads=2), (3, 33), wanted((3, 33)))


def test_a_package_is_compiled_again_with_its_symbols(package: Package, wanted: Any) -> None:
    again = trivium.build(package)
    assert again.manifest.symbols == package.manifest.symbols
    assert_same(Session(again, threads=2), (5, 64), wanted((5, 64)))


def test_kernels_of_different_symbols_are_one_object(tmp_path: Path) -> None:
    """Both softmaxes work on rows of 48 numbers; how many rows is in their records."""
    text = """
func.func @main(%x: A, %z: B) -> (A, B) attributes {
    trivium.symbols = {T = "1..512:128", S = "1..512:128"},
    trivium.inputs = ["x", "z"], trivium.outputs = ["y", "w"]} {
  %0 = "tri.softmax"(%x) {axis = 1 : i64} : (A) -> A
  %1 = "tri.softmax"(%z) {axis = 1 : i64} : (B) -> B
  return %0, %1 : A, B
}
""".replace("A", 'tensor<?x48xf32, ["T", ""]>').replace("B", 'tensor<?x48xf32, ["S", ""]>')
    (tmp_path / "m.mlir").write_text(text)
    package = trivium.build(tmp_path / "m.mlir", target="cpu")
    (kernel,) = package.manifest.part(CpuPart).kernels
    assert kernel.calls == 2
    x, z = (np.random.default_rng(0).normal(size=(n, 48)).astype(np.float32) for n in (7, 30))
    results = Session(package, threads=2).run({"x": x, "z": z})
    for given, found in ((x, results["y"]), (z, results["w"])):
        exponents = np.exp(given.astype(np.float64))
        assert np.allclose(found, exponents / exponents.sum(1, keepdims=True), atol=1e-6)
