"""A convolutional network with a symbolic batch and image, compiled once for the CPU."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import trivium
from trivium.dialects.core.tensor import Array
from trivium.runtime.cpu.step import CpuStep
from trivium.runtime.package import Package
from trivium.runtime.session import Session

WINDOW = "dilations = array<i64: 1, 1>, pads = array<i64: {0}, {0}, {0}, {0}>, group = {1} : i64"
TEXT = """
func.func @main(%x: IMAGE) -> VECTOR attributes {
    SYMBOLS trivium.inputs = ["x"], trivium.outputs = ["y"]} {
  %w1 = "tri.weight"() {name = "w1", type = W1} : () -> W1
  %w2 = "tri.weight"() {name = "w2", type = W2} : () -> W2
  %w3 = "tri.weight"() {name = "w3", type = W3} : () -> W3
  %b = "tri.weight"() {name = "b", type = tensor<16xf32>} : () -> tensor<16xf32>
  %0 = "tri.conv"(%x, %w1, %b) {P1, strides = array<i64: 2, 2>}
      : (IMAGE, W1, tensor<16xf32>) -> NARROW
  %1 = "tri.relu"(%0) : (NARROW) -> NARROW
  %2 = "tri.conv"(%1, %w2) {P2, strides = array<i64: 1, 1>} : (NARROW, W2) -> NARROW
  %3 = "tri.conv"(%2, %w3) {P3, strides = array<i64: 1, 1>} : (NARROW, W3) -> WIDE
  %4 = "tri.tanh"(%3) : (WIDE) -> WIDE
  %5 = "tri.reduce_mean"(%4) {axes = array<i64: 2, 3>, keepdims = false} : (WIDE) -> VECTOR
  return %5 : VECTOR
}
""".replace("P1", WINDOW.format(1, 1)).replace("P2", WINDOW.format(1, 16))
TEXT = TEXT.replace("P3", WINDOW.format(0, 1))
SHAPES = {"w1": (16, 3, 3, 3), "w2": (16, 1, 3, 3), "w3": (32, 16, 1, 1), "b": (16,)}
SYMBOLS = 'trivium.symbols = {N = "1..:1", H = "8..512:64", W = "8..512:64"},'


def write(path: Path, sizes: tuple[int, int, int] | None) -> Path:
    """Write the IR for any sizes, or for some."""
    n, h, w = ("N", "H", "W") if sizes is None else sizes
    rows, columns = (
        f"({each} + 1)//2" if isinstance(each, str) else (each + 1) // 2 for each in (h, w)
    )
    types = {
        "IMAGE": spell(n, 3, h, w),
        "NARROW": spell(n, 16, rows, columns),
        "WIDE": spell(n, 32, rows, columns),
        "VECTOR": spell(n, 32),
        **{name.upper(): spell(*shape) for name, shape in SHAPES.items() if name != "b"},
        "SYMBOLS": SYMBOLS if sizes is None else "",
    }
    text = TEXT
    for name, type_ in types.items():
        text = text.replace(name, type_)
    path.write_text(text)
    random = np.random.default_rng(2)
    weights = {n: random.normal(size=s).astype(np.float32) / 3 for n, s in SHAPES.items()}
    np.savez(path.with_suffix(".weights.npz"), **weights)
    return path


def spell(*sizes: int | str) -> str:
    shape = "".join("?x" if isinstance(size, str) else f"{size}x" for size in sizes)
    names = ", ".join(f'"{size}"' if isinstance(size, str) else '""' for size in sizes)
    symbolic = any(isinstance(size, str) for size in sizes)
    return f"tensor<{shape}f32, [{names}]>" if symbolic else f"tensor<{shape}f32>"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Package:
    return trivium.build(write(tmp_path_factory.mktemp("any") / "net.mlir", None), target="cpu")


@cache
def image(n: int, h: int, w: int) -> Array:
    return np.random.default_rng(h).normal(size=(n, 3, h, w)).astype(np.float32)


def test_all_of_it_is_native_code(package: Package) -> None:
    assert [type(step) for step in package.manifest.steps] == [CpuStep]


@pytest.mark.parametrize("threads", [1, 3])
def test_images_of_any_size(package: Package, tmp_path: Path, threads: int) -> None:
    session = Session(package, threads=threads)
    for sizes in [(1, 64, 64), (2, 9, 33), (1, 8, 8), (3, 17, 40), (1, 64, 64)]:
        static = trivium.compile(write(tmp_path / "static.mlir", sizes), target="cpu")
        x = {"x": image(*sizes)}
        np.testing.assert_allclose(session.run(x)["y"], static.run(x)["y"], atol=2e-6)
