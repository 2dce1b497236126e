"""The math of a model: what `compile` is told reaches the code, the package, and a rebuilt one."""

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import numpy_helper
from trivium.compiler.driver import build
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.tensor import Array
from trivium.runtime.contents import Math
from trivium.runtime.cpu.part import CpuPart
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.tools.report import describe
from trivium.tools.reports.package_info import package_info


def described(package: Package) -> str:
    return describe(package_info("layer.trv", package.manifest))


RANDOM = np.random.default_rng(11)
X = RANDOM.standard_normal((1, 32, 12, 12), np.float32)
W = RANDOM.standard_normal((32, 32, 3, 3), np.float32)


@pytest.fixture(scope="module")
def layer() -> onnx.ModelProto:
    """Return a convolution and a sigmoid."""
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        layer (float[1, 32, 12, 12] x) => (float[1, 32, 12, 12] y) {
            c = Conv <pads = [1, 1, 1, 1]> (x, w)
            y = Sigmoid (c)
        }
    """)
    model.graph.initializer.append(numpy_helper.from_array(W, "w"))
    return model


def has_winograd(package: Package) -> bool:
    return any(
        "winograd" in op for kernel in package.manifest.part(CpuPart).kernels for op in kernel.ops
    )


def convolved() -> Array:
    """Return the convolution in f64, tap by tap."""
    x, w = np.pad(X.astype(np.float64)[0], ((0, 0), (1, 1), (1, 1))), W.astype(np.float64)
    taps = [(i, j) for i in range(3) for j in range(3)]
    parts = [np.einsum("oc,chw->ohw", w[:, :, i, j], x[:, i : i + 12, j : j + 12]) for i, j in taps]
    return sum(parts, np.zeros(()))[None]


def test_strict_has_neither_winograd_nor_approximations(layer: onnx.ModelProto) -> None:
    fast, strict = build(layer), build(layer, math="strict")
    assert has_winograd(fast)
    assert not has_winograd(strict)
    sums = convolved()
    # What f32 kernels may lose (closeness.py), times the steepest slope of the sigmoid.
    allowed = 4e-6 * np.abs(sums).max() / 4
    (y,) = Session(strict).run({"x": X}).values()
    np.testing.assert_allclose(y, 1 / (1 + np.exp(-sums)), rtol=0, atol=allowed)


def test_the_allowed_error_decides_about_tiles(layer: onnx.ModelProto) -> None:
    texts = [build(layer, winograd_error=error) for error in (0.0, 2e-6, 2e-5)]
    assert list(map(has_winograd, texts)) == [False, True, True]
    memories = [package.manifest.memory for package in texts]
    kernel = 32 * 32 * 4
    assert [memory.weight_bytes // kernel for memory in memories] == [9, 9, 9]
    # Kernels are transformed when the package is loaded.
    assert [memory.prepared_bytes // kernel for memory in memories] == [0, 16, 36]


def test_packages_keep_their_math(layer: onnx.ModelProto, tmp_path: Path) -> None:
    path = tmp_path / "layer.trv"
    first = build(layer, math="strict")
    first.save(path)
    again = build(str(path))
    assert again.manifest.math == first.manifest.math == Math("strict", 0.0)
    code = {name: bytes(data) for name, data in first.entries.items() if name.endswith(".o")}
    assert code == {n: bytes(data) for n, data in again.entries.items() if n.endswith(".o")}
    assert "math\n  strict\n" in described(again)


def test_fast_math_is_described_with_its_error(layer: onnx.ModelProto) -> None:
    text = described(build(layer, winograd_error=2e-5))
    assert "math\n  fast; by Winograd's method a layer may lose 2e-05\n" in text


def test_refuses_unknown_math(layer: onnx.ModelProto) -> None:
    with pytest.raises(CompileError, match="math is 'loose', must be one of fast, strict"):
        build(layer, math="loose")
