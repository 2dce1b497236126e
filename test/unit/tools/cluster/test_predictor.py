"""Batches of rows through a package, without Ray: cut, padded, named, refused."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
import pytest
import trivium
from trivium.ray import Predictor
from trivium.runtime.errors import RunError

W = (np.random.default_rng(0).standard_normal((8, 3)) / 3).astype(np.float32)


def net(rows: str, body: str = "y = MatMul (x, w)") -> onnx.ModelProto:
    model = onnx.parser.parse_model(f"""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[{rows}, 8] x) => (float[{rows}, 3] y) {{ {body} }}
    """)
    model.graph.initializer.append(onnx.numpy_helper.from_array(W, "w"))
    return model


def package(folder: Path, rows: str, **options: Any) -> str:
    path = str(folder / "net.trv")
    trivium.build(net(rows), **options).save(path)
    return path


def x(rows: int) -> Any:
    return np.random.default_rng(rows).standard_normal((rows, 8)).astype(np.float32)


@pytest.mark.parametrize("rows", [0, 1, 3, 4, 11])
@pytest.mark.parametrize("size", ["4", "N"])
def test_any_number_of_rows(tmp_path: Path, size: str, rows: int) -> None:
    predict = Predictor(package(tmp_path, size))
    made = predict({"id": np.arange(rows), "x": x(rows)})
    assert list(made) == ["id", "x", "y"]
    assert np.array_equal(made["id"], np.arange(rows))
    assert made["y"].shape == (rows, 3)
    assert np.allclose(made["y"], x(rows) @ W, atol=1e-5)


@pytest.mark.parametrize("rows", [1, 5, 6, 8, 9, 13])
def test_a_range_of_rows_with_steps(tmp_path: Path, rows: int) -> None:
    predict = Predictor(package(tmp_path, "N", shapes={"N": trivium.Range(4, 8, step=2)}))
    assert np.allclose(predict({"x": x(rows)})["y"], x(rows) @ W, atol=1e-5)


def test_columns_and_outputs_are_renamed(tmp_path: Path) -> None:
    path = package(tmp_path, "4")
    predict = Predictor(path, columns={"x": "image"}, outputs={"y": "score"})
    made = predict({"image": x(2), "y": np.zeros(2)})
    assert list(made) == ["image", "y", "score"]
    assert np.allclose(made["score"], x(2) @ W, atol=1e-5)


def test_the_bytes_of_a_package(tmp_path: Path) -> None:
    data = Path(package(tmp_path, "4")).read_bytes()
    for model in (data, np.frombuffer(data, np.uint8)):
        assert np.allclose(Predictor(model)({"x": x(2)})["y"], x(2) @ W, atol=1e-5)


@pytest.mark.parametrize(
    ("options", "batch", "reason"),
    [
        ({}, {"z": x(2)}, "there is no column 'x' for input 'x', but 'z'"),
        ({}, {"x": x(2), "y": x(2)}, "there is a column 'y' already"),
        ({}, {"x": x(2).astype(np.float64)}, "float64"),
        ({}, {"x": x(2)[:, :7]}, "column 'x' has rows of shape 7, must be 8"),
        ({"columns": {"z": "x"}}, {}, "columns has 'z', must be of 'x'"),
        ({"outputs": {"x": "x"}}, {}, "outputs has 'x', must be of 'y'"),
    ],
)
def test_what_does_not_fit_is_refused(
    tmp_path: Path, options: Any, batch: Any, reason: str
) -> None:
    path = package(tmp_path, "4")
    with pytest.raises(RunError, match=reason):
        Predictor(path, **options)(batch)


def test_outputs_that_are_not_of_rows_are_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "net.trv")
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[4, 8] x) => (float[1, 8] y) { y = ReduceSum <keepdims = 1> (x, axes) }
    """)
    axes = np.array([0], np.int64)
    model.graph.initializer.append(onnx.numpy_helper.from_array(axes, "axes"))
    trivium.build(model).save(path)
    with pytest.raises(RunError, match="output 'y' has shape 1x8, must begin with 4 rows"):
        Predictor(path)
