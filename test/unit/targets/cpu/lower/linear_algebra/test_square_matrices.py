"""Determinants and inverses by kernels of the CPU, against numpy."""

import numpy as np
import onnx.parser
import pytest
import trivium

SIZES = (1, 2, 3, 5, 8, 15, 16, 17, 33)


def model(node: str, dtype: str, shape: str, result: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f"""
        <ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
        g ({dtype}[{shape}] x) => ({dtype}[{result}] y) {{ y = {node} (x) }}
    """)


def compiled(node: str, dtype: str, shape: str, result: str) -> trivium.Session:
    session = trivium.compile(model(node, dtype, shape, result))
    assert {step.kind for step in session.manifest.steps} == {"cpu"}
    return session


@pytest.mark.parametrize(("dtype", "tolerance"), [("float", 1e-3), ("double", 1e-10)])
def test_matrices_of_any_size(dtype: str, tolerance: float) -> None:
    det = compiled("Det", dtype, "B, N, N", "B")
    inverse = compiled("com.microsoft.Inverse", dtype, "B, N, N", "B, N, N")
    for size in SIZES:
        x = np.random.default_rng(size).standard_normal((4, size, size))
        x = x.astype(np.float32 if dtype == "float" else np.float64)
        exact = x.astype(np.float64)
        expected = np.linalg.det(exact)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(det.run({"x": x})["y"], expected, tolerance, tolerance * scale)
        got = inverse.run({"x": x})["y"]
        identity = np.eye(size)[None].repeat(4, 0)
        condition = np.linalg.cond(exact).max()
        np.testing.assert_allclose(got @ exact, identity, 0, tolerance * 0.1 * condition)


@pytest.mark.parametrize("size", [3, 16, 17])
def test_matrices_of_known_sizes(size: int) -> None:
    x = np.random.default_rng(1).standard_normal((2, 3, size, size)).astype(np.float32)
    shape = f"2, 3, {size}, {size}"
    det = compiled("Det", "float", shape, "2, 3").run({"x": x})["y"]
    np.testing.assert_allclose(det, np.linalg.det(x), 1e-3)
    inverse = compiled("com.microsoft.Inverse", "float", shape, shape).run({"x": x})["y"]
    np.testing.assert_allclose(inverse, np.linalg.inv(x), 1e-2, 1e-3)


def test_rows_are_swapped() -> None:
    """The first pivots are 0, so that nothing works without."""
    x = np.float32([[[0, 2, 0], [0, 0, 3], [4, 0, 0]], [[0, 1, 0], [1, 0, 0], [0, 0, 5]]])
    det = compiled("Det", "float", "B, 3, 3", "B").run({"x": x})["y"]
    assert det.tolist() == [24, -5]
    inverse = compiled("com.microsoft.Inverse", "float", "B, 3, 3", "B, 3, 3").run({"x": x})["y"]
    np.testing.assert_allclose(inverse, np.linalg.inv(x), 1e-6)


def test_singular_matrices() -> None:
    """ONNX Runtime's reference is silent; ours says NaN, and numpy refuses."""
    x = np.float32([[[1, 2], [2, 4]], [[0, 0], [0, 0]], [[1, 2], [3, 4]]])
    det = compiled("Det", "float", "B, 2, 2", "B").run({"x": x})["y"]
    np.testing.assert_allclose(det, np.linalg.det(x), 1e-6)
    inverse = compiled("com.microsoft.Inverse", "float", "B, 2, 2", "B, 2, 2").run({"x": x})["y"]
    assert np.isnan(inverse[:2]).all()
    np.testing.assert_allclose(inverse[2], np.linalg.inv(x[2]), 1e-6)


def test_a_product_of_pivots_that_leaves_the_range_meanwhile() -> None:
    x = np.diag(np.float32([1e30, 1e30, 1e-30, 1e-30]))[None]
    det = compiled("Det", "float", "B, 4, 4", "B").run({"x": x})["y"]
    np.testing.assert_allclose(det, [1], 1e-5)


def test_nan_makes_nan() -> None:
    x = np.eye(3, dtype=np.float32)[None].repeat(2, 0)
    x[0, 1, 1] = np.nan
    det = compiled("Det", "float", "B, 3, 3", "B").run({"x": x})["y"]
    assert np.isnan(det[0])
    assert det[1] == 1
